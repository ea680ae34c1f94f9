import type { Pod } from '../kubelet/pod.ts'
import type { Controller, ControllerPorts } from './controller.ts'
import { nodeOf } from './daemon-set.ts'
import { createQueue, keyOf, splitKey } from './queue.ts'

const BY = 'scheduler'

/** Binds a pod to the node with the fewest pods. The pod of a DaemonSet goes to its own node. */
export function createScheduler(ports: ControllerPorts): Controller {
  const { store } = ports
  const counts = new Map<string, number>()
  const queue = createQueue(ports, [3, 20], bind)

  function bind(key: string): void {
    const [namespace, name] = splitKey(key)
    const pod = store.get('pods', namespace, name) as Pod | undefined
    if (pod === undefined || pod.spec.nodeName !== undefined || pod.metadata.deletionTimestamp !== undefined) return
    const nodeName = nodeOf(pod) ?? emptiest()
    if (nodeName === undefined) return
    store.update('pods', namespace, name, (now) => ({ ...now, spec: { ...(now as Pod).spec, nodeName } }), BY)
  }

  function emptiest(): string | undefined {
    let best: string | undefined
    for (const { metadata } of store.list('nodes')) {
      if (best === undefined || (counts.get(metadata.name) ?? 0) < (counts.get(best) ?? 0)) best = metadata.name
    }
    return best
  }

  return {
    onWrite(resource, { before, after }) {
      if (resource !== 'pods') return
      const was = (before as Pod | undefined)?.spec.nodeName
      const is = (after as Pod | undefined)?.spec.nodeName
      if (was !== is) {
        if (was !== undefined) counts.set(was, (counts.get(was) ?? 0) - 1)
        if (is !== undefined) counts.set(is, (counts.get(is) ?? 0) + 1)
      }
      if (before === undefined && after !== undefined && is === undefined) queue.add(keyOf(after))
    },
  }
}
