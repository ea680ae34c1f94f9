import type { OverlookedPod } from '../reasons/run-reasons.ts'
import { several } from '../reasons/several.ts'
import type { Ledger } from '../journal/ledger.ts'
import { KubeError } from '../kube/errors.ts'
import { WorkloadError } from '../workloads/errors.ts'
import type { Reason } from '../reasons/reason.ts'
import { isTaken, reasonOf, RunError } from './errors.ts'
import type { PodResult, RunResult } from './events.ts'
import { isPassing } from './ledgers/until-answered.ts'
import type { Given } from './orders/obedience.ts'
import { endingOfAbort, hasFailedAndGone, isBrought, withOpenRecord, withOverlooked, worstOutcome } from './outcome.ts'
import type { RunRequest } from './request.ts'
import type { RestOfRun } from './rest-of-runs.ts'
import { isBehind, restReasons } from './rest-of-runs.ts'
import { isThere, shortageReasons } from './rollout/missing-pods.ts'
import { stillOnRelease } from './undoing.ts'
import type { World } from './world.ts'

export type Ending = Pick<RunResult, 'outcome' | 'reason' | 'holder'>

export const INTERRUPTED: Ending = { outcome: 'interrupted', reason: { code: 'stopped-before-done' } }

/** The parts of a run that exist before its pods' turn. */
export interface Begun {
  onRecord: boolean
  inTemplate: boolean
}

/** The outcome of a run: that of its pods, unless another cause has ended the run. */
export interface RunEnd {
  isInterrupted(): boolean
  /** Reports whether an abort is ordered, and no interrupt has come. */
  isAborted(): boolean
  /** Sets another cause for the end of the run. The first one counts. */
  because(ending: Ending): void
  /** Adds the pods that no machine has looked after to the outcome. */
  withOverlooked(pods: readonly PodResult[], overlooked: readonly OverlookedPod[]): void
  /** Replaces the outcome of an abort whose record could not be closed, so that the abort is not over. */
  withOpenRecord(pods: readonly PodResult[], trouble: Reason, error: unknown): void
  /** The outcome for an error before the pods' turn. Throws an error that says nothing of the run. */
  ofError(error: unknown, begun: Begun): Ending
  ofPods(pods: readonly PodResult[]): Ending
  /**
   * Reports whether all work of the run is done. An interrupted or held run may not have looked at its pods, and an abort has more to do. A
   * run of which this command asks for a part is not complete while other pods wait.
   */
  isComplete(pods: readonly PodResult[]): boolean
  /** The earlier runs that asked for the same images of pods which this run has not brought there. They stay open. */
  unended(pods: readonly PodResult[]): ReadonlySet<Ledger>
  readonly ending: Ending | undefined
}

export interface RunEndOptions {
  request: RunRequest
  world: World
  signal: AbortSignal
  /** The order that is carried out. */
  given(): Given | undefined
  /** Reports whether the pod asks for other images than before the run. */
  isOnNew(uid: string): boolean
  /** The rest of this run and of earlier ones, by their records. */
  rest(isBrought: (uid: string) => boolean): RestOfRun[]
}

