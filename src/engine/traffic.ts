import type { Adapter, Call, Capabilities, Endpoint, Json, Target, TargetObservation } from '../../adapters/contract.ts'
import { AdapterError } from '../../adapters/contract.ts'
import type { CompareAnswer, EffectAnswer, RelocateAnswer, SnapshotAnswer } from '../../machines/pod-upgrade/ports.ts'
import { pause } from '../kube/pause.ts'
import type { Clock } from '../ports/clock.ts'
import type { Journal, JournalTarget, PodView, TrafficReading } from '../pods/glossary.ts'
import { createDoubts } from './doubts.ts'
import { answerOf, worst } from './effect-answer.ts'
import { messageOf } from './errors.ts'
import type { RunEventBody } from './events.ts'
import { createLastAnswers } from './last-answers.ts'
import { createOperations } from './operations.ts'
import type { LoadBalancer } from './request.ts'
import type { ScopeQueue } from './scope-queue.ts'
import { createScopeQueue } from './scope-queue.ts'
import { canonical, describeTarget, inFlightOf, isGone, isOut, together } from './traffic-reading.ts'

/** Milliseconds that one call to a load balancer may take before it is cut, and ambiguous. */
export const CALL_LIFE_MS = 10_000
/** From the moment that a call was cut without an answer until it is taken to arrive no more. */
const LATE_ARRIVAL_MS = 2 * CALL_LIFE_MS

/** For so long after it was asked for, that a target is out counts. */
const FRESH_MS = 1_000

/** After so long, an entry that is not there is asked for once more: a list may be short while its load balancer comes up. */
const GONE_FOR_MS = 2_000

/** A pod where its targets are looked for. */
export type Listener = Pick<PodView, 'uid' | 'name' | 'ip' | 'otherIps' | 'containers' | 'sidecarPorts'>

export type Found = { found: true; targets: { loadBalancer: string; target: Target }[] } | { found: false; reason: string }

interface EffectRequest {
  pod: string
  uid: string
  effect: 'drain' | 'restore'
  record: Journal
  /** Asked right before the call leaves, which may be long after this; where there is one, nothing is sent. */
  objection?: () => string | undefined
}

/** All load balancers of a run together: one pod's targets in all of them are one thing to the pod's machine. */
export interface Traffic {
  /** Where each pod is in the load balancers, in the order of the pods. Throws an AdapterError where one cannot be asked. */
  find(pods: readonly Listener[]): Promise<Found[]>
  snapshot(pod: Listener): Promise<SnapshotAnswer>
  /**
   * `wasOut`: one that cannot be read, and of which nothing is known, is taken to be out. `all`: those that an operator has
   * out are read as well, for `reclaimed`.
   */
  inspect(uid: string, targets: readonly JournalTarget[], how?: { wasOut: boolean; all?: true }): Promise<TrafficReading>
  compare(targets: readonly JournalTarget[]): Promise<CompareAnswer>
  effect(request: EffectRequest): Promise<EffectAnswer>
  relocate(pod: Listener, targets: readonly JournalTarget[]): Promise<RelocateAnswer>
  /** Milliseconds from the drain until no new request arrives, as the slowest of these says of itself. */
  settleMs(targets: readonly JournalTarget[]): number
  /** An effect on this pod's targets that nobody answered, and that another has followed, may still arrive. */
  hasOvertaken(uid: string): boolean
  /** Milliseconds until no effect on this pod's targets that nobody answered is under way any more. */
  lateMs(uid: string): number
  /**
   * Sends no further effect; resolves once none is under way: answered, or cut at the end of its life. False where one that
   * nobody answered may still arrive.
   */
  quiet(): Promise<boolean>
  /** One of these may forget a drain by itself. */
  isVolatile(targets: readonly JournalTarget[]): boolean
}

export interface TrafficOptions {
  clock: Clock
  loadBalancers: readonly LoadBalancer[]
  /** Pods in none of the load balancers are let through, with no targets. */
  allowUnbalanced: boolean
  /** Throws where this process may not act on the pod's behalf now. */
  assertOwned(uid: string): void
  tell(event: RunEventBody): void
}

