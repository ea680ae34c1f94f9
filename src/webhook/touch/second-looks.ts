import type { ControllerRules } from '../../endpoints/controller-rules.ts'
import type { Service } from '../../endpoints/objects.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { pause } from '../../kube/pause.ts'
import type { Leader } from '../../leadership/leader.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { ClusterChange, ServiceName } from '../cluster/cluster-index.ts'
import type { LiveClusterView } from '../cluster/open-cluster-view.ts'
import type { Decide } from '../decide/question.ts'
import type { RuleSet } from '../rules/rule-set.ts'
import { createLookQueue, keyOf } from './look-queue.ts'
import { type Reviewed, reviewObject } from './review-object.ts'
import { touch, type Touched } from './touch-object.ts'
import type { TouchEvent } from './touch-event.ts'
import { createTroubles, dueAt, isStuck, nextAttempt, type Trouble, type Troubles } from './troubles.ts'
import { type Wish, type WishedObject, wishedObjects, wishOf } from './wished-objects.ts'

export interface SecondLooksOptions {
  client: KubeClient
  clock: Clock
  random: Random
  view: Omit<LiveClusterView, 'settled' | 'ended'>
  /** The rules in force. Undefined until some are loaded. */
  rules(): RuleSet | undefined
  decide: Decide
  leader: Pick<Leader, 'isLeader' | 'assertLeader'>
  /** The controllers of endpoints of this cluster's version. Default: those of the newest version. */
  controllers?(): ControllerRules | undefined
  /** An object that is wrong for longer than this is touched: the write of a controller often comes first. Default: 5 s. */
  graceMs?: number
  /** The writes a second, on the average: those of one Service come at once. Default: 5. */
  rate?: number
  onEvent(event: TouchEvent): void
  signal: AbortSignal
}

/** The numbers of this replica. They are 0 while it does not lead. */
export interface SecondLookCounts {
  /** Services that wait for a look. */
  readonly waiting: number
  /** Objects that were wrong at the last look. */
  readonly wrong: number
  /** Objects that stay wrong after several touches. */
  readonly stuck: number
  /** Endpoints that a rule decides by facts of the request. They are not looked at again. */
  readonly unjudged: number
}

export interface SecondLooks {
  /** To be called with each change of the view. */
  onChange(services: readonly ServiceName[], change: ClusterChange): void
  /** To be called when other rules are in force. */
  onRules(): void
  /** To be called when this replica comes to lead, or leads no more. */
  onLeading(): void
  counts(): SecondLookCounts
  /** Resolves after the signal, once no write is under way. */
  ended: Promise<void>
}

const GRACE_MS = 5_000
const RATE = 5
/** Changes of a Service within this time are looked at together. */
const TOGETHER_MS = 250
/** Looks take at most this share of the time, since decisions about requests are made by the same process. */
const SHARE = 4
/** On a busy machine a look takes long, and most of that time is that of others. */
const LONGEST_REST_MS = 250
/** While objects cannot be read, or the rules are not loaded, the look is put off. */
const PUT_OFF_MS = 1_000

interface Looked {
  readonly troubles: Troubles
  unjudged: number
  /** Until then the controllers may still write the objects of the Service after the last touch of it. */
  writtenBy: number
  /** When a look last ended, and how long it took. */
  endedAt: number
  tookMs: number
}

/**
 * Looks again at stored objects when something changes that their decisions rest on, and has those rewritten that stay wrong. Each look
 * decides anew from what is stored, what the controllers wish and what the rules say now, so that a look too many changes nothing.
 */
