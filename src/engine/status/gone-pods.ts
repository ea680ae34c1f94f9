import type { PodAccount } from '../../journal/account.ts'
import type { Ledger, LedgerEntry } from '../../journal/ledger.ts'
import { accountsOf } from '../../journal/ledger-accounts.ts'
import type { WorkloadRef } from '../../plan/plan.ts'
import type { PodView } from '../../pods/glossary.ts'
import type { LeaseRecord } from '../leases/lease.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { leftOutEntries } from '../ledgers/left-out-entries.ts'
import { openEntries } from '../ledgers/open-entries.ts'
import { isOfAnother } from './of-another.ts'
import type { PodStatus } from './status.ts'
import { entriesOf, goneAdvice } from './pod-advice.ts'
import { needsOperator } from './needs-operator.ts'

/** Pods that are gone while a ledger still has something open for them. */
export function gonePods(
  pods: readonly PodView[],
  ledgers: readonly Ledger[],
  lease: LeaseRecord | undefined,
  { namespace, ...ref }: WorkloadRef,
  kinds: Kinds,
): PodStatus[] {
  const alive = new Set(pods.map(({ uid }) => uid))
  // Found by trial: who was at work with it, or had begun to put it back and was killed, goes on by itself, and a person was sent.
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
          // Found by trial: nothing had come in its place in time, or its entry could not be read, and the run ended with 8; by this
          // it was to be gone on with, which ended in the same way.
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
 * Left out, since nothing was to come in their place, until something came all the same. Found by a new user: the run had ended with 8
 * for it, and of that here was nothing.
 */
function leftToAPerson(ledger: Ledger): LedgerEntry[] {
  return leftOutEntries(ledger).filter((entry) => accountsOf(entry, ledger.header).at(-1)?.outcome === 'needsOperator')
}
