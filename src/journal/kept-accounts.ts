import type { AccountContext, LostAccounts, PodAccount, ProcessAccount } from './account.ts'
import { readPodAccount, readProcessAccount, RESOLVED, writePodAccount, writeProcessAccount } from './account.ts'

/*
 * A ledger has no room for the accounts of all processes. Accounts that are dropped are counted, so that the report names them as
 * missing.
 */

/** The maximum number of process accounts of one run. */
export const KEPT_PROCESSES = 8

type Kind = 'doing' | 'telling' | 'others'

/**
 * The maximum number of accounts of one pod, by kind: accounts of `sluice resolve` never push out the process that drained and patched
 * the pod. `others` are accounts of other runs, which did nothing with the pod.
 */
export const KEPT_OF_POD = { doing: 3, telling: 2, others: 1 } as const satisfies Record<Kind, number>

/** Outcomes that leave nothing to report. An account with such an outcome replaces an equal one before it. */
const AS_IT_WAS: ReadonlySet<string | undefined> = new Set(['skipped', 'unchanged'])
/** The states of a pod that the run has not changed. */
const IDLE_STATES: ReadonlySet<string> = new Set(['deriving', 'queued', 'claiming', 'checking', 'closing'])

export function didSomething({ phases, effects, restarts }: Pick<PodAccount, 'phases' | 'effects' | 'restarts'>): boolean {
  return effects.length > 0 || restarts.length > 0 || phases.some(({ state }) => !IDLE_STATES.has(state))
}

interface Known {
  value: unknown
  /** Undefined for an account that cannot be read. */
  account: PodAccount | undefined
}

/** Returns the stored accounts, the newest last. The newest account is always kept. */
export function keptAccounts(before: readonly unknown[], told: PodAccount, context: AccountContext): unknown[] {
  const known = before.map((value): Known => ({ value, account: readPodAccount(value, context) }))
  const lost: LostAccounts = { doing: 0, telling: 0, ...known.findLast(({ account }) => account?.lost)?.account?.lost }
  // An account that repeats the last one replaces it: a command that is run again and again must not push out the account of the upgrade.
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

/** An account that cannot be read may come from a newer sluice, and may contain anything. */
function kindOf(account: PodAccount | undefined): Kind {
  if (account === undefined || didSomething(account)) return 'doing'
  return account.run === undefined ? 'telling' : 'others'
}

/**
 * Returns the stored accounts of the processes of a run. Accounts of `sluice resolve` are dropped before accounts of processes that did
 * something.
 */
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

/** Counts an account for which there is no room, in the newest account that can be read. */
export function countedAsLost(before: readonly unknown[]): unknown[] {
  const newest = before.findLastIndex((value) => readProcessAccount(value) !== undefined)
  return before.map((value, index) => (index === newest ? { ...(value as object), lost: lostOf(before) + 1 } : value))
}

function lostOf(accounts: readonly unknown[]): number {
  const known = accounts.map((value) => readProcessAccount(value))
  return known.findLast((account) => account?.lost)?.lost ?? 0
}
