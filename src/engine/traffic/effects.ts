import type { Json } from '../../../adapters/contract.ts'
import type { EffectAnswer } from '../../../machines/pod-upgrade/ports.ts'
import type { Journal, JournalTarget } from '../../pods/glossary.ts'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import { reasonOf, Withheld } from '../errors.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RunEventBody } from '../events.ts'
import type { Balancers } from './balancers.ts'
import { CALL_LIFE_MS } from './scope-queues.ts'
import { answerOf, worst } from './effect-answer.ts'
import type { Knowledge } from './knowledge.ts'
import { keyOf, plain } from './target-key.ts'

/** The time after which a call that was cut without an answer can arrive no more. */
const LATE_ARRIVAL_MS = 2 * CALL_LIFE_MS

export interface EffectRequest {
  pod: string
  uid: string
  effect: 'drain' | 'restore'
  record: Journal
  /** An earlier process has recorded the intent, and may have sent the call. */
  isInherited?: boolean
  /**
   * The objection of the caller, asked right before the call leaves, which may be long after the request. With an objection, nothing is
   * sent.
   */
  objection?: () => Reason | undefined
}

/** The drains and restores: the calls that change a load balancer. */
export interface Effects {
  effect(request: EffectRequest): Promise<EffectAnswer>
  /**
   * Sends no further effect. Resolves once no effect is under way: answered, or cut at the end of its life. False where an effect without
   * an answer may still arrive.
   */
  quiet(): Promise<boolean>
}

export interface EffectsOptions {
  clock: Clock
  balancers: Balancers
  knowledge: Knowledge
  /** Throws where this process may not act for the pod now. */
  assertOwned(uid: string): void
  tell(event: RunEventBody): void
}

