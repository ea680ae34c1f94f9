import type { PodAccount } from '../../journal/account.ts'
import { journalOf } from '../../journal/journal.ts'
import type { Ledger } from '../../journal/ledger.ts'
import { accountsOf } from '../../journal/ledger-accounts.ts'
import type { Journal, JournalStep, PodView, ReadJournal } from '../../pods/glossary.ts'
import { isOwnedBy, isSameWorkload, type WorkloadId } from '../../pods/workload-id.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { podId } from '../../workloads/kinds/pod.ts'
import { upgradeOrder } from '../../workloads/kinds/upgrade-order.ts'
import { asItCounts } from '../ledgers/late-intents.ts'
import { isOpenFor } from '../ledgers/is-open-for.ts'
import { openEntries, sinceDrain } from '../ledgers/open-entries.ts'
import { recordedTargets } from '../ledgers/recorded-targets.ts'
import { isOfAnother } from './of-another.ts'
import type { PodStatus } from './status.ts'
import { needsOperator } from './needs-operator.ts'
import { entriesOf, movedAdvice, STANDING, unreadableAdvice } from './pod-advice.ts'

/** The pods with a journal. `above`: the workloads of the pods that no ledger has. */
export function livePods(
  pods: readonly PodView[],
  ledgers: readonly Ledger[],
  above: ReadonlyMap<string, WorkloadId>,
  ref: WorkloadId,
  kinds: Kinds,
): PodStatus[] {
  const isAbove = (one: WorkloadId | undefined): boolean => one !== undefined && isSameWorkload(one, ref)
  const belongs = (pod: PodView): boolean =>
    isAbove(above.get(pod.uid)) ||
    ledgers.some(({ header, entries }) => entries.has(pod.uid) && !isOfAnother(pod, header, ref, kinds)) ||
    (pod.owner === undefined ? isAbove(podId(pod.name)) : isOwnedBy(pod, ref))
  return pods
    .filter(belongs)
    .sort(upgradeOrder(kinds))
    .flatMap((pod): PodStatus[] => {
      const { uid, name: podName } = pod
      const read = asItCounts(uid, journalOf(pod), ledgers)
      if (read.kind === 'none') return []
      if (read.kind === 'unreadable') {
        const { problem } = read
        const targets = recordedTargets(uid, ledgers)
        const advice = unreadableAdvice(pod, { problem, targets, isOnRecord: isOpenFor(uid, ledgers) })
        return [
          {
            uid,
            name: podName,
            state: 'drain',
            run: '',
            attempt: null,
            out: null,
            reasons: [problem],
            needsOperator: { advice: [advice] },
          },
        ]
      }
      const { step, run, epoch, attempt, targets, rollback, undrained } = read.journal
      const last = step === 'closed' ? undefined : lastAccount(uid, { run, epoch }, ledgers)
      const reasons = [
        undrained
          ? ({ code: 'changes-without-drain', containers: undrained, ready: pod.ready } as const)
          : STANDING[step](entriesOf(targets), pod),
        ...(rollback ? [{ code: 'on-way-back', images: rollback } as const] : []),
        ...(last?.outcome === 'failed' && last.reason ? [last.reason] : []),
      ]
      const moved = step !== 'closed' && isAbandoned(uid, read, ledgers) ? { advice: [movedAdvice(pod, targets)] } : undefined
      const person = moved ?? (last?.outcome === 'needsOperator' ? needsOperator(last) : undefined)
      return [
        {
          uid,
          name: podName,
          state: step,
          run,
          attempt,
          out: undrained ? false : OUT[step],
          reasons,
          ...(person === undefined ? {} : { needsOperator: person }),
        },
      ]
    })
}

/** The account of the process that wrote the pod's record last. */
function lastAccount(
  uid: string,
  { run, epoch }: Pick<Journal, 'run' | 'epoch'>,
  ledgers: readonly Ledger[],
): PodAccount | undefined {
  const ledger = ledgers.find(({ header }) => header.run === run)
  const entry = ledger?.entries.get(uid)
  const last = ledger && entry && accountsOf(entry, ledger.header).at(-1)
  return last?.epoch === epoch ? last : undefined
}

/** Reports whether a run has left the pod to a person: its entries mean another address. */
function isAbandoned(uid: string, stored: ReadJournal, ledgers: readonly Ledger[]): boolean {
  // Only ledgers since the present drain count: an earlier one may have left the pod to a person before it came home.
  return (sinceDrain(stored, ledgers) ?? ledgers)
    .filter(({ header }) => header.finishedAt === undefined)
    .some((ledger) => openEntries(ledger, ledgers).some((entry) => entry.uid === uid && entry.state === 'abandoned'))
}

const OUT: Record<JournalStep, boolean | null> = { drain: null, patched: true, restore: null, closed: null }
