import type { KubeClient } from '../kube/client.ts'
import { withQuery } from '../kube/query.ts'
import type { PodView } from '../pods/glossary.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import { namingTheRight } from './errors.ts'
import { type Owner, type ReplicaSetRecord, replicaSetRecord } from './records.ts'
import { REPLICA_SETS } from './resources.ts'
import { z } from 'zod'

/** What of a pod decides who its owner is. */
export type OwnedPod = Pick<PodView, 'name' | 'namespace' | 'uid' | 'owner' | 'finished'>

/**
 * - `workload`: sluice knows how to treat its pods
 * - `none`: a bare pod
 * - `replica-set`: a ReplicaSet of its own, without a Deployment
 * - `foreign`: a controller of which sluice does not know what it does to patched pods
 */
export type Ownership =
  | { type: 'workload'; ref: WorkloadRef }
  | { type: 'none' }
  | ({ type: 'replica-set'; owner: Owner } & Pick<ReplicaSetRecord, 'minReadyMs' | 'counted'>)
  | { type: 'foreign'; owner: Owner }

const ReplicaSetList = z.object({ items: z.array(z.unknown()) })

/** Finds the owners of pods; reads each ReplicaSet once, to see whether a Deployment made it. */
export function createOwnerLookup(client: KubeClient): (pod: OwnedPod) => Promise<Ownership> {
  const replicaSets = new Map<string, Ownership>()

  async function ofReplicaSet(owner: Owner, namespace: string): Promise<Ownership> {
    const path = withQuery(REPLICA_SETS.collection(namespace), { fieldSelector: `metadata.name=${owner.name}` })
    const raw = await client.get(path).catch((error: unknown) => {
      throw namingTheRight(error, 'list', REPLICA_SETS.name, namespace)
    })
    const found = ReplicaSetList.parse(raw)
      .items.map(replicaSetRecord)
      .find(({ uid }) => uid === owner.uid)
    const above = found?.owner
    if (above === undefined) {
      const { minReadyMs, counted } = found ?? { minReadyMs: 0, counted: { ready: 0, available: 0 } }
      return { type: 'replica-set', owner, minReadyMs, counted }
    }
    return isApps(above) && above.kind === 'Deployment'
      ? { type: 'workload', ref: { kind: 'Deployment', name: above.name, namespace } }
      : { type: 'foreign', owner: above }
  }

  return async ({ owner, namespace }) => {
    if (owner === undefined) return { type: 'none' }
    if (!isApps(owner)) return { type: 'foreign', owner }
    if (owner.kind === 'StatefulSet' || owner.kind === 'DaemonSet') {
      return { type: 'workload', ref: { kind: owner.kind, name: owner.name, namespace } }
    }
    if (owner.kind !== 'ReplicaSet') return { type: 'foreign', owner }
    const known = replicaSets.get(owner.uid) ?? (await ofReplicaSet(owner, namespace))
    replicaSets.set(owner.uid, known)
    return known
  }
}

/** Other groups have kinds of the same name, such as the StatefulSet of OpenKruise. */
function isApps({ apiVersion }: Owner): boolean {
  return apiVersion.startsWith('apps/')
}
