import type { MissingReasons } from '../../reasons/missing-reasons.ts'
import type { WordsOf } from './writing.ts'

/** The number of pods that are listed by name. */
const NAMED = 5

function processesOf(count: number): string {
  return count === 1 ? 'one process' : `${count} processes`
}

function names(pods: readonly string[]): string {
  return `${pods.slice(0, NAMED).join(', ')}${pods.length > NAMED ? ` and ${pods.length - NAMED} more` : ''}`
}

/** The words for the gaps of a report. */
export const missing: WordsOf<MissingReasons> = {
  'no-account': ({ finished }) =>
    finished
      ? 'No process has kept an account of this run: times, calls and proofs are missing.'
      : 'A process keeps its account when it ends: times, calls and proofs of one at work, or killed, are missing.',
  'first-account-lost': ({ before, begunAt }) =>
    `The run was begun by a process whose account is not here${begunAt === undefined ? '' : `, at ${begunAt}`}: what it did before ${before} is missing. A process that is killed keeps none.`,
  'owner-unknown': ({ fromEpoch, toEpoch, accountsLost }) =>
    `Between epoch ${fromEpoch} and epoch ${toEpoch} the workload had another owner, who has left no account in this run: a process of it that was killed${accountsLost ? ' or whose account was not kept' : ''}, or somebody else.`,
  'processes-not-kept': ({ processes, kept }) =>
    `Of ${processesOf(processes)} of the run the account is not kept: of one run those of ${kept} are.`,
  'told-not-kept': ({ what, pods, kept }) =>
    what === 'done'
      ? `Of ${names(pods)} not all that was done is kept: of one pod the ledger keeps the last ${kept} processes that did something with it. Phases, calls, restarts and proofs of those before are missing.`
      : `Of ${names(pods)} not all that was told is kept: of one pod the ledger keeps the last ${kept} processes that told of it and did nothing with it. No call is missing for that.`,
  'no-room-for-accounts': ({ pods, until }) =>
    `The ledger had no room for all that was told of ${pods === 1 ? 'one pod' : `${pods} pods`} until ${until}: phases, calls, restarts and proofs may be missing.`,
  'not-finished': ({ after }) =>
    `The run is not finished. What a process has done after ${after} that is at work, or was killed, is not here: sluice status shows how the pods stand.`,
  'newer-run-unknown': ({ workload, unreadable }) =>
    `Whether a newer run of ${workload} is on record cannot be told: these cannot be read: ${unreadable.join(', ')}`,
  'earlier-not-kept': ({ what, processes }) =>
    what === 'done'
      ? `what ${processesOf(processes)} did with it before is not kept`
      : `what ${processesOf(processes)} told of it before is not kept`,
  'pod-without-account': () => 'no process has kept an account of it',
}
