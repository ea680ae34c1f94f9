import type { KubeClient } from '../../kube/client.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ClusterIndex } from '../cluster/cluster-index.ts'
import type { EndpointsKind } from '../cluster/cluster-view.ts'
import type { Decide } from '../decide/question.ts'
import type { RuleSet } from '../rules/rule-set.ts'
import { reviewObject, type TouchWay } from './review-object.ts'
import { touch, type Touched } from './touch-object.ts'
import { wishedObjects, wishOf } from './wished-objects.ts'

/** An object that is to be rewritten. */
export interface PlannedTouch {
  readonly kind: EndpointsKind
  readonly namespace: string
  readonly name: string
  readonly service: string
  readonly way: TouchWay
  /** The endpoints that are stored otherwise than the rules want them. */
  readonly wrong: number
  /** What the write changes: the object, or its Service. */
  readonly target: Touched
}

export interface TouchPlan {
  readonly touches: readonly PlannedTouch[]
  /** The objects that were looked at. */
  readonly objects: number
  /** The endpoints that a rule decides by facts of the request. */
  readonly unjudged: number
}

export interface PlanOptions {
  view: ClusterIndex
  rules: RuleSet
  decide: Decide
  /** In milliseconds since 1970. */
  nowAt: number
  knowsNodes: boolean
  /** Rewrites each object that controllers of Kubernetes make, and not the wrong ones alone. */
  takesAll: boolean
}

/** The objects that are stored otherwise than these rules want them. Decides once, and writes nothing. */
export function planTouches({ view, rules, decide, nowAt, knowsNodes, takesAll }: PlanOptions): TouchPlan {
  const touches: PlannedTouch[] = []
  let [objects, unjudged] = [0, 0]
  for (const service of view.services()) {
    const wish = wishOf(service, view, knowsNodes)
    const { namespace } = service.metadata
    for (const wished of wish === undefined ? [] : wishedObjects(service, wish, view)) {
      const { kind, name, stored } = wished
      const { way, wrong, unjudged: more } = reviewObject(wished, { rules, view, decide, nowAt })
      objects += 1
      unjudged += more
      if (wrong.length === 0 && !takesAll) continue
      const target = (way === 'service' ? { kind: 'Service', ...service } : { kind, metadata: stored.metadata }) as Touched
      touches.push({ kind, namespace, name, service: service.metadata.name, way, wrong: wrong.length, target })
    }
  }
  return { touches, objects, unjudged }
}

export interface TouchAllOptions {
  client: KubeClient
  clock: Clock
  /** The writes a second. */
  rate: number
  signal: AbortSignal
  /** Called after each write. `error` is set where it failed. */
  onTouched(touched: PlannedTouch, error?: Error): void
}

/** Makes the writes at the rate, one for each Service and object. Ends with the signal. Returns the number of failed writes. */
export async function makeTouches(plan: TouchPlan, { client, clock, rate, signal, onTouched }: TouchAllOptions): Promise<number> {
  let failed = 0
  const made = new Set<string>()
  for (const one of plan.touches) {
    const { kind, metadata } = one.target
    const key = `${kind}/${metadata.namespace}/${metadata.name}`
    // One write of a Service has all its objects rewritten.
    if (made.has(key)) {
      onTouched(one)
      continue
    }
    if (made.size > 0) await pause(clock, 1_000 / rate, signal)
    if (signal.aborted) return failed
    made.add(key)
    try {
      await touch(one.target, { client, at: clock.wallNow(), assertMay: () => signal.throwIfAborted() })
      onTouched(one)
    } catch (error) {
      failed += 1
      onTouched(one, error as Error)
    }
  }
  return failed
}
