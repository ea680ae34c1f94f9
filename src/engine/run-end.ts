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

/** What there may be of a run already, before its pods' turn. */
export interface Begun {
  onRecord: boolean
  inTemplate: boolean
}

/** How a run ends: as its pods do, unless something else has ended it. */
export interface RunEnd {
  isInterrupted(): boolean
  /** It is ordered, and nothing has come in between. */
  isAborted(): boolean
  /** Why the run ends otherwise than its pods do. The first reason counts. */
  because(ending: Ending): void
  /** Pods that nobody has looked after, whatever else there was. */
  withOverlooked(pods: readonly PodResult[], overlooked: readonly OverlookedPod[]): void
  /** An abort is not over, whatever it was to end as: its record could not be closed. */
  withOpenRecord(pods: readonly PodResult[], trouble: Reason, error: unknown): void
  /** What an error means that comes before the pods' turn. Throws one that says nothing of the run. */
  ofError(error: unknown, begun: Begun): Ending
  ofPods(pods: readonly PodResult[]): Ending
  /**
   * All that was to be done is. One that was interrupted, or held, as it began has not even looked at its pods; and what an
   * abort is to do is more than what it does with those. Nor is one of which this command asks for a part, while others wait.
   */
  isComplete(pods: readonly PodResult[]): boolean
  /** Runs before it that asked for the same of pods that it has not brought there: those are not over with it. */
  unended(pods: readonly PodResult[]): ReadonlySet<Ledger>
  readonly ending: Ending | undefined
}

export interface RunEndOptions {
  request: RunRequest
  world: World
  signal: AbortSignal
  /** The order that is being obeyed. */
  given(): Given | undefined
  /** The pod asks for other images than it had before the run. */
  isOnNew(uid: string): boolean
  /** By the records of this run and of those before it: this command may be about some of their pods. */
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
    // Found by reading: nothing was touched, it was said, of a run that was on record, or whose template had its images.
    if (isPassing(error) && (begun.onRecord || begun.inTemplate)) return { outcome: 'deadline', reason }
    if (begun.inTemplate) return { outcome: refused, reason }
    throw error
  }

  /** An interrupt, or a pause, changes nothing for a run whose pods all came to their end, or one of which needs a person. */
  function ofPods(pods: readonly PodResult[]): Ending {
    const worst = worstOutcome(pods, stays)
    if (ending?.outcome === 'interrupted' || ending?.outcome === 'paused') {
      if (worst.outcome === 'needsOperator') return worst
      return worst.outcome === 'done' && isAllDone(pods) ? withRest(worst, pods) : ending
    }
    // Nor does what else keeps a run from its end: whoever branches on how it ended would never hear of the pod.
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
   * Found by simulation (harsh seed 4102486): the pod that a run was held for is gone, and its heir on the new images. And by
   * reading: or on the former ones, and in no plan. Without such a pod what is in no plan came when all was done.
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

  /** The run that is undone had nothing to do with it. */
  function stays(uid: string): boolean {
    const pod = world.undoing() && world.store.get(uid)?.pod
    return pod !== undefined && world.imagesFor(pod).length === 0
  }

  /** All that this command is about. */
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

  /**
   * Found by a breaker: the last pod was replaced before its turn, what came in its place never started, and the run was done, with
   * not a word of it. Nothing is to be done by a run for what the template has made, but whoever reads how it ended has to know.
   */
  function notServing(): Reason[] {
    const views = Array.from(world.store.all(), ({ pod }) => pod)
    const unready = views.filter((pod) => world.includes(pod) && isThere(pod) && !pod.ready)
    // By labels the store has not all pods of a workload.
    const owners = 'refs' in request.select ? world.workloads.map(({ workload }) => workload) : []
    const pods = unready.map(({ name }) => name)
    return [...(pods.length === 0 ? [] : [{ code: 'not-ready-at-end', pods } as const]), ...shortageReasons(owners, views)]
  }

  /** Here too: whoever reads how it ended has not read the plan, and one that came meanwhile is not in it. */
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

/** Those that the plan has something to do for. */
export function plannedPods(world: Pick<World, 'plan'>): { uid: string; pod: string }[] {
  return world
    .plan()
    .pods.filter(({ action }) => action !== 'skip')
    .map(({ uid, name }) => ({ uid, pod: name }))
}
