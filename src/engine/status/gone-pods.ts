import type { PodAccount } from '../../journal/account.ts'
import type { Ledger, LedgerEntry } from '../../journal/ledger.ts'
import { accountsOf } from '../../journal/ledger-accounts.ts'
import type { WorkloadRef } from '../../plan/plan.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { LeaseRecord } from '../../leases/lease.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { leftOutEntries } from '../ledgers/left-out-entries.ts'
import { openEntries } from '../ledgers/open-entries.ts'
import { isOfAnother } from './of-another.ts'
import type { PodStatus } from './status.ts'
import { entriesOf, goneAdvice } from './pod-advice.ts'
import { needsOperator } from './needs-operator.ts'

/** The gone pods for which a ledger has open entries. */
export function gonePods(
  pods: readonly PodView[],
  ledgers: readonly Ledger[],
  lease: LeaseRecord | undefined,
  { namespace, ...ref }: WorkloadRef,
  kinds: Kinds,
): PodStatus[] {
  const alive = new Set(pods.map(({ uid }) => uid))
  // A later owner may be settling the pod, or may have begun its restore. Then no person is needed.
  const isOutdated = ({ epoch = 0 }: LedgerEntry, told: PodAccount): boolean =>
    epoch > told.epoch || (lease !== undefined && lease.holder !== '' && lease.transitions > told.epoch)
  return ledgers
    .filter(({ header }) => header.finishedAt === undefined)
    .flatMap((ledger) =>
      [...openEntries(ledger, ledgers), ...leftToAPerson(ledger)]
        .filter(({ uid, targets }) => !alive.has(uid) && targets.length > 0)
        .filter(({ pod, owner }) => !isOfAnother({ name: pod, ...(owner && { owner }) }, ledger.header, ref, kinds))
        .map((entry): PodStatus => {
          const { uid, pod, state, targets } = entry
          const last = accountsOf(entry, ledger.header).at(-1)
          // The run ended with exit 8 for the pod. Another run would end the same way, so a person is needed.
          const person =
            state === 'abandoned'
              ? { advice: [goneAdvice(pod, targets, pods.find(({ name }) => name === pod)?.ip, namespace)] }
              : last?.outcome === 'needsOperator' && !isOutdated(entry, last)
                ? needsOperator(last)
                : undefined
          return {
            uid,
            name: pod,
            state: state === 'restore' ? 'restore' : 'drain',
            run: ledger.header.run,
            attempt: null,
            out: state === 'abandoned' || (person !== undefined && last?.out) ? true : null,
            reasons: [{ code: 'gone-and-drained', entries: entriesOf(targets) }],
            ...(person === undefined ? {} : { needsOperator: person }),
          }
        }),
    )
}

/**
 * The entries that were left out without an expected replacement, and that a replacement needs after all. The run ended with exit 8 for
 * them.
 */
function leftToAPerson(ledger: Ledger): LedgerEntry[] {
  return leftOutEntries(ledger).filter((entry) => accountsOf(entry, ledger.header).at(-1)?.outcome === 'needsOperator')
}
