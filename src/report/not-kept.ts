import type { LostAccounts } from '../journal/account.ts'
import { KEPT_OF_POD, KEPT_PROCESSES } from '../journal/kept-accounts.ts'
import type { PodRecord, RunRecord } from './run-record.ts'

/** Names of pods that are told one by one. */
const NAMED = 5

/** Of a pod: accounts that its ledger has not kept, and what that is in words. */
export function lostOf({ accounts }: PodRecord): LostAccounts & { words?: string } {
  const { doing, telling } = accounts.findLast(({ lost }) => lost)?.lost ?? { doing: 0, telling: 0 }
  if (doing > 0) return { doing, telling, words: `what ${processes(doing)} did with it before is not kept` }
  return { doing, telling, ...(telling > 0 ? { words: `what ${processes(telling)} told of it before is not kept` } : {}) }
}

/**
 * Found by a reader: what had drained and patched a pod was gone from the ledger, three words of a person later, and nothing was named as
 * missing.
 */
export function notKept({ processes: all, pods }: RunRecord): string[] {
  const lost = pods.map((record) => ({ name: record.pod, ...lostOf(record) }))
  const doing = lost.filter((one) => one.doing > 0)
  const telling = lost.filter((one) => one.doing === 0 && one.telling > 0)
  const processesLost = all.findLast((one) => one.lost)?.lost ?? 0
  return [
    ...(processesLost > 0
      ? [`Of ${processes(processesLost)} of the run the account is not kept: of one run those of ${KEPT_PROCESSES} are.`]
      : []),
    ...(doing.length > 0
      ? [
          `Of ${names(doing)} not all that was done is kept: of one pod the ledger keeps the last ${KEPT_OF_POD.doing} processes that did something with it. Phases, calls, restarts and proofs of those before are missing.`,
        ]
      : []),
    ...(telling.length > 0
      ? [
          `Of ${names(telling)} not all that was told is kept: of one pod the ledger keeps the last ${KEPT_OF_POD.telling} processes that told of it and did nothing with it. No call is missing for that.`,
        ]
      : []),
    ...all.flatMap(({ withoutRoom: count = 0, endedAt }) =>
      count > 0
        ? [
            `The ledger had no room for all that was told of ${count === 1 ? 'one pod' : `${count} pods`} until ${endedAt}: phases, calls, restarts and proofs may be missing.`,
          ]
        : [],
    ),
  ]
}

function processes(count: number): string {
  return count === 1 ? 'one process' : `${count} processes`
}

function names(pods: readonly { name: string }[]): string {
  const some = pods.slice(0, NAMED).map(({ name }) => name)
  return [...some, ...(pods.length > NAMED ? [`${pods.length - NAMED} more`] : [])].join(', ')
}
