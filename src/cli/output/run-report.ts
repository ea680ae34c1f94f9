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

/** How a run ended, for `-o json`. Fields are added, never changed or removed, under one apiVersion. */
export interface RunReport {
  apiVersion: typeof API_VERSION
  kind: 'RunReport'
  /** Absent where no run began: it was refused after its plan, say. */
  run?: string
  outcome: RunOutcome
  exitCode: ExitCode
  reason: Reason
  /** Who has the workload, where another run does. */
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
  /** Workloads that an abort has left on different images; absent where there is none. */
  mixed?: MixedWorkload[]
  /** What there is to run now, what to run first in front; empty where there is nothing. */
  next: NextCommand[]
  /** An abort was ordered, and interrupted: the order stands, and the command to go on goes on with it. */
  abortStands?: true
  /** Who has paused the run: until the pause is lifted it only waits. */
  pausedBy?: string
}

export interface PodReport extends PodEnding {
  pod: string
  uid: string
  /** What a person has to look at and to run. */
  advice: Advice[]
  proof?: string
  /**
   * What it went to, and from what. Of a pod that was planned on its wanted images already, since an earlier process had patched it,
   * as its restart shows; empty where nothing was to change, or that process alone has seen the restart.
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
  /** An abort of it was ordered, and is not carried out to its end. */
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
