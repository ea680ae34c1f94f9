import type { LedgerHeader } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createOwnerLookup } from '../../workloads/owner.ts'
import { leaseName } from '../leases/lease.ts'
import { isNamedIn, podOf } from '../ledgers/of-others.ts'
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

type Ref = Pick<LedgerHeader['workloads'][number], 'kind' | 'name'>

const nameOf = ({ kind, name }: Ref): string => leaseName({ kind: kind as 'Pod', name })

export async function wordLeases({ pod, entries }: Found, client: KubeClient): Promise<WordLeases> {
  const refs: Ref[] = entries.flatMap(({ store }) => store.ledger.header.workloads)
  const leases = new Map<string, string>()
  for (const { store, entry } of entries) {
    const own = store.ledger.header.workloads.find((one) => isNamedIn(one, podOf(entry)))
    if (own) leases.set(entry.uid, nameOf(own))
  }
  if (pod) {
    const ownership = await createOwnerLookup(client)(pod)
    const ref = ownership.type === 'workload' ? ownership.ref : { kind: 'Pod', name: pod.name }
    refs.push(ref)
    leases.set(pod.uid, nameOf(ref))
  }
  return { names: [...new Set(refs.map(nameOf))].toSorted(), of: (uid) => leases.get(uid) }
}
