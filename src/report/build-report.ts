import type { Warning } from '../journal/account.ts'
import type { Reason } from '../reasons/reason.ts'
import type { AccountEffect, PodAccount } from '../journal/account.ts'
import { didSomething } from '../journal/kept-accounts.ts'
import { lostOf, notKept } from './not-kept.ts'
import { podEnding } from './pod-ending.ts'
import type { EffectCounts, Report, ReportEffect, ReportFailure, ReportLoadBalancer, ReportPhase, ReportPod } from './report.ts'
import type { EndedPod } from './run-ending.ts'
import { isWord, runEnding } from './run-ending.ts'
import type { PodRecord, RunRecord } from './run-record.ts'
import { isOwn } from './run-record.ts'

/** Builds the report of a record. Pure: equal records give equal reports. */
export function buildReport(record: RunRecord, failures: readonly ReportFailure[] = []): Report {
  const { run, namespace, workloads, images, undoes, startedAt, processes } = record
  const last = processes.findLast((one) => !isWord(one))
  const unreadable = new Set(
    processes.flatMap(({ guarantees }) =>
      guarantees.flatMap(({ loadBalancer, level }) => (level === 'G0' ? [loadBalancer] : [])),
    ),
  )
  const ended = record.pods.map((pod): EndedPod => ({ record: pod, ending: podEnding(pod, record) }))
  const pods = ended.map((pod) => reportPod(pod, unreadable)).toSorted(byBeginning)
  const { outcome, reason, endedAt } = runEnding(record, ended)
  return {
    apiVersion: 'sluice.dev/v1',
    kind: 'Report',
    run,
    namespace,
    workloads,
    images,
    ...(undoes === undefined ? {} : { undoes }),
    outcome,
    reason,
    startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(last === undefined ? {} : { window: last.window }),
    processes: processes.map(({ by, epoch, startedAt: from, endedAt: to, outcome: how, reason: why }) => ({
      by,
      epoch,
      startedAt: from,
      endedAt: to,
      outcome: how,
      reason: why,
    })),
    loadBalancers: loadBalancersOf(record, pods),
    pods,
    failures: failures.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    warnings: warningsOf(record),
    missing: missingOf(record),
  }
}

/** The warnings of all processes, without repetitions. */
function warningsOf({ processes }: RunRecord): Warning[] {
  // The statement of a person after the last process belongs to the end of that process.
  const until = processes.findLastIndex((one) => !isWord(one))
  const all = processes.flatMap((one, index) => (isWord(one) && index < until ? [{ reason: one.reason }] : one.warnings))
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()]
}

function missingOf(record: RunRecord): Reason[] {
  const { processes, startedAt, finishedAt, run } = record
  const [first] = processes
  if (run === '') return []
  if (first === undefined) return [{ code: 'no-account', finished: finishedAt !== undefined }, ...notKept(record)]
  const accountsLost = processes.some(({ lost = 0 }) => lost > 0)
  const begunAt = startedAt < first.startedAt ? { begunAt: startedAt } : {}
  return [
    ...(first.resumed ? [{ code: 'first-account-lost', before: first.startedAt, ...begunAt } as const] : []),
    ...processes.flatMap(({ epoch: toEpoch }, index) => {
      const fromEpoch = processes[index - 1]?.epoch
      if (fromEpoch === undefined || toEpoch <= fromEpoch + 1) return []
      return [{ code: 'owner-unknown', fromEpoch, toEpoch, accountsLost } as const]
    }),
    ...notKept(record),
  ]
}

function reportPod({ record, ending }: EndedPod, unreadable: ReadonlySet<string>): ReportPod {
  const { uid, pod, node, images, targets, untold } = record
  const { epoch: _, ...how } = ending
  const own = record.accounts.filter(isOwn)
  // The calls of another run's process count as its account, because they concern the entries that this run had drained.
  const accounts = record.accounts.filter((one) => isOwn(one) || didSomething(one))
  const phases = accounts.flatMap(phasesOf)
  const restarts = own.findLast((account) => account.restarts.length > 0)?.restarts ?? []
  const proof = own.findLast((account) => account.proof !== undefined)?.proof
  const isUntold = own.length === 0 && untold === undefined
  const missing = lostOf(record).reason ?? (isUntold ? ({ code: 'pod-without-account' } as const) : undefined)
  return {
    uid,
    pod,
    ...(node === undefined ? {} : { node }),
    ...how,
    images: images.length > 0 ? images : restarts.map(({ container, image }) => ({ container, ...image })),
    targets,
    phases,
    effects: effectsOf({ accounts, phases, targets, unreadable, outcome: ending.outcome }),
    ...(proof === undefined ? {} : { proof }),
    restarts,
    ...(missing === undefined ? {} : { missing }),
  }
}

