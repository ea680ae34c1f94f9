import type { Controller, ControllerPorts } from './controller.ts'
import { createQueue, keyOf, splitKey } from './queue.ts'
import { type WorkloadObject, controllerOf, ownerReference, templateHash } from './workload.ts'
import { writeStatus } from './write-status.ts'

const BY = 'deployment-controller'
const RESOURCE = 'deployments.apps'
const REPLICA_SETS = 'replicasets.apps'
const HASH = 'pod-template-hash'

/** Keeps one ReplicaSet for each template. A new template gets a new ReplicaSet at once; rollouts are not simulated. */
export function createDeploymentController(ports: ControllerPorts): Controller {
  const { store } = ports
  const queue = createQueue(ports, [2, 15], sync)

  function sync(key: string): void {
    const [namespace, name] = splitKey(key)
    const deployment = store.get(RESOURCE, namespace, name) as WorkloadObject | undefined
    if (deployment === undefined || deployment.metadata.deletionTimestamp !== undefined) return
    const hash = templateHash(deployment.spec.template)
    const all = store.list(REPLICA_SETS, namespace) as WorkloadObject[]
    const owned = all.filter((one) => controllerOf(one)?.uid === deployment.metadata.uid)
    const replicas = deployment.spec.replicas ?? 1
    const newest = owned.find(({ metadata }) => metadata.labels?.[HASH] === hash)
    if (newest === undefined && deployment.spec['paused'] !== true) create(deployment, hash)
    for (const set of owned) {
      const wanted = set === newest ? replicas : newest === undefined ? set.spec.replicas : 0
      const { minReadySeconds } = deployment.spec
      if (set.spec.replicas === wanted && set.spec.minReadySeconds === minReadySeconds) continue
      store.update(
        REPLICA_SETS,
        namespace,
        set.metadata.name,
        (now) => ({ ...now, spec: { ...(now as WorkloadObject).spec, replicas: wanted, minReadySeconds } }),
        BY,
      )
    }
    const count = (sets: (WorkloadObject | undefined)[], field: string): number =>
      sets.reduce((sum, set) => sum + Number(set?.status?.[field] ?? 0), 0)
    const ready = count(owned, 'readyReplicas')
    const available = count(owned, 'availableReplicas')
    writeStatus(
      store,
      RESOURCE,
      deployment,
      {
        observedGeneration: deployment.metadata.generation ?? 0,
        replicas: count(owned, 'replicas'),
        updatedReplicas: count([newest], 'replicas'),
        ...(ready === 0 ? {} : { readyReplicas: ready }),
        ...(available === 0 ? {} : { availableReplicas: available }),
      },
      BY,
    )
  }

  function create(deployment: WorkloadObject, hash: string): void {
    const { template, selector, replicas, minReadySeconds } = deployment.spec
    const labels = { ...template.metadata?.labels, [HASH]: hash }
    store.create(
      REPLICA_SETS,
      {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        metadata: {
          name: `${deployment.metadata.name}-${hash}`,
          namespace: deployment.metadata.namespace ?? 'default',
          labels,
          ownerReferences: [ownerReference(deployment)],
        },
        spec: {
          replicas: replicas ?? 1,
          ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
          selector: { matchLabels: { ...selector.matchLabels, [HASH]: hash } },
          template: { ...template, metadata: { ...template.metadata, labels } },
        },
      },
      BY,
    )
  }

  return {
    onWrite(resource, { before, after }) {
      if (resource === RESOURCE) queue.add(keyOf((after ?? before)!))
      if (resource !== REPLICA_SETS) return
      const owner = controllerOf(after ?? before)
      if (owner?.kind === 'Deployment') {
        queue.add(`${(after ?? before)!.metadata.namespace ?? 'default'}/${owner.name}`)
      }
    },
  }
}