export function createTraffic({ clock, loadBalancers, allowUnbalanced, assertOwned, tell }: TrafficOptions): Traffic {
  const byName = new Map(loadBalancers.map((loadBalancer) => [loadBalancer.name, loadBalancer]))
  const queues = new Map<string, ScopeQueue>()
  /** By target, the effect that is under way there, and all that wait for their turn behind it. */
  const underWay = new Map<string, Promise<unknown>>()
  const lastAnswers = createLastAnswers()
  /** What a target has read as since its last effect. */
  const lastRead = new Map<string, 'in' | 'out'>()
  /** By target: when a read-back that may be old (`inspect: eventual`) shows no more what was before the last effect. */
  const caughtUpAt = new Map<string, number>()
  /** Targets that were not there when they were asked for last. */
  const gone = new Set<string>()
  const doubts = createDoubts(clock)
  /** Effects that were begun, and by target which of them was its last. */
  let effects = 0
  const lastEffect = new Map<string, number>()
  const operations = createOperations()
  let ended = false

  function adapterOf(name: string): Adapter {
    const loadBalancer = byName.get(name)
    if (!loadBalancer)
      throw new AdapterError('engine', 'fatal', `the config has no load balancer "${name}", which this pod's record names`)
    return loadBalancer.adapter
  }

  /** A record may name a load balancer that is in the config no more: that shows where it is called. */
  function capabilitiesOf(targets: readonly JournalTarget[]): Capabilities[] {
    return targets.flatMap(({ loadBalancer, untouched }) => {
      const known = untouched ? undefined : byName.get(loadBalancer)
      return known ? [known.adapter.capabilities] : []
    })
  }

  function queueOf(target: Pick<JournalTarget, 'loadBalancer' | 'scope'>): ScopeQueue {
    const key = JSON.stringify([target.loadBalancer, target.scope])
    const queue =
      queues.get(key) ?? createScopeQueue({ clock, adapter: adapterOf(target.loadBalancer), callLifeMs: CALL_LIFE_MS })
    queues.set(key, queue)
    return queue
  }

  function isReadable({ loadBalancer }: JournalTarget): boolean {
    return adapterOf(loadBalancer).capabilities.inspect !== 'none'
  }

  /** As it is known, without asking for it now. */
  function stateOf(target: JournalTarget): 'in' | 'out' | undefined {
    return lastAnswers.stateOf(target) ?? target.said
  }

  function observe(target: JournalTarget, wasOut: boolean): Promise<TargetObservation> {
    if (isReadable(target)) return queueOf(target).inspect(plain(target))
    if (wasOut && lastAnswers.stateOf(target) === undefined) lastAnswers.note(target, 'out')
    return Promise.resolve(lastAnswers.observe(target))
  }

  /** What a person says counts where the load balancer does not: never against what it says itself. */
  async function observeOrBelieve(target: JournalTarget, wasOut: boolean): Promise<TargetObservation> {
    if (target.said === undefined) return observe(target, wasOut)
    const observation = await observe(target, wasOut).catch((error: unknown) => unreadable(messageOf(error)))
    if (observation.admin !== 'unknown') return observation
    const routable = target.said === 'in'
    return { admin: target.said, routable, inFlight: null, detail: 'as a person says; it cannot be read' }
  }

  /**
   * Found by reading: what one had said at once was ten seconds old by the time that another had answered, and a pod was patched
   * that had been put back meanwhile; or the process was stopped while the answer lay there. Asked once more, and no more than
   * that: one may always take its time. Only what is out: who is seen to get requests is to be drained now.
   * What is not there for the first time is asked for once more too, after a pause: by one short list a drained pod that was gone
   * was called settled, and its entry was out for good.
   */
  async function readTogether(targets: readonly JournalTarget[], wasOut: boolean): Promise<TargetObservation[]> {
    const read = async (target: JournalTarget): Promise<{ observation: TargetObservation; askedAt: number }> => {
      const askedAt = clock.now()
      // Found by simulation: that one could not be asked at this moment hid that another can never be.
      const observation = target.untouched
        ? await queueOf(target).inspect(plain(target))
        : await observeOrBelieve(target, wasOut).catch((error: unknown) => unreadable(messageOf(error)))
      return { observation, askedAt }
    }
    const readings = await Promise.all(targets.map(read))
    const isNew = ({ observation }: (typeof readings)[number], index: number): boolean =>
      isGone(observation) && !gone.has(keyOf(targets[index]!))
    if (readings.some(isNew)) await pause(clock, GONE_FOR_MS)
    const sinceMs = clock.now() - FRESH_MS
    const isStale = ({ observation, askedAt }: (typeof readings)[number]): boolean => askedAt < sinceMs && isOut(observation)
    const fresh = await Promise.all(readings.map((one, index) => (isStale(one) ? read(targets[index]!) : one)))
    return fresh.map(({ observation }, index) => {
      const key = keyOf(targets[index]!)
      if (isGone(observation)) gone.add(key)
      else gone.delete(key)
      return observation
    })
  }

  const call: Call = { deadlineMs: CALL_LIFE_MS, assertLive: () => {} }

  async function find(pods: readonly Listener[]): Promise<Found[]> {
    const found: Found[] = pods.map(() => ({ found: true, targets: [] }))
    for (const { name, adapter, port } of loadBalancers) {
      const located = pods.map((pod) => endpointOf(pod, port))
      const asked = located.flatMap((one, index) => (one.ok ? [{ ...one.endpoint, index }] : []))
      const resolutions = asked.length === 0 ? [] : await adapter.resolve(asked, call)
      if (resolutions.length !== asked.length)
        throw new AdapterError('engine', 'fatal', `${name} answered for ${resolutions.length} of ${asked.length} pods`)
      const answers = new Map(asked.map(({ index }, place) => [index, resolutions[place]!]))
      located.forEach((one, index) => {
        const resolution = answers.get(index)
        const before = found[index]!
        if (resolution?.found) {
          if (before.found) before.targets.push(...resolution.targets.map((target) => ({ loadBalancer: name, target })))
          return
        }
        // Let through without this load balancer; what the others have of it is drained all the same.
        if (allowUnbalanced && !resolution?.isThere) return
        found[index] = { found: false, reason: one.ok ? `${name}: ${resolution!.reason}` : one.reason }
      })
    }
    return found
  }

  async function snapshot(pod: Listener): Promise<SnapshotAnswer> {
    const before = effects
    // Its container may be about to come up for the first time.
    if (pod.ip === undefined) return { kind: 'unknown', message: `${pod.name} has no address yet` }
    try {
      const [found] = await find([pod])
      if (!found!.found) return { kind: 'absent', message: found!.reason }
      const targets = await Promise.all(
        found!.targets.map(async ({ loadBalancer, target }): Promise<JournalTarget> => {
          const { prior, inRotation } = await queueOf({ loadBalancer, scope: target.scope }).snapshot(target)
          const taken = { loadBalancer, target: target.id, scope: target.scope, prior, untouched: !inRotation }
          note(taken, inRotation ? 'in' : 'out', before)
          return taken
        }),
      )
      return { kind: 'taken', targets, address: pod.ip ?? '' }
    } catch (error) {
      if (error instanceof AdapterError && (error.kind === 'fatal' || error.kind === 'not-found'))
        return { kind: 'absent', message: error.message }
      return { kind: 'unknown', message: messageOf(error) }
    }
  }

  /**
   * What was asked for when there had been so many effects. Found by simulation: a pod that had to wait again was asked for
   * twice, and the first answer came after the drain. Found by reading: it was taken for the proof of a drain that was to come.
   */
  function isOvertaken(target: JournalTarget, before: number): boolean {
    return (lastEffect.get(keyOf(target)) ?? 0) > before
  }

  function note(target: JournalTarget, state: 'in' | 'out', before: number): void {
    if (isOvertaken(target, before)) return
    lastAnswers.note(target, state)
    lastRead.set(keyOf(target), state)
    operations.noteRead(target, state)
  }

  /**
   * Only what sluice may touch makes the state: an entry that an operator has out of rotation says nothing about the pod.
   * That he has put it back since is told beside it, and requests that are still under way there are counted.
   */
  async function inspect(
    uid: string,
    recorded: readonly JournalTarget[],
    { wasOut, all }: { wasOut: boolean; all?: true } = { wasOut: false },
  ): Promise<TrafficReading> {
    const targets = recorded.filter(({ untouched }) => !untouched)
    if (recorded.length === 0) return { state: 'out', inFlight: 0, detail: 'in no load balancer' }
    const before = effects
    try {
      // Found by reading: the answer took its time, and it was asked for too soon.
      const hadCaughtUp = new Set(targets.filter(hasCaughtUp))
      const operators = all ? recorded.filter((target) => target.untouched && isReadable(target)) : []
      const asked = await readTogether([...targets, ...operators], wasOut)
      const readings = asked.slice(0, targets.length)
      const leftAlone = asked.slice(targets.length)
      const reclaimed = reclaimedOf(operators, leftAlone)
      if (targets.length === 0)
        return { state: 'out', ...reclaimed, inFlight: inFlightOf(leftAlone), detail: 'out of rotation by an operator' }
      const isHidden = readings.some(({ admin }, index) => admin === 'unknown' && !isReadable(targets[index]!))
      const isOfNow = (target: JournalTarget): boolean =>
        hadCaughtUp.has(target) && hasCaughtUp(target) && !isOvertaken(target, before)
      const known = targets.map((target, index) => ({
        reading: readings[index]!,
        wasOut: wasOut || stateOf(target) === 'out' || lastRead.get(keyOf(target)) === 'out',
      }))
      confirm(uid, targets, readings, isOfNow)
      targets.forEach((target, index) => {
        const reading = readings[index]!
        // A call that is about to be made may be one that changes nothing, and that no read-back can then be a proof of.
        if (isReadable(target) && reading.admin !== 'unknown' && reading.admin !== 'absent' && isOfNow(target))
          note(target, isOut(reading) ? 'out' : 'in', before)
      })
      return {
        ...together(known),
        inFlight: inFlightOf([...readings, ...leftAlone]),
        ...(isHidden ? { hidden: true } : {}),
        ...reclaimed,
        ...(doubts.isPending(uid) ? { pending: true } : {}),
        ...(targets.every(isOfNow) ? {} : { old: true }),
        detail: readings.map((reading, index) => describeTarget(targets[index]!, reading)).join('; '),
      }
    } catch (error) {
      return { state: 'unknown', inFlight: null, detail: messageOf(error) }
    }
  }

  /** What an operator had out and has put back, in words. */
  function reclaimedOf(
    targets: readonly JournalTarget[],
    readings: readonly TargetObservation[],
  ): Pick<TrafficReading, 'reclaimed'> {
    const index = readings.findIndex(({ routable }) => routable)
    return index === -1 ? {} : { reclaimed: describeTarget(targets[index]!, readings[index]!) }
  }

  function confirm(
    uid: string,
    targets: readonly JournalTarget[],
    readings: readonly TargetObservation[],
    isOfNow: (target: JournalTarget) => boolean,
  ): void {
    targets.forEach((target, index) => {
      const reading = readings[index]!
      const doubt = doubts.of(uid, target)
      if (!doubt || !isReadable(target) || isOut(reading) !== (doubt.effect === 'drain')) return
      // What is not there says nothing of a call: one 404 of a gateway, or one short list, is no drain.
      if (reading.admin === 'unknown' || reading.admin === 'absent') return
      // Found by simulation (harsh seed 3909822): an operator had had it out a moment before, and the drain came when it was settled.
      if (!isOfNow(target)) return
      doubts.settle(uid, target)
      operations.noteDone(target, doubt.operation, doubt.effect)
      tell({ ...doubt, outcome: 'confirmed', detail: describeTarget(target, reading) })
    })
  }

  function hasCaughtUp(target: JournalTarget): boolean {
    const { inspect: reads, settleMs } = adapterOf(target.loadBalancer).capabilities
    if (reads !== 'eventual') return true
    const key = keyOf(target)
    // An earlier process may have changed it a moment ago.
    const at = caughtUpAt.get(key) ?? clock.now() + settleMs
    caughtUpAt.set(key, at)
    return clock.now() >= at
  }

  async function compare(targets: readonly JournalTarget[]): Promise<CompareAnswer> {
    try {
      for (const target of targets.filter(({ untouched }) => !untouched)) {
        if (!isReadable(target)) {
          const state = stateOf(target)
          if (state === 'in') continue
          // Found by reading: a restore that had not left was not sent again, since nothing was to be seen of it.
          if (state === 'out')
            return { kind: 'different', message: `${target.loadBalancer}/${target.target} is out, by all that is known` }
          return { kind: 'unknown', message: `${target.loadBalancer}/${target.target} cannot be read back` }
        }
        // Also where it reads as it should: the next look at it, by whoever comes then, must not see it drained.
        if (!hasCaughtUp(target))
          return { kind: 'unknown', message: `what ${target.loadBalancer} says may be from before the restore` }
        const before = canonical(target.prior as Json)
        const now = target.said === 'in' ? before : canonical((await queueOf(target).snapshot(plain(target))).prior)
        if (now !== before) {
          const message = `${target.loadBalancer}/${target.target} is ${now}, it was ${before}`
          // One that answers at once and does it later; what somebody else has done to it is no drain.
          const { admin, routable } = await queueOf(target).inspect(plain(target))
          return { kind: 'different', message, ...(admin === 'draining' && !routable ? { drained: true } : {}) }
        }
        // Its own health checks may be behind the pod's: home is who gets requests, else the next pod leaves too early.
        const reading = await queueOf(target).inspect(plain(target))
        if (!reading.routable) return { kind: 'unknown', message: `it gets no requests: ${describeTarget(target, reading)}` }
      }
      return { kind: 'equal' }
    } catch (error) {
      return { kind: 'unknown', message: messageOf(error) }
    }
  }

  async function effect(request: EffectRequest): Promise<EffectAnswer> {
    const targets = request.record.targets.filter(({ untouched }) => !untouched)
    return worst(await Promise.all(targets.map((target) => inTurn(target, () => effectOn(target, request)))))
  }

  async function effectOn(target: JournalTarget, request: EffectRequest): Promise<EffectAnswer> {
    const { pod, uid, effect: kind, record } = request
    // Called again for the sake of another target: nobody could see what a second call does here.
    const isDone = stateOf(target) === (kind === 'drain' ? 'out' : 'in')
    // One that is in the config no more shows where it is called. What a person says is as it should be stays so.
    if (isDone && byName.has(target.loadBalancer) && (!isReadable(target) || target.said === 'in')) return { kind: 'applied' }
    // Found by simulation: another had to be put back once more, and this one, which nobody can read, got a second call with it.
    if (doubts.of(uid, target)?.effect === kind && !isReadable(target))
      return { kind: 'unknown', message: `${target.loadBalancer}: the ${kind} before has no answer, and cannot be read back` }
    lastEffect.set(keyOf(target), ++effects)
    // An answer may be wrong (seed 25545063): a restore of what was never out is seen to be done whatever becomes of the call.
    const wasReadOut = lastRead.get(keyOf(target)) === 'out'
    lastRead.delete(keyOf(target))
    const late = doubts.overtake(uid, target) ? ({ lateCall: true } as const) : {}
    const operation = operations.idOf(record, uid, kind, target)
    const event = {
      type: 'effect',
      uid,
      pod,
      loadBalancer: target.loadBalancer,
      target: target.target,
      effect: kind,
      operation,
    } as const
    try {
      const { result, batch } = await queueOf(target).effect({
        kind,
        target: plain(target),
        prior: target.prior as Json,
        operation,
        fence: record.epoch,
        assertLive() {
          if (ended) throw new AdapterError('engine', 'retryable', 'the run has ended')
          const objection = request.objection?.()
          if (objection !== undefined) throw new AdapterError('engine', 'retryable', objection)
          assertOwned(uid)
        },
      })
      if (result.outcome === 'failed') throw result.error
      const detail = result.outcome === 'applied' ? result.detail : undefined
      tell({ ...event, outcome: result.outcome, batch, ...(detail === undefined ? {} : { detail }) })
      doubts.settle(uid, target)
      if (result.outcome === 'applied') {
        lastAnswers.note(target, kind === 'drain' ? 'out' : 'in')
        operations.noteDone(target, operation, kind)
        return { kind: 'applied', ...late }
      }
      lastAnswers.forget(target)
      doubts.raise(uid, target, { ...event, outcome: 'pending', batch }, 0)
      return { kind: 'unknown', message: `job ${result.job} is under way` }
    } catch (error) {
      const answer = answerOf(error, kind)
      const outcome = answer.kind === 'unknown' ? 'ambiguous' : 'failed'
      const told = { ...event, outcome, batch: 1, detail: messageOf(error) } as const
      tell(told)
      if (answer.kind === 'unknown') {
        doubts.raise(uid, target, told, LATE_ARRIVAL_MS)
        lastAnswers.forget(target)
        // Found by simulation: it was done before this call, or a reload has done it since, so that reading it back says
        // nothing of the call itself.
        const { volatileOnReload } = adapterOf(target.loadBalancer).capabilities
        const isReadInVain = isDone || (kind === 'restore' && (volatileOnReload || (isReadable(target) && !wasReadOut)))
        if (isReadInVain && doubts.overtake(uid, target)) return { ...answer, lateCall: true }
      }
      return { ...answer, ...late }
    } finally {
      caughtUpAt.delete(keyOf(target))
    }
  }

  /**
   * Found by reading: a drain after a reload was under way when a pod that had just been patched was to be put back. That was asked
   * for before anybody knew that the drain would have no answer, and nobody looked again when it came late.
   */
  async function inTurn<T>(target: JournalTarget, work: () => Promise<T>): Promise<T> {
    const key = keyOf(target)
    const own = underWay.get(key)?.then(work, work) ?? work()
    underWay.set(key, own)
    try {
      return await own
    } finally {
      if (underWay.get(key) === own) underWay.delete(key)
    }
  }

  async function relocate(pod: Listener, targets: readonly JournalTarget[]): Promise<RelocateAnswer> {
    try {
      const [found] = await find([pod])
      if (!found!.found)
        return { kind: 'elsewhere', message: `at its new address ${pod.ip ?? ''} it is in no load balancer: ${found!.reason}` }
      const now = found!.targets
      const renamed = targets.map((before): JournalTarget | undefined => {
        const { entryOf = ({ id }: Target) => id } = adapterOf(before.loadBalancer)
        const same = now.find(
          ({ loadBalancer, target }) =>
            loadBalancer === before.loadBalancer && target.scope === before.scope && entryOf(target) === entryOf(plain(before)),
        )
        return same && { ...before, target: same.target.id }
      })
      const kept = renamed.filter((target) => target !== undefined)
      if (kept.length === targets.length && now.length === kept.length)
        return { kind: 'same', address: pod.ip ?? '', targets: kept }
      const names = now.map(({ loadBalancer, target }) => `${loadBalancer}/${target.id}`)
      return {
        kind: 'elsewhere',
        message: `at its new address ${pod.ip ?? ''} it is ${names.length === 0 ? 'in no load balancer' : names.join(', ')}`,
      }
    } catch (error) {
      return { kind: 'unknown', message: messageOf(error) }
    }
  }

  return {
    find,
    snapshot,
    inspect,
    compare,
    effect,
    relocate,
    settleMs: (targets) => Math.max(0, ...capabilitiesOf(targets).map(({ settleMs }) => settleMs)),
    hasOvertaken: doubts.hasOvertaken,
    lateMs: doubts.lateMs,
    async quiet() {
      ended = true
      await Promise.allSettled(underWay.values())
      return doubts.areOver()
    },
    isVolatile: (targets) => capabilitiesOf(targets).some(({ volatileOnReload }) => volatileOnReload),
  }
}

function endpointOf(
  { uid, name, ip, otherIps, containers, sidecarPorts = [] }: Listener,
  port: number | string,
): { ok: true; endpoint: Endpoint } | { ok: false; reason: string } {
  if (ip === undefined) return { ok: false, reason: `${name} has no address yet` }
  const ports = [...containers.flatMap((container) => container.ports), ...sidecarPorts]
  const number = typeof port === 'number' ? port : ports.find((one) => one.name === port)?.port
  if (number === undefined) return { ok: false, reason: `no container of ${name} has a port named "${port}"` }
  return { ok: true, endpoint: { uid, pod: name, address: ip, ...(otherIps ? { otherAddresses: otherIps } : {}), port: number } }
}

function plain({ target, scope }: JournalTarget): Target {
  return { id: target, scope }
}

function keyOf({ loadBalancer, target }: JournalTarget): string {
  return JSON.stringify([loadBalancer, target])
}

function unreadable(detail: string): TargetObservation {
  return { admin: 'unknown', routable: true, inFlight: null, detail }
}
