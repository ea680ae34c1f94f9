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
import { type Reviewed, reviewObject } from './review-object.ts'
import { touch, type Touched } from './touch-object.ts'
import type { TouchEvent } from './touch-event.ts'
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
  /** The writes a second. Default: 5. */
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
/** While objects cannot be read, or the rules are not loaded, the look is put off. */
const PUT_OFF_MS = 1_000
const LONGEST_BACKOFF_MS = 600_000
/** After so many touches an object counts as one that cannot be made right. */
const STUCK_AFTER = 4
/** An object that stays right for this long, and for longer than its back-off, begins anew. */
const FORGOTTEN_AFTER_MS = 60_000
/** A timer cannot wait for longer than 24 days. */
const LONGEST_WAIT_MS = 3_600_000

/** The history of one object that is, or was, wrong. */
interface Trouble {
  readonly kind: WishedObject['kind']
  readonly name: string
  sinceAt: number
  attempts: number
  /** No touch before this instant. */
  notBefore: number
  backoffMs: number
  rightAt: number | undefined
  isTold: boolean
}

interface Looked {
  readonly service: Service
  readonly troubles: Map<string, Trouble>
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
  /** The Services whose look is due, in their order. */
  const due = new Map<string, ServiceName>()
  const timers = new Map<string, { at: number; handle: unknown }>()
  /** The Services with an object to touch, in their order. */
  const toTouch = new Map<string, ServiceName>()
  let slotAt = Number.NEGATIVE_INFINITY
  let wake = (): void => {}

