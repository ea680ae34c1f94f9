import type { KubeClient } from '../../kube/client.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { isNamedIn } from '../../workloads/kinds/named-in.ts'
import { podId } from '../../workloads/kinds/pod.ts'
import { createOwnerLookup } from '../../workloads/owner.ts'
import { leaseName } from '../leases/lease.ts'
import { podOf } from '../ledgers/of-others.ts'
import type { Found } from './meant.ts'

/** The Leases that a word needs. */
export interface WordLeases {
  /** Of all workloads of the runs that the pod is on record of: whichever of them is at work, it is not come in between. */
  names: string[]
  /**
   * Of a pod, by its uid, the one of its own workload; undefined where that is not known. Found by a breaker: a word was told with the
   * largest epoch of all of them, by which `sluice status` could not tell whether a run had gone on since.
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
