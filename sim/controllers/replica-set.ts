import { type Pod, isReady } from '../kubelet/pod.ts'
import { countAvailable } from './availability.ts'
import { type Controller, type ControllerPorts, deleteGracefully, podPath } from './controller.ts'
import { matters } from './pod-change.ts'
import { createQueue, keyOf, splitKey } from './queue.ts'
import { type WorkloadObject, controllerOf, isActive, nameSuffix, podOf, podsOf } from './workload.ts'
import { writeStatus } from './write-status.ts'

const BY = 'replicaset-controller'
const RESOURCE = 'replicasets.apps'

/** Keeps the number of pods of the template. It ignores later changes to the images of the pods. */
export function createReplicaSetController(ports: ControllerPorts): Controller {
  const { store, apiServer, random } = ports
  const queue = createQueue(ports, [2, 15], sync)

  function sync(key: string): void {
    const [namespace, name] = splitKey(key)
    const set = store.get(RESOURCE, namespace, name) as WorkloadObject | undefined
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return
    const active = podsOf(store, set).filter(isActive)
    const replicas = set.spec.replicas ?? 1
    for (let missing = replicas - active.length; missing > 0; missing--) {
      store.create('pods', podOf(set, `${name}-${nameSuffix(() => random.next())}`, {}), BY)
    }
    // Pods that are not Ready are deleted first.
    const going = [...active]
      .sort((a, b) => Number(isReady(a)) - Number(isReady(b)))
      .slice(0, Math.max(active.length - replicas, 0))
    for (const pod of going) deleteGracefully(apiServer, podPath(namespace, pod.metadata.name), BY)
    const readyPods = active.filter(isReady)
    const ready = readyPods.length
    const available = countAvailable(set, readyPods, ports.clock, () => queue.add(key))
    writeStatus(
      store,
      RESOURCE,
      set,
      {
        replicas: active.length,
        ...(active.length === 0 ? {} : { fullyLabeledReplicas: active.length }),
        ...(ready === 0 ? {} : { readyReplicas: ready }),
        ...(available === 0 ? {} : { availableReplicas: available }),
        observedGeneration: set.metadata.generation ?? 0,
      },
      BY,
    )
  }

  return {
    onWrite(resource, { before, after }) {
      if (resource === RESOURCE) queue.add(keyOf((after ?? before)!))
      if (resource !== 'pods' || !matters(before as Pod | undefined, after as Pod | undefined)) return
      const owner = controllerOf(after ?? before)
      if (owner?.kind === 'ReplicaSet') {
        queue.add(`${(after ?? before)!.metadata.namespace ?? 'default'}/${owner.name}`)
      }
    },
  }
}
