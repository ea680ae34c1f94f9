import type { Warning } from '../../journal/account.ts'
import type { Advice } from '../../reasons/advice.ts'
import type { Reason } from '../../reasons/reason.ts'
import type { MixedWorkload } from '../../journal/ledger.ts'
import type { PodEnding, PodResult, PodState, RunOutcome, RunResult } from '../../engine/events.ts'
import type { Plan, PlanGuarantee } from '../../plan/plan.ts'
import { displayName } from '../../pods/workload-id.ts'
import { API_VERSION } from './api-version.ts'
import type { ExitCode } from '../../library/exit-codes.ts'
import type { NextCommand } from '../printed-commands/next-command.ts'

/** The result of a run, for `-o json`. Under one apiVersion, fields are added, and never changed or removed. */
export interface RunReport {
  apiVersion: typeof API_VERSION
  kind: 'RunReport'
  /** Absent where no run began, for example after a refused plan. */
  run?: string
  outcome: RunOutcome
  exitCode: ExitCode
  reason: Reason
  /** The holder of the workload, where another run has it. */
  holder?: string
  namespace: string
  workloads: string[]
  images: { container: string; image: string }[]
  /** ISO 8601, by the clock of this machine. */
  startedAt: string
  finishedAt: string
  pods: PodReport[]
  warnings: Warning[]
  guarantees: PlanGuarantee[]
  /** Workloads that an abort has left on different images. Absent where there is none. */
  mixed?: MixedWorkload[]
  /** The commands to run next, in order. Empty where there is none. */
  next: NextCommand[]
  /** Present where an ordered abort was interrupted. The order stands, and the command `goOn` continues it. */
  abortStands?: true
  /** The giver of the pause. The run only waits until the pause is lifted. */
  pausedBy?: string
}

export interface PodReport extends PodEnding {
  pod: string
  uid: string
  /** The checks and commands for an operator. */
  advice: Advice[]
  proof?: string
  /**
   * The containers that changed, with both images. For a pod that an earlier process had patched, the images come from its restart.
   * Empty where nothing was to change, or where only the earlier process saw the restart.
   */
  images: { container: string; from: string; to: string }[]
  phasesMs: Partial<Record<PodState, number>>
}

export interface RunFacts {
  result: RunResult
  plan: Plan
  exitCode: ExitCode
  /** ISO 8601. */
  startedAt: string
  finishedAt: string
  warnings: readonly Warning[]
  next: readonly NextCommand[]
  /** True where an abort of the run was ordered and is not complete. */
  abortStands?: boolean
  pausedBy?: string | undefined
}

export function runReport(facts: RunFacts): RunReport {
  const { result, plan, exitCode, startedAt, finishedAt, warnings, next, abortStands, pausedBy } = facts
  return {
    apiVersion: API_VERSION,
    kind: 'RunReport',
    ...(result.run === undefined ? {} : { run: result.run }),
    outcome: result.outcome,
    exitCode,
    reason: result.reason,
    ...(result.holder === undefined ? {} : { holder: result.holder }),
    namespace: plan.namespace,
    workloads: plan.workloads.map(displayName),
    images: plan.images,
    startedAt,
    finishedAt,
    pods: result.pods.map((pod) => ({
      pod: pod.pod,
      uid: pod.uid,
      outcome: pod.outcome,
      reason: pod.reason,
      ...(pod.deadline === undefined ? {} : { deadline: pod.deadline }),
      traffic: pod.traffic,
      record: pod.record,
      ...(pod.before === undefined ? {} : { before: pod.before }),
      advice: pod.advice,
      ...(pod.proof === undefined ? {} : { proof: pod.proof }),
      images: imagesOf(pod, plan),
      phasesMs: pod.phases,
    })),
    warnings: [...warnings],
    guarantees: plan.guarantees,
    ...(result.mixed === undefined || result.mixed.length === 0 ? {} : { mixed: result.mixed }),
    next: [...next],
    ...(abortStands ? { abortStands: true } : {}),
    ...(pausedBy === undefined ? {} : { pausedBy }),
  }
}

function imagesOf({ uid, restarts = [] }: PodResult, { pods }: Plan): PodReport['images'] {
  const planned = pods.find((pod) => pod.uid === uid)?.images ?? []
  return planned.length > 0 ? planned : restarts.map(({ container, image }) => ({ container, ...image }))
}