export function createRunEnd({ request, world, signal, given, isOnNew, rest }: RunEndOptions): RunEnd {
  let ending: Ending | undefined

  const isInterrupted = (): boolean => ending?.outcome === 'interrupted'
  const isAborted = (): boolean => given()?.order === 'abort' && !isInterrupted()

  function ofError(error: unknown, begun: Begun): Ending {
    const reason = reasonOf(error)
    if (ending) return ending
    if (signal.aborted) return { outcome: 'interrupted', reason: { code: 'interrupted-before-start' } }
    const refused = begun.inTemplate ? 'failed' : 'refused'
    if (error instanceof RunError) {
      const { kind, holder } = error
      return { outcome: kind === 'preflight' ? refused : kind, reason, ...(holder === undefined ? {} : { holder }) }
    }
    if (error instanceof WorkloadError) {
      return { outcome: error.kind === 'conflict' || error.kind === 'deadline' ? error.kind : refused, reason }
    }
    if (!(error instanceof KubeError)) throw error
    // The run may be on record, or its template changed. The outcome must not say that nothing was changed.
    if (isPassing(error) && (begun.onRecord || begun.inTemplate)) return { outcome: 'deadline', reason }
    if (begun.inTemplate) return { outcome: refused, reason }
    throw error
  }

  /** The outcome of the pods. An interrupt or a pause does not change it where all pods have ended, or one needs an operator. */
  function ofPods(pods: readonly PodResult[]): Ending {
    const worst = worstOutcome(pods, stays)
    if (ending?.outcome === 'interrupted' || ending?.outcome === 'paused') {
      if (worst.outcome === 'needsOperator') return worst
      return worst.outcome === 'done' && isAllDone(pods) ? withRest(worst, pods) : ending
    }
    // A pod that needs an operator comes first in the outcome, also before another cause. Pipelines act on the outcome.
    if (ending && ending.outcome !== 'needsOperator' && worst.outcome === 'needsOperator')
      return { outcome: worst.outcome, reason: several(worst.reason, ending.reason) }
    if (ending) return ending
    if (isAborted()) return endingOfAbort(pods, { by: given()!.by, takesOver: request.abort !== undefined, isOnNew })
    const left = worst.outcome === 'done' || pods.some(hasFailedAndGone) ? notBegun(pods) : []
    if (left.length > 0) {
      const lacking = { code: 'not-begun', pods: left } as const
      if (worst.outcome === 'done') return { outcome: 'failed', reason: lacking }
      return { outcome: worst.outcome, reason: several(worst.reason, lacking) }
    }
    return worst.outcome === 'done' ? withRest(worst, pods) : worst
  }

  /**
   * The pods that the run should have begun with. A pod for which the run was held may be gone, so that no present pod tells of it. Without
   * such a pod, pods outside the plan came after the work was done.
   */
  function notBegun(pods: readonly PodResult[]): string[] {
    const told = new Set(pods.map(({ uid }) => uid))
    const planned = new Set(plannedPods(world).map(({ uid }) => uid))
    const isHeld = pods.some(({ before }) => before !== undefined)
    return Array.from(world.store.all()).flatMap(({ pod }) => {
      const isMeant = planned.has(pod.uid) || (isHeld && world.includes(pod))
      return isMeant && !told.has(pod.uid) && isBehind(pod, world) ? [pod.name] : []
    })
  }

  /** Reports whether the undone run did not change the pod. */
  function stays(uid: string): boolean {
    const pod = world.undoing() && world.store.get(uid)?.pod
    return pod !== undefined && world.imagesFor(pod).length === 0
  }

  /** Reports whether all pods of this command have ended well. */
  function isAllDone(pods: readonly PodResult[]): boolean {
    if (given()?.order === 'abort') return false
    const told = new Set(pods.map(({ uid }) => uid))
    const isLeft = plannedPods(world).some(({ uid }) => !told.has(uid) && world.store.get(uid) !== undefined)
    return !isLeft && pods.every(isBrought)
  }

  function restOf(pods: readonly PodResult[]): RestOfRun[] {
    const brought = new Set(pods.filter(isBrought).map(({ uid }) => uid))
    return rest((uid) => brought.has(uid))
  }

  function withRest(done: Ending, pods: readonly PodResult[]): Ending {
    return { ...done, reason: several(done.reason, ...restReasons(restOf(pods)), ...onRelease(), ...notServing()) }
  }

  /** The pods that do not serve at the end. A replacement that never started must be told, although a run changes nothing about it. */
  function notServing(): Reason[] {
    const views = Array.from(world.store.all(), ({ pod }) => pod)
    const unready = views.filter((pod) => world.includes(pod) && isThere(pod) && !pod.ready)
    // In a run by label the store does not have all pods of a workload.
    const owners = 'refs' in request.select ? world.workloads.map(({ workload }) => workload) : []
    const pods = unready.map(({ name }) => name)
    return [...(pods.length === 0 ? [] : [{ code: 'not-ready-at-end', pods } as const]), ...shortageReasons(owners, views)]
  }

  /** The pods that stay on the release that was undone. They are also told at the end, since some of them came after the plan. */
  function onRelease(): Reason[] {
    const undo = world.undoing()
    if (undo === undefined) return []
    const pods = Array.from(world.store.all(), ({ pod }) => pod).filter((pod) => world.includes(pod))
    return stillOnRelease(
      undo,
      world.workloads.map(({ workload }) => workload),
      pods,
    )
  }

  return {
    isInterrupted,
    isAborted,
    because(why) {
      ending ??= why
    },
    withOverlooked(pods, overlooked) {
      ending = withOverlooked(ofPods(pods), overlooked)
    },
    withOpenRecord(pods, trouble, error) {
      ending = withOpenRecord(ofPods(pods), { trouble, as: isTaken(error) ? 'conflict' : 'failed' })
    },
    ofError,
    ofPods,
    isComplete: (pods) => isAllDone(pods) && !restOf(pods).some(({ isOwn }) => isOwn),
    unended: (pods) => new Set(restOf(pods).flatMap(({ ledger, isOwn, staysOpen }) => (staysOpen && !isOwn ? [ledger] : []))),
    get ending() {
      return ending
    },
  }
}

/** The pods that the plan has work for. */
export function plannedPods(world: Pick<World, 'plan'>): { uid: string; pod: string }[] {
  return world
    .plan()
    .pods.filter(({ action }) => action !== 'skip')
    .map(({ uid, name }) => ({ uid, pod: name }))
}
