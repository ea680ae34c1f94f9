import type { Reason } from '../reasons/reason.ts'
import { several } from '../reasons/several.ts'
import type { PodAccount } from '../journal/account.ts'
import { processEpochOf, RESOLVED } from '../journal/account.ts'
import { didSomething } from '../journal/kept-accounts.ts'
import type { ReportPod } from './report.ts'
import type { PodRecord, RunRecord } from './run-record.ts'
import { isOwn } from './run-record.ts'

/** The end of a pod in a run, by the accounts of all its processes. */
export interface PodEnding extends Pick<ReportPod, 'outcome' | 'reason' | 'deadline' | 'out' | 'advice'> {
  /** The epoch of the process that led to this end; absent if no process has reported it. */
  epoch?: number
}

export function podEnding(record: PodRecord, run: Pick<RunRecord, 'processes' | 'finishedAt'>): PodEnding {
  const { accounts } = record
  const place = accounts.findLastIndex(isOwn)
  const own = ownEnding({ ...record, accounts: accounts.filter(isOwn) }, run)
  const told: PodEnding = place === -1 && own.reason === undefined ? { ...own, reason: { code: 'not-told' } } : own
  const ending = withOthers(told, accounts.slice(place + 1)) ?? own
  return ending.out ? sinceThen(ending, record, run) : ending
}

function ownEnding(record: PodRecord, run: Pick<RunRecord, 'processes'>): PodEnding {
  const { accounts, untold } = record
  const last = accounts.at(-1)
  if (last === undefined)
    return { outcome: untold?.outcome ?? 'unknown', ...(untold ? { reason: untold.reason } : {}), out: false }
  return last.outcome === 'skipped' ? foundDone(last, record, run) : endingOf(last)
}

/** The outcomes that tell the end of open work, whichever images were wanted. */
const OF_WHAT_WAS_OPEN: ReadonlySet<string | undefined> = new Set(['settled', 'needsOperator'])

/** Adds the later work of other runs on the pod. An undo that did nothing with a pod must not count as the pod's end. */
function withOthers(own: PodEnding, since: readonly PodAccount[]): PodEnding | undefined {
  const last = since.findLast((one) => didSomething(one) || OF_WHAT_WAS_OPEN.has(one.outcome))
  if (last === undefined) return undefined
  const { advice: _, ...rest } = own
  const { outcome = 'unknown', reason, out = own.out, advice, run = '' } = last
  const isOfOpen = OF_WHAT_WAS_OPEN.has(outcome) && (own.out || own.outcome === 'unknown')
  return {
    ...rest,
    outcome: isOfOpen ? outcome : own.outcome,
    reason: together(own.reason, { code: 'since-by-run', run, outcome, ...(reason ? { because: reason } : {}) }),
    out,
    ...(advice === undefined ? {} : { advice }),
  }
}

function endingOf(account: PodAccount): PodEnding {
  const { outcome = 'unknown', deadline, out = false, advice } = account
  const reason = outcome === RESOLVED ? saidAt(account) : account.reason
  return {
    outcome,
    ...(reason === undefined ? {} : { reason }),
    ...(deadline === undefined ? {} : { deadline }),
    out,
    ...(advice === undefined ? {} : { advice }),
    epoch: processEpochOf(account),
  }
}

function saidAt({ reason, startedAtMs }: PodAccount): Reason | undefined {
  return reason && { code: 'at-instant', reason, at: new Date(startedAtMs).toISOString() }
}

/** Combines the given reasons. */
function together(...reasons: readonly (Reason | undefined)[]): Reason {
  return several(...reasons.filter((one) => one !== undefined))
}

/** The last process found the pod done already, so an earlier process has led to its end. */
function foundDone(last: PodAccount, { accounts, images }: PodRecord, { processes }: Pick<RunRecord, 'processes'>): PodEnding {
  const before = accounts.findLast(({ outcome }) => outcome !== 'skipped')
  // The outcome is `upgraded`, although the last process skipped the pod.
  if (before?.outcome === 'upgraded') return endingOf(before)
  const { reason } = last
  if (before?.outcome === RESOLVED && before.out !== true)
    return { ...endingOf(before), reason: together(saidAt(before), reason) }
  const ending = endingOf(last)
  const lostProcess = processes.some(({ resumed }) => resumed)
  const untold = (what: 'ended' | 'brought'): Reason =>
    together(reason, { code: 'end-not-told', what, resolve: before?.out === true, lostProcess })
  if (before?.out) return { ...ending, reason: untold('ended') }
  const hadOthers = images.some(({ from, to }) => to !== '' && from !== to)
  return hadOthers ? { ...ending, reason: untold('brought') } : ending
}

/** Adds the end of open work after the last account of the pod. */
function sinceThen(ending: PodEnding, { isClosed }: PodRecord, { finishedAt }: Pick<RunRecord, 'finishedAt'>): PodEnding {
  const { outcome, reason, epoch } = ending
  const closed = (why: Reason, to = outcome): PodEnding => ({
    outcome: to,
    reason: together(reason, why),
    out: false,
    ...(epoch === undefined ? {} : { epoch }),
  })
  if (isClosed) return closed({ code: 'closed-since' }, 'settled')
  if (finishedAt !== undefined) return closed({ code: 'nothing-open-at', at: finishedAt })
  return outcome === RESOLVED ? { ...ending, reason: together(reason, { code: 'same-command-goes-on' }) } : ending
}
