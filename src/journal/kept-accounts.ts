import type { AccountContext, LostAccounts, PodAccount, ProcessAccount } from './account.ts'
import { readPodAccount, readProcessAccount, RESOLVED, writePodAccount, writeProcessAccount } from './account.ts'

/*
 * A ledger has no room for all that the processes of a run tell: what has to go is counted, so that the report names it as missing.
 */

/** Processes of one run. */
export const KEPT_PROCESSES = 8

type Kind = 'doing' | 'telling' | 'others'

/**
 * Of one pod. Found by a reader: each `sluice resolve` took the place of one, and after three of them nobody could say who had drained
 * and patched the pod. `others`: of processes of other runs, which had nothing to do with it.
 */
export const KEPT_OF_POD = { doing: 3, telling: 2, others: 1 } as const satisfies Record<Kind, number>

/** Outcomes that leave nothing to tell of: each takes the place of the one before. */
const AS_IT_WAS: ReadonlySet<string | undefined> = new Set(['skipped', 'unchanged'])
/** Of a pod to which nothing is done. */
const IDLE_STATES: ReadonlySet<string> = new Set(['deriving', 'queued', 'claiming', 'checking', 'closing'])

export function didSomething({ phases, effects, restarts }: Pick<PodAccount, 'phases' | 'effects' | 'restarts'>): boolean {
  return effects.length > 0 || restarts.length > 0 || phases.some(({ state }) => !IDLE_STATES.has(state))
}

interface Known {
  value: unknown
  /** Undefined where it cannot be read. */
  account: PodAccount | undefined
}

/** As they are written, the newest last, which stays in any case. */
export function keptAccounts(before: readonly unknown[], told: PodAccount, context: AccountContext): unknown[] {
  const known = before.map((value): Known => ({ value, account: readPodAccount(value, context) }))
  const lost: LostAccounts = { doing: 0, telling: 0, ...known.findLast(({ account }) => account?.lost)?.account?.lost }
  // Said once: else a command that is given again and again would push out who has upgraded it.
  const rest = isSaidAgain(known.at(-1), told) ? known.slice(0, -1) : known
  const room: Record<Kind, number> = { ...KEPT_OF_POD }
  room[kindOf(told)] -= 1
  const kept = rest
    .toReversed()
    .filter(({ account }) => {
      const kind = kindOf(account)
      room[kind] -= 1
      if (room[kind] < 0 && kind !== 'others') lost[kind] += 1
      return room[kind] >= 0
    })
    .toReversed()
  const isAnyLost = lost.doing + lost.telling > 0
  return [...kept.map(({ value }) => value), writePodAccount(isAnyLost ? { ...told, lost } : told, context)]
}

function isSaidAgain(last: Known | undefined, told: PodAccount): boolean {
  const kind = kindOf(told)
  if (kind === 'doing' || last === undefined || kindOf(last.account) !== kind) return false
  return AS_IT_WAS.has(told.outcome) && last.account?.outcome === told.outcome
}

/** One that cannot be read may be of a newer sluice, and of anything. */
function kindOf(account: PodAccount | undefined): Kind {
  if (account === undefined || didSomething(account)) return 'doing'
  return account.run === undefined ? 'telling' : 'others'
}

/** Those of the processes of a run, as they are written: a person's word goes before what a process has done. */
export function keptProcesses(before: readonly unknown[], told: ProcessAccount): unknown[] {
  const known = before.map((value) => ({ value, account: readProcessAccount(value) }))
  let lost = lostOf(before)
  while (known.length >= KEPT_PROCESSES) {
    known.splice(
      Math.max(
        0,
        known.findIndex(({ account }) => account?.outcome === RESOLVED),
      ),
      1,
    )
    lost += 1
  }
  return [...known.map(({ value }) => value), writeProcessAccount(lost > 0 ? { ...told, lost } : told)]
}

/** The same where there is no room for what one more has told: it is counted in the newest that can be read. */
export function countedAsLost(before: readonly unknown[]): unknown[] {
  const newest = before.findLastIndex((value) => readProcessAccount(value) !== undefined)
  return before.map((value, index) => (index === newest ? { ...(value as object), lost: lostOf(before) + 1 } : value))
}

function lostOf(accounts: readonly unknown[]): number {
  const known = accounts.map((value) => readProcessAccount(value))
  return known.findLast((account) => account?.lost)?.lost ?? 0
}
