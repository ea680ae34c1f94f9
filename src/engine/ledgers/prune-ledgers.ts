import type { Ledger } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { AssertOwned } from './create-part.ts'
import { hasChanged } from './has-changed.ts'
import type { RunLedgers } from './history.ts'
import { allLedgers } from './history.ts'
import { deleteLedger } from './delete-ledger.ts'
import { isPod } from '../../workloads/kinds/pod.ts'
import { isNamedBy } from './is-named-by.ts'
import { needFor } from './needed-ledgers.ts'

/** Finished ledgers of a workload that are kept. */
const KEPT = 10

interface PruneOptions {
  ledgers: RunLedgers
  client: KubeClient
  namespace: string
  assertOwned: AssertOwned
  /** Runs that an open journal of a pod names. */
  named: ReadonlySet<string>
}

/** Removes the oldest of what is finished. */
export async function pruneLedgers({ ledgers, client, namespace, assertOwned, named }: PruneOptions): Promise<void> {
  // A pipeline that runs every few minutes and finds all done would soon have removed what there is to undo.
  const changedFirst = ledgers.finished.toSorted((a, b) => Number(hasChanged(b.ledger)) - Number(hasChanged(a.ledger)))
  /** Without those that are removed: of two that have settled the same pod, one is enough, and is needed. */
  const kept = new Set([...allLedgers(ledgers), ...ledgers.elsewhere])
  for (const found of changedFirst.slice(KEPT - 1)) {
    const { ledger } = found
    // Without it a drain intent that came late would count: see late-intents.ts.
    if (named.has(ledger.header.run)) continue
    const all = [...kept]
    if (needFor(ledger, all) !== undefined || isNewElsewhere(ledger, ledgers.current.ledger, all)) continue
    kept.delete(ledger)
    // Whoever has the workload by now may need it, for an undo.
    await assertOwned()
    await deleteLedger(found, { client, namespace })
  }
}

/**
 * It is among the newest of another workload too, where an undo without it would take back the run before it. Bare pods come
 * and go under ever new names: for those it would be kept for ever.
 */
function isNewElsewhere(ledger: Ledger, { header: current }: Ledger, all: readonly Ledger[]): boolean {
  const newer = all.filter((one) => hasChanged(one) && one.header.startedAt > ledger.header.startedAt)
  const others = hasChanged(ledger) ? ledger.header.workloads.filter((one) => !isPod(one) && !isNamedBy(current, one)) : []
  return others.some((one) => newer.filter(({ header }) => isNamedBy(header, one)).length < KEPT)
}