export function startSecondLooks(options: SecondLooksOptions): SecondLooks {
  const { client, clock, random, view, rules, decide, leader, signal, onEvent } = options
  const { graceMs = GRACE_MS, rate = RATE } = options
  const looked = new Map<string, Looked>()
  const wishes = new Map<string, { service: Service; wish: Wish | undefined; nodes: boolean }>()
  const queue = createLookQueue({ clock, rate, signal })

  function later(name: ServiceName, delayMs: number): void {
    if (!signal.aborted && leader.isLeader()) queue.later(name, delayMs)
  }

  /** Changes of a large Service are looked at less often, since each look costs more. */
  function soon(name: ServiceName): void {
    const before = looked.get(keyOf(name))
    const leastMs = before === undefined ? 0 : before.endedAt + SHARE * before.tookMs - clock.now()
    later(name, Math.max(TOGETHER_MS, leastMs))
  }

  function all(): void {
    for (const { metadata } of view.services()) later({ namespace: metadata.namespace, name: metadata.name }, 0)
  }

  function forget(): void {
    queue.clear()
    looked.clear()
  }

  function wishFor(service: Service): Wish | undefined {
    const key = keyOf(service.metadata)
    const nodes = view.states().some(({ kind, isListed }) => kind === 'nodes' && isListed)
    const known = wishes.get(key)
    if (known?.service === service && known.nodes === nodes) return known.wish
    const wish = wishOf(service, view, nodes, options.controllers?.())
    wishes.set(key, { service, wish, nodes })
    return wish
  }

  function lookedAt(key: string): Looked {
    const known = looked.get(key)
    if (known !== undefined) return known
    const troubles = createTroubles({ clock, random, graceMs })
    const fresh = { troubles, unjudged: 0, writtenBy: 0, endedAt: 0, tookMs: 0 }
    looked.set(key, fresh)
    return fresh
  }

  /** Looks at the objects of a Service, and touches those that are due together, where the rate allows it. */
  async function look(name: ServiceName): Promise<void> {
    const key = keyOf(name)
    const service = view.service(name.namespace, name.name)
    const inForce = rules()
    if (service === undefined) {
      looked.delete(key)
      wishes.delete(key)
      return
    }
    if (inForce === undefined || !view.isListed() || !view.isCurrent(name.namespace)) return later(name, PUT_OFF_MS)
    const state = lookedAt(key)
    const { troubles } = state
    let [tookMs, unjudged, isTouching] = [0, 0, false]
    let nextMs = Infinity
    troubles.begin()
    const wish = wishFor(service)
    for (const wished of wish === undefined ? [] : wishedObjects(service, wish, view)) {
      const sinceAt = clock.now()
      const reviewed = reviewObject(wished, { rules: inForce, view, decide, nowAt: clock.wallNow() })
      const reviewMs = clock.now() - sinceAt
      tookMs += reviewMs
      unjudged += reviewed.unjudged
      if (reviewed.againAt !== undefined) nextMs = Math.min(nextMs, Math.max(1, reviewed.againAt - clock.wallNow()))
      const { trouble, righted } = troubles.note(wished, reviewed.wrong)
      if (righted !== undefined) tellRighted(name, righted)
      if (trouble !== undefined) {
        const at = Math.max(dueAt(trouble), reviewed.way === 'service' ? state.writtenBy : 0)
        const isDue = clock.now() >= at
        // The EndpointSlice controller answers each change of a slice by a write of all slices that differ from its wish, a second later.
        if (isDue && (isTouching || queue.mayTouch())) {
          isTouching = true
          if (reviewed.way === 'service') state.writtenBy = clock.now() + graceMs
          await rewrite(service, wished, reviewed, troubles, trouble)
          nextMs = Math.min(nextMs, dueAt(trouble) - clock.now())
        } else if (isDue) queue.touch(name)
        else nextMs = Math.min(nextMs, at - clock.now())
      }
      // A large Service is looked at in parts, so that requests are answered in between.
      await pause(clock, Math.min(LONGEST_REST_MS, (SHARE - 1) * reviewMs), signal)
      if (signal.aborted || !leader.isLeader()) return
    }
    const forgottenAt = troubles.end()
    if (forgottenAt !== undefined) nextMs = Math.min(nextMs, forgottenAt - clock.now())
    Object.assign(state, { tookMs, unjudged, endedAt: clock.now() })
    if (nextMs < Infinity) later(name, Math.max(1, nextMs))
  }

  function tellRighted({ namespace, name: service }: ServiceName, { kind, name, attempts, sinceAt }: Trouble): void {
    if (attempts === 0) return
    onEvent({ type: 'righted', kind, namespace, name, service, attempts, afterMs: Math.round(clock.now() - sinceAt) })
  }

  async function rewrite(
    service: Service,
    { kind, name, stored }: WishedObject,
    { way, wrong }: Reviewed,
    troubles: Troubles,
    trouble: Trouble,
  ): Promise<void> {
    const { namespace } = service.metadata
    const of = { kind, namespace, name, service: service.metadata.name }
    const target = (way === 'service' ? { kind: 'Service', ...service } : { kind, metadata: stored.metadata }) as Touched
    const attempt = nextAttempt(trouble)
    queue.take()
    let isCounted = true
    try {
      await touch(target, { client, at: clock.wallNow(), assertMay: () => leader.assertLeader() })
      trouble.failures = 0
      onEvent({ type: 'touched', ...of, way, attempt, wrong: wrong.length })
    } catch (error) {
      if (signal.aborted) return
      trouble.failures += 1
      // A controller may have written the object since the look. The next look decides anew; a refusal that lasts counts.
      const mayBeOld = error instanceof KubeError && [404, 409, 422].includes(error.status ?? 0)
      isCounted = !mayBeOld || trouble.failures > 1
      onEvent({ type: 'touch-failed', ...of, way, attempt, failures: trouble.failures, mayBeOld, error: error as Error })
    }
    if (!isCounted) return troubles.putOff(trouble)
    if (!troubles.count(trouble)) return
    const sinceMs = Math.round(clock.now() - trouble.sinceAt)
    onEvent({ type: 'touches-without-effect', ...of, attempts: attempt, sinceMs })
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      if (!leader.isLeader()) forget()
      const one = queue.next()
      if (one === undefined) {
        await queue.idle()
        continue
      }
      try {
        await look(one)
      } catch (error) {
        const { namespace, name: service } = one
        onEvent({ type: 'look-failed', namespace, service, error: error as Error })
      }
    }
    forget()
  }

  const wrong = (): Trouble[] => [...looked.values()].flatMap(({ troubles }) => troubles.objects())
  const ended = run()
  return {
    onChange(services, { kind }) {
      const isOfWish = kind === 'Pod' || kind === 'Node' || kind === 'Service'
      for (const name of services) {
        if (isOfWish) wishes.delete(keyOf(name))
        soon(name)
      }
    },
    onRules: all,
    onLeading() {
      if (leader.isLeader()) all()
      else forget()
      queue.wake()
    },
    counts: () => ({
      waiting: queue.size(),
      wrong: wrong().length,
      stuck: wrong().filter(isStuck).length,
      unjudged: [...looked.values()].reduce((sum, { unjudged }) => sum + unjudged, 0),
    }),
    ended,
  }
}
