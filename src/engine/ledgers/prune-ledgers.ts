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

/** The number of finished ledgers of a workload that are kept. */
const KEPT = 10

interface PruneOptions {
  ledgers: RunLedgers
  client: KubeClient
  namespace: string
  assertOwned: AssertOwned
  /** The runs that an open journal of a pod names. */
  named: ReadonlySet<string>
}

/** Removes the oldest finished ledgers. */
export async function pruneLedgers({ ledgers, client, namespace, assertOwned, named }: PruneOptions): Promise<void> {
  // Runs that changed something are kept first. Otherwise frequent runs without changes would soon remove all that can be undone.
  const changedFirst = ledgers.finished.toSorted((a, b) => Number(hasChanged(b.ledger)) - Number(hasChanged(a.ledger)))
  /** The ledgers without the removed ones. Of two ledgers that settled the same pod, one must stay. */
  const kept = new Set([...allLedgers(ledgers), ...ledgers.elsewhere])
  for (const found of changedFirst.slice(KEPT - 1)) {
    const { ledger } = found
    // Without this record, a drain intent that comes late would count. See late-intents.ts.
    if (named.has(ledger.header.run)) continue
    const all = [...kept]
    if (needFor(ledger, all) !== undefined || isNewElsewhere(ledger, ledgers.current.ledger, all)) continue
    kept.delete(ledger)
    // A later owner of the workload may need the ledger for an undo.
    await assertOwned()
    await deleteLedger(found, { client, namespace })
  }
}

/**
 * Reports whether the ledger is among the newest of another workload. Without it, an undo there would take back an earlier run. Bare pods
 * are left out, since their names change, and the ledger would be kept for ever.
 */
function isNewElsewhere(ledger: Ledger, { header: current }: Ledger, all: readonly Ledger[]): boolean {
  const newer = all.filter((one) => hasChanged(one) && one.header.startedAt > ledger.header.startedAt)
  const others = hasChanged(ledger) ? ledger.header.workloads.filter((one) => !isPod(one) && !isNamedBy(current, one)) : []
  return others.some((one) => newer.filter(({ header }) => isNamedBy(header, one)).length < KEPT)
}
