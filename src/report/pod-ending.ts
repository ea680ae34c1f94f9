import type { PodAccount } from '../journal/account.ts'
import { processEpochOf, RESOLVED } from '../journal/account.ts'
import { didSomething } from '../journal/kept-accounts.ts'
import type { ReportPod } from './report.ts'
import type { PodRecord, RunRecord } from './run-record.ts'
import { isOwn } from './run-record.ts'

/** How a pod has ended in a run, by all that had it. */
export interface PodEnding extends Pick<ReportPod, 'outcome' | 'reason' | 'deadline' | 'out' | 'instructions'> {
  /** Of the process that has brought it to that; absent where none has told. */
  epoch?: number
}

export function podEnding(record: PodRecord, run: Pick<RunRecord, 'processes' | 'finishedAt'>): PodEnding {
  const { accounts } = record
  const place = accounts.findLastIndex(isOwn)
  const own = ownEnding({ ...record, accounts: accounts.filter(isOwn) }, run)
  const untold = place === -1 && own.reason === '' ? 'no process of this run has told of it' : own.reason
  const ending = withOthers({ ...own, reason: untold }, accounts.slice(place + 1)) ?? own
  return ending.out ? sinceThen(ending, record, run) : ending
}

function ownEnding(record: PodRecord, run: Pick<RunRecord, 'processes'>): PodEnding {
  const { accounts, untold } = record
  const last = accounts.at(-1)
  if (last === undefined) return { outcome: untold?.outcome ?? 'unknown', reason: untold?.reason ?? '', out: false }
  return last.outcome === 'skipped' ? foundDone(last, record, run) : endingOf(last)
}

/** Outcomes that say what has become of what was left open, whichever images were wanted. */
const OF_WHAT_WAS_OPEN: ReadonlySet<string | undefined> = new Set(['settled', 'needsOperator'])

/**
 * What a process of another run has done with it since. Found by a reader: an undo had nothing to do with a pod that the run had not
 * begun with, which was taken for the end of that: as if it had been brought to the images that it never ran.
 */
function withOthers(own: PodEnding, since: readonly PodAccount[]): PodEnding | undefined {
  const last = since.findLast((one) => didSomething(one) || OF_WHAT_WAS_OPEN.has(one.outcome))
  if (last === undefined) return undefined
  const { instructions: _, ...rest } = own
  const { outcome = 'unknown', reason = '', out = own.out, instructions, run } = last
  const isOfOpen = OF_WHAT_WAS_OPEN.has(outcome) && (own.out || own.outcome === 'unknown')
  return {
    ...rest,
    outcome: isOfOpen ? outcome : own.outcome,
    reason: [own.reason, `since then, by run ${run}: ${[outcome, reason].filter((part) => part !== '').join(', ')}`]
      .filter((part) => part !== '')
      .join('; '),
    out,
    ...(instructions === undefined ? {} : { instructions }),
  }
}

function endingOf(account: PodAccount): PodEnding {
  const { outcome = 'unknown', reason = '', deadline, out = false, instructions } = account
  return {
    outcome,
    reason: outcome === RESOLVED ? saidAt(account) : reason,
    ...(deadline === undefined ? {} : { deadline }),
    out,
    ...(instructions === undefined ? {} : { instructions }),
    epoch: processEpochOf(account),
  }
}

function saidAt({ reason = '', startedAtMs }: PodAccount): string {
  return `${reason} (${new Date(startedAtMs).toISOString()})`
}

/** The last process had nothing to do with it: what it came to is the doing of somebody before. */
function foundDone(last: PodAccount, { accounts, images }: PodRecord, { processes }: Pick<RunRecord, 'processes'>): PodEnding {
  const before = accounts.findLast(({ outcome }) => outcome !== 'skipped')
  // Found by trial: it was called skipped, though the run had upgraded it.
  if (before?.outcome === 'upgraded') return endingOf(before)
  const { reason } = last
  if (before?.outcome === RESOLVED && before.out !== true) return { ...endingOf(before), reason: `${saidAt(before)}; ${reason}` }
  const ending = endingOf(last)
  const others = [
    ...(before?.out ? ['sluice resolve'] : []),
    ...(processes.some(({ resumed }) => resumed) ? ['a process of this run that has left no account of it'] : []),
    'somebody else',
  ]
  const who = others.length > 2 ? `${others.slice(0, -1).join(', ')}, or ${others.at(-1)}` : others.join(' or ')
  if (before?.out) return { ...ending, reason: `${reason}; who has ended what was open of it is not told: ${who}` }
  const hadOthers = images.some(({ from, to }) => to !== '' && from !== to)
  return hadOthers ? { ...ending, reason: `${reason}; who has brought it to them is not told: ${who}` } : ending
}

/** It was open when it was told of last. */
function sinceThen(ending: PodEnding, { isClosed }: PodRecord, { finishedAt }: Pick<RunRecord, 'finishedAt'>): PodEnding {
  const { outcome, reason, epoch } = ending
  const closed = (words: string, to = outcome): PodEnding => ({
    outcome: to,
    reason: `${reason}; ${words}`,
    out: false,
    ...(epoch === undefined ? {} : { epoch }),
  })
  if (isClosed) return closed('closed since, by sluice resolve or by a process that has left no account of it', 'settled')
  if (finishedAt !== undefined) return closed(`nothing of it was open any more at ${finishedAt}`)
  return outcome === RESOLVED ? { ...ending, reason: `${reason}: the same command goes on from there` } : ending
}