  function later(name: ServiceName, delayMs: number): void {
    if (signal.aborted || !leader.isLeader()) return
    const key = keyOf(name)
    const at = clock.now() + Math.min(delayMs, LONGEST_WAIT_MS)
    const timer = timers.get(key)
    if (due.has(key) || (timer !== undefined && timer.at <= at)) return
    clock.clearTimeout(timer?.handle)
    const handle = clock.setTimeout(() => {
      timers.delete(key)
      due.set(key, name)
      wake()
    }, at - clock.now())
    timers.set(key, { at, handle })
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
    for (const { handle } of timers.values()) clock.clearTimeout(handle)
    timers.clear()
    due.clear()
    toTouch.clear()
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

  async function rest(sinceAt: number): Promise<void> {
    await pause(clock, (SHARE - 1) * (clock.now() - sinceAt), signal)
  }

  /** Looks at the objects of a Service, and touches one of those that are due where `mayTouch`. */
  async function look(name: ServiceName, mayTouch: boolean): Promise<void> {
    const key = keyOf(name)
    const service = view.service(name.namespace, name.name)
    const inForce = rules()
    if (service === undefined) {
      looked.delete(key)
      wishes.delete(key)
      return
    }
    if (inForce === undefined || !view.isListed() || !view.isCurrent(name.namespace)) return later(name, PUT_OFF_MS)
    const state = looked.get(key) ?? {
      service,
      troubles: new Map<string, Trouble>(),
      unjudged: 0,
      writtenBy: 0,
      endedAt: 0,
      tookMs: 0,
    }
    looked.set(key, state)
    let [tookMs, unjudged, isDone] = [0, 0, false]
    let nextMs = Infinity
    const seen = new Set<string>()
    const wish = wishFor(service)
    for (const wished of wish === undefined ? [] : wishedObjects(service, wish, view)) {
      const sinceAt = clock.now()
      const reviewed = reviewObject(wished, { rules: inForce, view, decide, nowAt: clock.wallNow() })
      tookMs += clock.now() - sinceAt
      unjudged += reviewed.unjudged
      if (reviewed.againAt !== undefined) nextMs = Math.min(nextMs, Math.max(1, reviewed.againAt - clock.wallNow()))
      const id = `${wished.kind}/${wished.name}${wished.stored === undefined ? '/missing' : ''}`
      seen.add(id)
      const trouble = judge(state, id, wished, reviewed, name)
      if (trouble !== undefined && trouble.rightAt === undefined) {
        if (reviewed.way === 'service') trouble.notBefore = Math.max(trouble.notBefore, state.writtenBy)
        const isDue = clock.now() >= trouble.notBefore
        if (isDue && mayTouch && !isDone) {
          isDone = true
          if (reviewed.way === 'service') state.writtenBy = clock.now() + graceMs
          await rewrite(service, wished, reviewed, trouble)
        } else if (isDue) toTouch.set(key, name)
        if (trouble.notBefore > clock.now()) nextMs = Math.min(nextMs, trouble.notBefore - clock.now())
      }
      // A large Service is looked at in parts, so that requests are answered in between.
      await rest(sinceAt)
      if (signal.aborted || !leader.isLeader()) return
    }
    for (const [id, trouble] of state.troubles) if (!seen.has(id)) setRight(state, id, trouble, name)
    Object.assign(state, { tookMs, unjudged, endedAt: clock.now() })
    if (nextMs < Infinity) later(name, nextMs)
  }

  function judge(
    state: Looked,
    id: string,
    { kind, name }: WishedObject,
    { wrong }: Reviewed,
    of: ServiceName,
  ): Trouble | undefined {
    const known = state.troubles.get(id)
    if (wrong === 0) {
      if (known !== undefined) setRight(state, id, known, of)
      return undefined
    }
    const now = clock.now()
    if (known === undefined) {
      const fresh = {
        kind,
        name,
        sinceAt: now,
        attempts: 0,
        notBefore: now + graceMs,
        backoffMs: 0,
        rightAt: undefined,
        isTold: false,
      }
      state.troubles.set(id, fresh)
      return fresh
    }
    if (known.rightAt !== undefined) {
      // An object that becomes wrong again soon is touched less and less often.
      known.rightAt = undefined
      known.notBefore = Math.max(known.notBefore, now + graceMs)
    }
    return known
  }

  function setRight(state: Looked, id: string, trouble: Trouble, { namespace, name: service }: ServiceName): void {
    const now = clock.now()
    if (trouble.rightAt === undefined) {
      trouble.rightAt = now
      const { kind, name, attempts, sinceAt } = trouble
      if (attempts > 0) onEvent({ type: 'righted', kind, namespace, name, service, attempts, afterMs: Math.round(now - sinceAt) })
    }
    const isOver = now - trouble.rightAt >= Math.max(FORGOTTEN_AFTER_MS, trouble.backoffMs)
    if (trouble.attempts === 0 || isOver) state.troubles.delete(id)
    else later({ namespace, name: service }, Math.max(FORGOTTEN_AFTER_MS, trouble.backoffMs))
  }

  async function rewrite(
    service: Service,
    { kind, name, stored }: WishedObject,
    { way, wrong }: Reviewed,
    trouble: Trouble,
  ): Promise<void> {
    const { namespace } = service.metadata
    const of = { kind, namespace, name, service: service.metadata.name, way }
    const target = (way === 'service' ? { kind: 'Service', ...service } : { kind, metadata: stored!.metadata }) as Touched
    const attempt = trouble.attempts + 1
    slotAt = clock.now() + 1_000 / rate
    const wholeMs = Math.min(LONGEST_BACKOFF_MS, graceMs * 2 ** attempt)
    const backoffMs = wholeMs * (0.75 + random.next() / 2)
    try {
      await touch(target, { client, at: clock.wallNow(), assertMay: () => leader.assertLeader() })
      count()
      onEvent({ type: 'touched', ...of, attempt, wrong })
    } catch (error) {
      // The object has changed since the look, by a controller as a rule. The next look decides anew.
      const isOld = error instanceof KubeError && [404, 409, 422].includes(error.status ?? 0)
      if (isOld) trouble.notBefore = clock.now() + graceMs
      else count()
      if (!isOld && !signal.aborted) onEvent({ type: 'touch-failed', ...of, attempt, error: error as Error })
    }

    function count(): void {
      Object.assign(trouble, { attempts: attempt, backoffMs, notBefore: clock.now() + backoffMs })
      if (attempt < STUCK_AFTER || trouble.isTold) return
      trouble.isTold = true
      const sinceMs = Math.round(clock.now() - trouble.sinceAt)
      onEvent({ type: 'touches-without-effect', kind, namespace, name, service: of.service, attempts: attempt, sinceMs })
    }
  }

  /** The next Service to look at. A touch that is due comes first, at the rate. */
  function next(): { name: ServiceName; mayTouch: boolean } | undefined {
    const some = clock.now() >= slotAt && toTouch.size > 0 ? toTouch : due
    for (const [key, name] of some) {
      some.delete(key)
      return { name, mayTouch: some === toTouch }
    }
    return undefined
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      if (!leader.isLeader()) forget()
      const one = next()
      if (one === undefined) {
        await idle()
        continue
      }
      try {
        await look(one.name, one.mayTouch)
      } catch (error) {
        const { namespace, name: service } = one.name
        onEvent({ type: 'look-failed', namespace, service, error: error as Error })
      }
    }
    forget()
  }

  /** Waits for a look that is due, or for the next touch at the rate. */
  async function idle(): Promise<void> {
    const over = new AbortController()
    const end = (): void => over.abort()
    wake = end
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
    const slotMs = toTouch.size > 0 ? Math.max(0, slotAt - clock.now()) : LONGEST_WAIT_MS
    await pause(clock, slotMs, over.signal)
    signal.removeEventListener('abort', end)
    wake = () => {}
  }

  const troubles = (): Trouble[] =>
    [...looked.values()].flatMap((one) => [...one.troubles.values()]).filter(({ rightAt }) => rightAt === undefined)
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
      wake()
    },
    counts: () => ({
      waiting: due.size + toTouch.size,
      wrong: troubles().length,
      stuck: troubles().filter(({ isTold }) => isTold).length,
      unjudged: [...looked.values()].reduce((sum, { unjudged }) => sum + unjudged, 0),
    }),
    ended,
  }
}

function keyOf({ namespace, name }: ServiceName): string {
  return `${namespace}/${name}`
}
