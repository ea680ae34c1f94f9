import { type Pod, isReady } from '../kubelet/pod.ts'
import { countAvailable } from './availability.ts'
import { type Controller, type ControllerPorts, deleteGracefully, podPath } from './controller.ts'
import { matters } from './pod-change.ts'
import { createQueue, keyOf, splitKey } from './queue.ts'
import { currentRevision, truncateRevisions } from './revisions.ts'
import { type WorkloadObject, controllerOf, isActive, podOf, podsOf } from './workload.ts'
import { writeStatus } from './write-status.ts'

const BY = 'statefulset-controller'
const RESOURCE = 'statefulsets.apps'
const REVISION = 'controller-revision-hash'

/**
 * Creates missing pods from the newest template, and removes pods beyond the number of replicas. It replaces no pod for a new template, as
 * with OnDelete. RollingUpdate is not simulated.
 */
export function createStatefulSetController(ports: ControllerPorts): Controller {
  const { store, apiServer } = ports
  // The status follows a write after this delay: the answer to the PATCH of a template has the old update revision.
  const queue = createQueue(ports, [2, 15], sync)

  function sync(key: string): void {
    const [namespace, name] = splitKey(key)
    const set = store.get(RESOURCE, namespace, name) as WorkloadObject | undefined
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return
    const revision = currentRevision(store, set, 'controller.kubernetes.io/hash', BY)
    const updateRevision = revision.metadata.name
    const replicas = set.spec.replicas ?? 1
    const from = set.spec.ordinals?.start ?? 0
    const pods = podsOf(store, set)
    const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]))
    const ordered = set.spec.podManagementPolicy !== 'Parallel'

    for (let ordinal = from; ordinal < from + replicas; ordinal++) {
      const pod = byName.get(`${name}-${ordinal}`)
      if (pod === undefined) create(set, ordinal, updateRevision)
      else if (!isActive(pod) && pod.metadata.deletionTimestamp === undefined) {
        // A Failed or Succeeded pod makes room for another pod.
        deleteGracefully(apiServer, podPath(namespace, pod.metadata.name), BY)
      }
      if (ordered && (pod === undefined || !isReady(pod))) break
    }
    for (const pod of pods.filter((one) => ordinalOf(one) >= from + replicas && isActive(one))) {
      deleteGracefully(apiServer, podPath(namespace, pod.metadata.name), BY)
    }
    const current = (set.status?.['currentRevision'] as string | undefined) ?? updateRevision
    truncateRevisions(store, set, ({ metadata }) => isLive(metadata.name, [updateRevision, current], pods), BY)
    const readyPods = pods.filter((pod) => isActive(pod) && isReady(pod))
    const ready = readyPods.length
    const available = countAvailable(set, readyPods, ports.clock, () => queue.add(key))
    const created = pods.filter((pod) => pod.status !== undefined && ordinalOf(pod) < from + replicas)
    const active = created.filter((pod) => isActive(pod))
    const updated = active.filter((pod) => pod.metadata.labels?.[REVISION] === updateRevision).length
    const currentReplicas = active.filter((pod) => pod.metadata.labels?.[REVISION] === current).length
    writeStatus(
      store,
      RESOURCE,
      set,
      {
        observedGeneration: set.metadata.generation ?? 0,
        replicas: created.length,
        ...(ready === 0 ? {} : { readyReplicas: ready }),
        availableReplicas: available,
        ...(currentReplicas === 0 ? {} : { currentReplicas }),
        ...(updated === 0 ? {} : { updatedReplicas: updated }),
        currentRevision: current,
        updateRevision,
        collisionCount: 0,
      },
      BY,
    )
  }

  function create(set: WorkloadObject, ordinal: number, revision: string): void {
    const name = `${set.metadata.name}-${ordinal}`
    const namespace = set.metadata.namespace ?? 'default'
    // A pod of this name keeps the place, even if it is going away or belongs to another owner.
    if (store.get('pods', namespace, name) !== undefined) return
    const labels = {
      [REVISION]: revision,
      'statefulset.kubernetes.io/pod-name': name,
      'apps.kubernetes.io/pod-index': String(ordinal),
    }
    const pod = podOf(set, name, labels)
    const spec = { ...pod.spec, hostname: name, ...(set.spec.serviceName ? { subdomain: set.spec.serviceName } : {}) }
    store.create('pods', { ...pod, spec }, BY)
  }

  return {
    onWrite(resource, { before, after }) {
      if (resource === RESOURCE) queue.add(keyOf((after ?? before)!))
      if (resource !== 'pods' || !matters(before as Pod | undefined, after as Pod | undefined)) return
      const owner = controllerOf(after ?? before)
      if (owner?.kind === 'StatefulSet') {
        queue.add(`${(after ?? before)!.metadata.namespace ?? 'default'}/${owner.name}`)
      }
    },
  }
}

function ordinalOf({ metadata }: Pod): number {
  return Number(metadata.name.slice(metadata.name.lastIndexOf('-') + 1))
}

function isLive(revision: string, held: string[], pods: Pod[]): boolean {
  return held.includes(revision) || pods.some((pod) => pod.metadata.labels?.[REVISION] === revision)
}
