import type { LedgerEntry } from '../../journal/ledger.ts'
import type { RunEventBody } from '../events.ts'
import type { RunLedgers } from './history.ts'
import { allLedgers } from './history.ts'
import { openEntries } from './open-entries.ts'
import type { World } from '../world.ts'

interface Options {
  ledgers: RunLedgers
  world: World
  tell(event: RunEventBody): void
}

/**
 * Warns of pods that an earlier run may have drained, and whose journal was removed since. Whether that run or an operator has them out is
 * unknown, so they stay out, like entries that an operator has out.
 */
export async function warnOfLostJournals({ ledgers, world, tell }: Options): Promise<void> {
  const earlier = [...(ledgers.resumed ? [ledgers.current] : []), ...ledgers.superseded]
  const suspects = new Map<string, { entry: LedgerEntry; run: string }>()
  for (const { ledger } of earlier) {
    for (const entry of openEntries(ledger, allLedgers(ledgers))) {
      if (isSuspect(entry, world)) suspects.set(entry.uid, { entry, run: ledger.header.run })
    }
  }
  await Promise.all(
    Array.from(suspects.values(), async ({ entry: { uid, pod, targets }, run }) => {
      const { state, removed, detail } = await world.traffic.inspect(uid, targets)
      if (removed || (state !== 'out' && state !== 'mixed')) return
      tell({ type: 'warning', pod, reason: { code: 'journal-lost', run, traffic: detail } })
    }),
  )
}

/** Reports whether the run may have drained the pod, while the pod exists without a journal. */
export function isSuspect({ uid, state, targets }: LedgerEntry, { store }: Pick<World, 'store'>): boolean {
  return state === 'open' && store.get(uid)?.stored.kind === 'none' && targets.some(({ untouched }) => !untouched)
}
