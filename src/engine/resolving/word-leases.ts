import type { KubeClient } from '../../kube/client.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { isNamedIn } from '../../workloads/kinds/named-in.ts'
import { podId } from '../../workloads/kinds/pod.ts'
import { createOwnerLookup } from '../../workloads/owner.ts'
import { leaseName } from '../leases/lease-name.ts'
import { podOf } from '../ledgers/of-others.ts'
import type { Found } from './meant.ts'

/** The Leases that a statement needs. */
export interface WordLeases {
  /** The names of the Leases of all workloads of the runs with the pod on record, so that none of these runs is at work. */
  names: string[]
  /**
   * The Lease of the pod's own workload, by uid. Undefined where it is not known. The statement is told with that epoch, so that `sluice
   * status` can compare it with later runs.
   */
  of(uid: string): string | undefined
}

export async function wordLeases(
  { pod, entries }: Found,
  { client, kinds }: { client: KubeClient; kinds: Kinds },
): Promise<WordLeases> {
  const refs: WorkloadId[] = entries.flatMap(({ store }) => store.ledger.header.workloads)
  const leases = new Map<string, string>()
  for (const { store, entry } of entries) {
    const own = store.ledger.header.workloads.find((one) => isNamedIn(kinds, one, podOf(entry)))
    if (own) leases.set(entry.uid, leaseName(own))
  }
  if (pod) {
    const ownership = await createOwnerLookup(client, kinds)(pod)
    const ref = ownership.type === 'workload' ? ownership.ref : podId(pod.name)
    refs.push(ref)
    leases.set(pod.uid, leaseName(ref))
  }
  return { names: [...new Set(refs.map(leaseName))].toSorted(), of: (uid) => leases.get(uid) }
}
