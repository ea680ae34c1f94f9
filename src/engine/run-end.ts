import { KubeError } from '../kube/errors.ts'
import { asksFor } from '../pods/baseline.ts'
import { WorkloadError } from '../workloads/errors.ts'
import { messageOf, RunError } from './errors.ts'
import type { PodResult, RunResult } from './events.ts'
import type { Given } from './orders/obedience.ts'
import { endingOfAbort, isBrought, withOverlooked, worstOutcome } from './outcome.ts'
import type { RunRequest } from './request.ts'
import type { World } from './world.ts'

export type Ending = Pick<RunResult, 'outcome' | 'reason' | 'holder'>

export const INTERRUPTED: Ending = { outcome: 'interrupted', reason: 'stopped before every pod was done' }

/** How a run ends: as its pods do, unless something else has ended it. */
export interface RunEnd {
  isInterrupted(): boolean
  /** It is ordered, and nothing has come in between. */
  isAborted(): boolean
  /** Why the run ends otherwise than its pods do. The first reason counts. */
  because(ending: Ending): void
  /** Pods that nobody has looked after, whatever else there was. */
  withOverlooked(pods: readonly PodResult[], overlooked: readonly string[]): void
  /** What an error means that comes before the pods' turn. Throws one that says nothing of the run. */
  ofError(error: unknown, isTemplateWritten: boolean): Ending
  ofPods(pods: readonly PodResult[]): Ending
  /**
   * All that was to be done is. One that was interrupted, or held, as it began has not even looked at its pods; and what an
   * abort is to do is more than what it does with those.
   */
  isComplete(pods: readonly PodResult[]): boolean
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
}

export function createRunEnd({ request, world, signal, given, isOnNew }: RunEndOptions): RunEnd {
  let ending: Ending | undefined

  const isInterrupted = (): boolean => ending?.outcome === 'interrupted'
  const isAborted = (): boolean => given()?.order === 'abort' && !isInterrupted()

  function ofError(error: unknown, isTemplateWritten: boolean): Ending {
    const reason = messageOf(error)
    if (ending) return ending
    if (signal.aborted) return { outcome: 'interrupted', reason: 'interrupted before any pod was touched' }
    const refused = isTemplateWritten ? 'failed' : 'refused'
    if (error instanceof RunError) {
      const { kind, holder } = error
      return { outcome: kind === 'preflight' ? refused : kind, reason, ...(holder === undefined ? {} : { holder }) }
    }
    if (error instanceof WorkloadError) {
      return { outcome: error.kind === 'conflict' || error.kind === 'deadline' ? error.kind : refused, reason }
    }
    if (isTemplateWritten && error instanceof KubeError) return { outcome: refused, reason }
    throw error
  }

  /** An interrupt, or a pause, changes nothing for a run whose pods all came to their end, or one of which needs a person. */
  function ofPods(pods: readonly PodResult[]): Ending {
    const worst = worstOutcome(pods)
    if (ending?.outcome === 'interrupted' || ending?.outcome === 'paused') {
      if (worst.outcome === 'needsOperator') return worst
      return worst.outcome === 'done' && isComplete(pods) ? worst : ending
    }
    // Nor does what else keeps a run from its end: whoever branches on how it ended would never hear of the pod.
    if (ending && ending.outcome !== 'needsOperator' && worst.outcome === 'needsOperator')
      return { outcome: worst.outcome, reason: `${worst.reason}; ${ending.reason}` }
    if (ending) return ending
    if (!isAborted()) return worst.outcome === 'done' ? (notBegun(pods) ?? worst) : worst
    return endingOfAbort(pods, { by: given()!.by, takesOver: request.abort !== undefined, isOnNew })
  }

  /** Found by simulation (harsh seed 4102486): the pod that a run was held for is gone, and its heir on the new images. */
  function notBegun(pods: readonly PodResult[]): Ending | undefined {
    const told = new Set(pods.map(({ uid }) => uid))
    const left = plannedPods(world).filter(({ uid }) => {
      const pod = world.store.get(uid)?.pod
      return pod && !told.has(uid) && !pod.deleting && !pod.finished && !asksFor(pod, world.imagesFor(pod))
    })
    if (left.length === 0) return undefined
    return {
      outcome: 'failed',
      reason: `not begun: ${left.map(({ pod }) => pod).join(', ')}, since a pod failed that is gone by now`,
    }
  }

  function isComplete(pods: readonly PodResult[]): boolean {
    if (given()?.order === 'abort') return false
    const told = new Set(pods.map(({ uid }) => uid))
    const isLeft = plannedPods(world).some(({ uid }) => !told.has(uid) && world.store.get(uid) !== undefined)
    return !isLeft && pods.every(isBrought)
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
    ofError,
    ofPods,
    isComplete,
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
