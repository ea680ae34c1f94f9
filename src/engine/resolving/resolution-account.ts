import type { PodAccount } from '../../journal/account.ts'
import { epochsOf, RESOLVED } from '../../journal/account.ts'
import type { AssertOwned } from '../ledgers/create-part.ts'
import type { Said } from './resolution.ts'

interface Speaker {
  /** The name of the process, as in its Lease. */
  by: string
  /** The largest epoch of its Leases. */
  epoch: number
  /** The epoch of the Lease of the pod's workload, by the uid of the pod. */
  epochOf(uid: string): number
  /** The wall time, in milliseconds since 1970. */
  atMs: number
}

/**
 * Tells each run of the statement about its pods, for its report: the owner at that time, and the reason why a pod is home. Rejects as
 * `conclude` of a ledger does.
 */
export async function tellRuns(
  told: readonly Said[],
  { by, epoch, epochOf, atMs }: Speaker,
  assertHeld: AssertOwned,
): Promise<void> {
  const at = new Date(atMs).toISOString()
  for (const [store, said] of Map.groupBy(told, (one) => one.store)) {
    const { entries } = store.ledger
    const pods = said.map(({ uid, reason: why }) => ({ uid, pod: entries.get(uid)?.pod ?? uid, reason: why }))
    const reason = { code: 'pods', pods } as const
    const process = { by, epoch, resumed: true, startedAt: at, endedAt: at, outcome: RESOLVED, reason }
    const accounts = said.map(({ uid, outcome, reason: why, advice, out }): [string, PodAccount] => [
      uid,
      {
        ...epochsOf(epochOf(uid), epoch),
        startedAtMs: atMs,
        phases: [],
        effects: [],
        restarts: [],
        outcome,
        reason: why,
        out,
        ...(advice && { advice }),
      },
    ])
    const account = { ...process, window: 0, guarantees: [], warnings: [] }
    await store.conclude({ told: { process: account, pods: new Map(accounts) } }, assertHeld)
  }
}
