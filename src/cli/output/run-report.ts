import type { MixedWorkload, PodOutcome, PodState, RunOutcome, RunResult } from '../../engine/events.ts'
import type { Plan } from '../../plan/plan.ts'
import { displayName } from '../../pods/workload-id.ts'
import { API_VERSION } from './api-version.ts'
import { EXIT, type ExitCode } from '../exit-codes.ts'

/** How a run ended, for `-o json`. Fields are added, never changed or removed, under one apiVersion. */
export interface RunReport {
  apiVersion: typeof API_VERSION
  kind: 'RunReport'
  run: string
  outcome: RunOutcome
  exitCode: ExitCode
  reason: string
  /** Who has the workload, where another run does. */
  holder?: string
  namespace: string
  workloads: string[]
  images: { container: string; image: string }[]
  /** ISO 8601, by the clock of this machine. */
  startedAt: string
  finishedAt: string
  pods: PodReport[]
  warnings: string[]
  guarantees: { loadBalancer: string; adapter: string; level: string }[]
  /** Present where an abort has left pods on other images than their template; `command` brings them to it where nothing else differs. */
  mixed?: MixedReport[]
  /**
   * Take the run back, one for each workload. Present where the run is no undo itself, and has ended as `failed` with a pod that
   * failed, or as `interrupted` with one that failed or is out.
   */
  undoCommands?: string[]
  /**
   * Bring pods to their template, where they differ from it in images alone; present where an abort has ended the run, and left a
   * template that somebody has edited.
   */
  templateCommands?: string[]
  /** Goes on where the run stopped; present exactly where there is something to go on with. */
  resumeCommand?: string
  /** Ends the run in place of going on with it. Present where it stays open with no pod half done: after a rollback, or a late drain. */
  endCommand?: string
  /** An abort was ordered, and interrupted: the order stands, and `resumeCommand` goes on with it. */
  abortStands?: true
  /** Who has paused the run that `resumeCommand` goes on with: until `liftCommand` it only waits. */
  pausedBy?: string
  /** Lifts that pause. */
  liftCommand?: string
}

export interface MixedReport extends MixedWorkload {
  command: string
}

export interface PodReport {
  pod: string
  uid: string
  outcome: PodOutcome
  reason: string
  /** Name of the deadline that passed. */
  deadline?: string
  /** Out of rotation by sluice when the run ended. */
  out: boolean
  /** It is upgraded, and an operator had it out of rotation before: it is left so, and `out` says nothing of that. */
  outBefore?: true
  /** It has failed on its way back to its former images, which the same command goes on with. */
  rollingBack?: true
  instructions?: string
  proof?: string
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
  warnings: readonly string[]
  mixed: readonly MixedReport[]
  /** Empty where there is nothing to take back. */
  undoCommands: readonly string[]
  /** Empty but after an abort that has ended the run with a conflict. */
  templateCommands?: readonly string[]
  /** The same command again; undefined where the run is over though it did not end well. */
  resumeCommand: string | undefined
  /** Undefined where it is over, or something is half done. */
  endCommand?: string | undefined
  /** An abort of it was ordered, and is not carried out to its end. */
  abortStands?: boolean
  /** Undefined where the run is not paused. */
  pause?: { by: string; liftCommand: string } | undefined
}

export function runReport(facts: RunFacts): RunReport {
  const { result, plan, exitCode, startedAt, finishedAt, warnings, mixed, undoCommands, templateCommands = [] } = facts
  const isOver = exitCode === EXIT.done || exitCode === EXIT.preflight || result.outcome === 'aborted'
  const resumeCommand = isOver ? undefined : facts.resumeCommand
  return {
    apiVersion: API_VERSION,
    kind: 'RunReport',
    run: result.run,
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
      out: pod.out,
      ...(pod.outBefore ? { outBefore: true } : {}),
      ...(pod.outcome === 'failed' && pod.hadFailed === 'rolledBack' && pod.out ? { rollingBack: true } : {}),
      ...(pod.instructions === undefined ? {} : { instructions: pod.instructions }),
      ...(pod.proof === undefined ? {} : { proof: pod.proof }),
      images: plan.pods.find(({ uid }) => uid === pod.uid)?.images ?? [],
      phasesMs: pod.phases,
    })),
    warnings: [...warnings],
    guarantees: plan.guarantees.map(({ loadBalancer, adapter, level }) => ({ loadBalancer, adapter, level })),
    ...(mixed.length === 0 ? {} : { mixed: [...mixed] }),
    ...(undoCommands.length === 0 ? {} : { undoCommands: [...undoCommands] }),
    ...(templateCommands.length === 0 ? {} : { templateCommands: [...templateCommands] }),
    ...(resumeCommand === undefined ? {} : { resumeCommand }),
    ...(resumeCommand === undefined || !facts.abortStands ? {} : { abortStands: true }),
    ...(isOver || facts.endCommand === undefined ? {} : { endCommand: facts.endCommand }),
    ...(resumeCommand === undefined || !facts.pause ? {} : { pausedBy: facts.pause.by, liftCommand: facts.pause.liftCommand }),
  }
}