function phasesOf({ startedAtMs, phases }: PodAccount): ReportPhase[] {
  let atMs = startedAtMs
  return phases.map(({ state, ms, waiting }) => {
    const fromAt = instant(atMs)
    atMs += ms
    return { state, fromAt, toAt: instant(atMs), ...(waiting === undefined ? {} : { waiting }) }
  })
}

interface Upgrade extends Pick<PodRecord, 'accounts' | 'targets'> {
  phases: ReportPhase[]
  /** Load balancers that cannot be read back. */
  unreadable: ReadonlySet<string>
  /** The outcome of the pod. */
  outcome: string
}

function effectsOf(upgrade: Upgrade): ReportEffect[] {
  const { accounts } = upgrade
  const tried = new Set<string>()
  const all = accounts.flatMap(({ startedAtMs, effects }) =>
    effects.map((told) => ({ told, at: instant(startedAtMs + told.afterMs) })),
  )
  return all.map(({ told, at }, index): ReportEffect => {
    const { loadBalancer, target, effect, operation, outcome, batch, durationMs, said, reason } = told
    const repeated = outcome !== 'confirmed' && tried.has(operation)
    tried.add(operation)
    const isLast = !all.slice(index + 1).some(({ told: later }) => later.target === target && later.loadBalancer === loadBalancer)
    const shown = outcome === 'applied' || outcome === 'confirmed' ? shownBy(told, at, isLast, upgrade) : undefined
    return {
      at,
      loadBalancer,
      target,
      effect,
      operation,
      outcome: outcome === 'applied' ? 'done' : outcome,
      repeated,
      batch,
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(said === undefined ? {} : { said }),
      evidence: [reason, shown].filter((one) => one !== undefined),
    }
  })
}

/** The states that follow `emptying` only after every load balancer was read back as out. */
const AFTER_OUT = new Set(['patching', 'rollingBack'])
/** The outcomes that follow `verifying` only after the restored state was read back as it was before. */
const AFTER_VERIFIED = new Set(['upgraded', 'rolledBack'])

/** The evidence for a call. A call that went normally has no words of its own; the states after it show the state that was read back. */
function shownBy(
  { effect, loadBalancer, target }: AccountEffect,
  at: string,
  isLast: boolean,
  { phases, targets, unreadable, outcome }: Upgrade,
): Reason | undefined {
  if (unreadable.has(loadBalancer)) return { code: 'as-answered' }
  if (effect === 'drain') {
    const emptying = phases.findIndex(({ state, toAt }) => state === 'emptying' && toAt >= at)
    if (emptying === -1 || !AFTER_OUT.has(phases[emptying + 1]?.state ?? '')) return undefined
    const { waiting } = phases[emptying]!
    return { code: 'read-back-as-out', ...(waiting === undefined ? {} : { because: waiting }) }
  }
  if (!isLast || !AFTER_VERIFIED.has(outcome) || !phases.some(({ state, toAt }) => state === 'verifying' && toAt >= at))
    return undefined
  const prior = targets.find((one) => one.loadBalancer === loadBalancer && one.target === target)?.prior
  return { code: 'read-back-as-before', ...(prior === undefined ? {} : { prior }) }
}

function loadBalancersOf({ processes, pods: records }: RunRecord, pods: readonly ReportPod[]): ReportLoadBalancer[] {
  const levels = new Map(processes.flatMap(({ guarantees }) => guarantees.map((one) => [one.loadBalancer, one])))
  const names = new Set([...levels.keys(), ...records.flatMap(({ targets }) => targets.map(({ loadBalancer }) => loadBalancer))])
  const effects = pods.flatMap((pod) => pod.effects)
  return Array.from(names, (name): ReportLoadBalancer => {
    const level = levels.get(name)
    const own = effects.filter(({ loadBalancer }) => loadBalancer === name)
    return {
      name,
      ...(level ? { adapter: level.adapter, guarantee: level.level } : {}),
      drains: countsOf(own.filter(({ effect }) => effect === 'drain')),
      restores: countsOf(own.filter(({ effect }) => effect === 'restore')),
    }
  })
}

function countsOf(effects: readonly ReportEffect[]): EffectCounts {
  const counts: EffectCounts = { done: 0, confirmed: 0, ambiguous: 0, failed: 0, pending: 0, repeated: 0 }
  for (const { outcome, repeated } of effects) {
    counts[outcome] += 1
    if (repeated) counts.repeated += 1
  }
  return counts
}

function byBeginning(a: ReportPod, b: ReportPod): number {
  return beginning(a) < beginning(b) ? -1 : beginning(a) > beginning(b) ? 1 : 0
}

/** The beginning of a pod's upgrade. Waiting for a place in the window does not count, because all pods wait from the start. */
function beginning({ phases }: ReportPod): string {
  return phases.find(({ state }) => !WAITING.has(state))?.fromAt ?? '~'
}

/** States in which the pod waits and nothing is done with it. */
export const WAITING: ReadonlySet<string> = new Set(['deriving', 'queued'])

function instant(ms: number): string {
  return new Date(ms).toISOString()
}
