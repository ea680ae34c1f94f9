import type { KubeObject } from '../api-server/server.ts'
import { type Pod, isReady } from '../kubelet/pod.ts'
import { countAvailable } from './availability.ts'
import { type Controller, type ControllerPorts, deleteGracefully, podPath } from './controller.ts'
import { matters } from './pod-change.ts'
import { createQueue, keyOf, splitKey } from './queue.ts'
import { currentRevision, truncateRevisions } from './revisions.ts'
import { type WorkloadObject, controllerOf, isActive, nameSuffix, podOf, podsOf } from './workload.ts'
import { writeStatus } from './write-status.ts'

const BY = 'daemonset-controller'
const RESOURCE = 'daemonsets.apps'
const REVISION = 'controller-revision-hash'

/** Keeps one pod on each node, from the newest template. As with OnDelete, it replaces no pod for a new template. */
export function createDaemonSetController(ports: ControllerPorts): Controller {
  const { store, apiServer, random } = ports
  const queue = createQueue(ports, [2, 15], sync)

  function sync(key: string): void {
    const [namespace, name] = splitKey(key)
    const set = store.get(RESOURCE, namespace, name) as WorkloadObject | undefined
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return
    const revision = currentRevision(store, set, REVISION, BY)
    const hash = revision.metadata.labels![REVISION]!
    const pods = podsOf(store, set)
    const nodes = store.list('nodes')
    for (const node of nodes) {
      const here = pods.filter((pod) => nodeOf(pod) === node.metadata.name)
      for (const pod of here.filter((one) => !isActive(one) && one.metadata.deletionTimestamp === undefined)) {
        deleteGracefully(apiServer, podPath(namespace, pod.metadata.name), BY)
      }
      // A pod that is going away still has the place on the node.
      if (here.length === 0) create(set, node, hash)
    }
    truncateRevisions(
      store,
      set,
      ({ metadata }) =>
        metadata.name === revision.metadata.name || pods.some((pod) => labelOf(pod) === metadata.labels?.[REVISION]),
      BY,
    )
    const active = pods.filter((pod) => isActive(pod) && pod.spec.nodeName !== undefined)
    const readyPods = active.filter(isReady)
    const ready = readyPods.length
    const available = countAvailable(set, readyPods, ports.clock, () => queue.add(key))
    const updated = active.filter((pod) => labelOf(pod) === hash).length
    writeStatus(
      store,
      RESOURCE,
      set,
      {
        currentNumberScheduled: active.length,
        numberMisscheduled: 0,
        desiredNumberScheduled: nodes.length,
        numberReady: ready,
        observedGeneration: set.metadata.generation ?? 0,
        ...(updated === 0 ? {} : { updatedNumberScheduled: updated }),
        ...(available === 0 ? {} : { numberAvailable: available }),
        ...(available === nodes.length ? {} : { numberUnavailable: nodes.length - available }),
      },
      BY,
    )
  }

  function create(set: WorkloadObject, node: KubeObject, hash: string): void {
    const name = `${set.metadata.name}-${nameSuffix(() => random.next())}`
    const pod = podOf(set, name, { [REVISION]: hash, 'pod-template-generation': String(set.metadata.generation ?? 1) })
    const field = { key: 'metadata.name', operator: 'In', values: [node.metadata.name] }
    const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields: [field] }] } }
    store.create('pods', { ...pod, spec: { ...pod.spec, affinity: { nodeAffinity } } }, BY)
  }

  return {
    onWrite(resource, { before, after, verb }) {
      if (resource === RESOURCE) queue.add(keyOf((after ?? before)!))
      if (resource === 'nodes' && verb !== 'update') {
        for (const set of store.list(RESOURCE)) queue.add(keyOf(set))
      }
      if (resource !== 'pods' || !matters(before as Pod | undefined, after as Pod | undefined)) return
      const owner = controllerOf(after ?? before)
      if (owner?.kind === 'DaemonSet') {
        queue.add(`${(after ?? before)!.metadata.namespace ?? 'default'}/${owner.name}`)
      }
    },
  }
}

/** Returns the node of a pod. Before the binding, the affinity from the DaemonSet names the node. */
export function nodeOf(pod: KubeObject): string | undefined {
  const spec = pod['spec'] as {
    nodeName?: string
    affinity?: {
      nodeAffinity?: {
        requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: { matchFields?: { values?: string[] }[] }[] }
      }
    }
  }
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return spec.nodeName ?? terms?.[0]?.matchFields?.[0]?.values?.[0]
}

function labelOf(pod: KubeObject): string | undefined {
  return pod.metadata.labels?.[REVISION]
}
