import type { KubeClient } from '../kube/client.ts'
import { withQuery } from '../kube/query.ts'
import type { PodView } from '../pods/glossary.ts'
import { isSameKind, kindOfOwner } from '../pods/workload-id.ts'
import type { WorkloadRef } from '../plan/plan.ts'
import { namingTheRight } from './errors.ts'
import type { Kind } from './kinds/kind.ts'
import type { Kinds } from './kinds/kinds.ts'
import { refOf } from './kinds/ref.ts'
import { type MadeRecord, madeRecord, type Owner } from './records.ts'
import { resourceOf } from './resources.ts'
import { z } from 'zod'

/** The fields of a pod that determine its owner. */
export type OwnedPod = Pick<PodView, 'name' | 'namespace' | 'uid' | 'owner' | 'finished'>

/**
 * - `workload`: an owner that sluice supports
 * - `none`: a bare pod
 * - `parentless`: an object that a known kind usually makes, without a workload above it, such as a ReplicaSet without a Deployment
 * - `foreign`: a controller whose reaction to patched pods is not known to sluice
 */
export type Ownership =
  | { type: 'workload'; ref: WorkloadRef }
  | { type: 'none' }
  | ({ type: 'parentless'; owner: Owner } & Pick<MadeRecord, 'minReadyMs' | 'counted'>)
  | { type: 'foreign'; owner: Owner }

const ObjectList = z.object({ items: z.array(z.unknown()) })

/** Finds the owners of pods. Reads each object between a pod and its workload once. */
export function createOwnerLookup(client: KubeClient, kinds: Kinds): (pod: OwnedPod) => Promise<Ownership> {
  const between = new Map<string, Ownership>()

  /** @param kind the kind that makes such owners */
  async function above(owner: Owner, kind: Kind & { mechanism: { type: 'pods-alone' } }, namespace: string): Promise<Ownership> {
    const resource = resourceOf(kind.mechanism.through)
    const path = withQuery(resource.collection(namespace), { fieldSelector: `metadata.name=${owner.name}` })
    const raw = await client.get(path).catch((error: unknown) => {
      throw namingTheRight(error, ['list'], resource.name, namespace)
    })
    const found = ObjectList.parse(raw)
      .items.map(madeRecord)
      .find(({ uid }) => uid === owner.uid)
    if (found?.owner === undefined) {
      const { minReadyMs, counted } = found ?? { minReadyMs: 0, counted: { ready: 0, available: 0 } }
      return { type: 'parentless', owner, minReadyMs, counted }
    }
    return isSameKind(kindOfOwner(found.owner), kind)
      ? { type: 'workload', ref: refOf(kind, found.owner.name, namespace) }
      : { type: 'foreign', owner: found.owner }
  }

  return async ({ owner, namespace }) => {
    if (owner === undefined) return { type: 'none' }
    const kind = kinds.ofOwner(owner)
    if (kind?.mechanism === undefined) return { type: 'foreign', owner }
    const { mechanism } = kind
    if (mechanism.type === 'revisioned') return { type: 'workload', ref: refOf(kind, owner.name, namespace) }
    if (isSameKind(kindOfOwner(owner), kind)) return { type: 'foreign', owner }
    const known = between.get(owner.uid) ?? (await above(owner, { ...kind, mechanism }, namespace))
    between.set(owner.uid, known)
    return known
  }
}