export function createEffects({ clock, balancers, knowledge, assertOwned, tell }: EffectsOptions): Effects {
  const { isReadable, queueOf } = balancers
  const { answers, doubts, operations, stateOf } = knowledge
  /** The running effect of each target, with the effects that wait behind it. */
  const underWay = new Map<string, Promise<unknown>>()
  /** The effects that this process was asked for, by kind and target. */
  const begun = new Set<string>()
  const intentOf = (kind: string, target: JournalTarget): string => JSON.stringify([kind, keyOf(target)])
  let ended = false

  function eventOf(target: JournalTarget, { pod, uid, effect, record }: EffectRequest) {
    const { loadBalancer } = target
    const operation = operations.idOf(record, uid, effect, target)
    return { type: 'effect', uid, pod, loadBalancer, target: target.target, effect, operation } as const
  }

  /**
   * Holds an effect back while a job is under way: sent again, it would be done twice, or be refused because of the job. An inherited
   * effect counts as a job at its first look. A job that takes longer than a job may becomes a doubt.
   */
  function holdBack(target: JournalTarget, request: EffectRequest): EffectAnswer | undefined {
    const { uid, effect: kind, isInherited = false } = request
    if (!balancers.has(target.loadBalancer) || !isReadable(target)) return undefined
    const { longestJobMs = 0 } = balancers.adapterOf(target.loadBalancer).capabilities
    const mayBeJob = longestJobMs > 0
    const isFirst = !begun.has(intentOf(kind, target))
    begun.add(intentOf(kind, target))
    if (isInherited && mayBeJob && isFirst) {
      doubts.raise(uid, target, { ...eventOf(target, request), outcome: 'pending', batch: 0 }, { lateForMs: longestJobMs })
    }
    const job = doubts.jobOf(uid, target)
    if (job && !job.isOver) {
      const reason = { code: 'job-accepted', loadBalancer: target.loadBalancer, effect: job.event.effect } as const
      // The job would take the target out after its restore.
      return job.event.effect === kind ? { kind: 'unknown', reason } : { kind: 'retryable', reason, lateCall: true }
    }
    if (job) {
      const reason = { code: 'job-overdue', longestMs: longestJobMs } as const
      const told = { ...job.event, outcome: 'ambiguous', reason } as const
      tell(told)
      doubts.raise(uid, target, told, { askedAt: job.askedAt, lateForMs: LATE_ARRIVAL_MS })
    }
    return doubts.hasOtherJob(target) ? { kind: 'retryable', reason: otherJob(target) } : undefined
  }

  async function effectOn(target: JournalTarget, request: EffectRequest): Promise<EffectAnswer> {
    const { uid, effect: kind, record } = request
    // The call is repeated for another target. On a target that cannot be read, the result of a second call would stay unseen.
    const isDone = stateOf(target) === (kind === 'drain' ? 'out' : 'in')
    // A load balancer that the config does not have any more shows the error at its call. A target that a person has stated to be right is
    // not called.
    if (isDone && balancers.has(target.loadBalancer) && (!isReadable(target) || target.said === 'in')) return { kind: 'applied' }
    // A doubtful call to a target that cannot be read is not repeated for the sake of another target.
    if (doubts.of(uid, target)?.effect === kind && !isReadable(target))
      return { kind: 'unknown', reason: { code: 'effect-unanswered', loadBalancer: target.loadBalancer, effect: kind } }
    const held = holdBack(target, request)
    if (held) return held
    // A restore of a target that was never read as out proves nothing: the target reads as in, whatever became of the call.
    const wasReadOut = knowledge.wasReadOut(target)
    knowledge.beginEffect(target)
    const late = doubts.overtake(uid, target) ? ({ lateCall: true } as const) : {}
    const event = eventOf(target, request)
    const { operation } = event
    const askedAt = clock.now()
    const tookMs = (): number => Math.round(clock.now() - askedAt)
    try {
      const { result, batch } = await queueOf(target).effect({
        kind,
        target: plain(target),
        prior: target.prior as Json,
        operation,
        fence: record.epoch,
        assertLive() {
          if (ended) throw new Withheld({ code: 'run-ended' })
          const objection = request.objection?.()
          if (objection !== undefined) throw new Withheld(objection)
          // A call that waited in the same queue may have become a job meanwhile.
          if (doubts.hasOtherJob(target)) throw new Withheld(otherJob(target))
          assertOwned(uid)
        },
      })
      if (result.outcome === 'failed') throw result.error
      const said = result.outcome === 'applied' ? result.detail : undefined
      tell({ ...event, outcome: result.outcome, batch, durationMs: tookMs(), ...(said === undefined ? {} : { said }) })
      doubts.settle(uid, target)
      if (result.outcome === 'applied') {
        answers.answer(target, kind === 'drain' ? 'out' : 'in')
        operations.noteDone(target, operation, kind)
        return { kind: 'applied', ...late }
      }
      answers.forget(target)
      const { longestJobMs = 0 } = balancers.adapterOf(target.loadBalancer).capabilities
      doubts.raise(uid, target, { ...event, outcome: 'pending', batch }, { askedAt, lateForMs: longestJobMs })
      return {
        kind: 'unknown',
        reason: { code: 'job-accepted', loadBalancer: target.loadBalancer, effect: kind, job: result.job },
        ...late,
      }
    } catch (error) {
      const answer = answerOf(error, kind)
      const outcome = answer.kind === 'unknown' ? 'ambiguous' : 'failed'
      const told = { ...event, outcome, batch: 1, durationMs: tookMs(), reason: reasonOf(error) } as const
      tell(told)
      if (answer.kind === 'unknown') {
        doubts.raise(uid, target, told, { askedAt, lateForMs: LATE_ARRIVAL_MS })
        answers.forget(target)
        // The effect was done before this call, or a reload has done it since. A read-back then proves nothing about this call.
        const { volatileOnReload } = balancers.adapterOf(target.loadBalancer).capabilities
        const isReadInVain = isDone || (kind === 'restore' && (volatileOnReload || (isReadable(target) && !wasReadOut)))
        if (isReadInVain && doubts.overtake(uid, target)) return { ...answer, lateCall: true }
      }
      return { ...answer, ...late }
    } finally {
      knowledge.endEffect(target)
    }
  }

  /**
   * Runs the effects of a target one after another. A restore that runs beside a drain could not know that the drain has no answer and may
   * arrive later.
   */
  async function afterOthers<T>(target: JournalTarget, work: () => Promise<T>): Promise<T> {
    const key = keyOf(target)
    const own = underWay.get(key)?.then(work, work) ?? work()
    underWay.set(key, own)
    try {
      return await own
    } finally {
      if (underWay.get(key) === own) underWay.delete(key)
    }
  }

  /** Groups the targets by turn. A drain begins with the lowest turn, a restore with the highest. */
  function inOrder(targets: readonly JournalTarget[], effect: 'drain' | 'restore'): JournalTarget[][] {
    const turns = Map.groupBy(targets, ({ loadBalancer }) => balancers.turnOf(loadBalancer))
    const ascending = [...turns].toSorted(([a], [b]) => a - b).map(([, some]) => some)
    return effect === 'drain' ? ascending : ascending.toReversed()
  }

  return {
    async effect(request) {
      const targets = request.record.targets.filter(({ untouched }) => !untouched)
      let answer: EffectAnswer = { kind: 'applied' }
      for (const some of inOrder(targets, request.effect)) {
        const ofTurn = await Promise.all(some.map((target) => afterOthers(target, () => effectOn(target, request))))
        answer = worst([answer, ...ofTurn])
        if (answer.kind !== 'applied') return answer
      }
      return answer
    },
    async quiet() {
      ended = true
      await Promise.allSettled(underWay.values())
      return doubts.areOver()
    },
  }
}

function otherJob({ loadBalancer, scope }: JournalTarget): ReasonOf<'other-job'> {
  return { code: 'other-job', loadBalancer, scope }
}
