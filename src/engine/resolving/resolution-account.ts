import type { PodAccount } from '../../journal/account.ts'
import { epochsOf, RESOLVED } from '../../journal/account.ts'
import type { AssertOwned } from '../ledgers/create-part.ts'
import type { Said } from './resolution.ts'

interface Speaker {
  /** The name of the process, as its Lease has it. */
  by: string
  /** The largest of all its Leases. */
  epoch: number
  /** Of a pod, by its uid: of that pod's own. */
  epochOf(uid: string): number
  /** Wall time in milliseconds since 1970. */
  atMs: number
}

/**
 * Tells each run what was said of its pods, for its report: else nobody could say later who had the workload then, or why a pod
 * that needed a person is home. Rejects as `conclude` of a ledger does.
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
