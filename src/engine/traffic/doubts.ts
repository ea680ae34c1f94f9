import type { JournalTarget } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RunEventBody } from '../events.ts'
import type { TargetKey } from './target-key.ts'

/** A target with its scope, which is written one call at a time. */
type ScopedTarget = Pick<JournalTarget, 'loadBalancer' | 'target' | 'scope'>

type EffectEvent = Extract<RunEventBody, { type: 'effect' }>

interface DoubtTimes {
  /** The time of the request on the monotonic clock. Absent where another process may have made the request. */
  askedAt?: number | undefined
  /** The time for which the call may still arrive, or its job may still be done, in milliseconds. */
  lateForMs: number
}

/** The calls to load balancers with an unknown result, by pod and target. */
export interface Doubts {
  raise(uid: string, target: ScopedTarget, event: EffectEvent, times: DoubtTimes): void
  /** The doubtful call, with its duration until now. */
  of(uid: string, target: TargetKey): EffectEvent | undefined
  /** The accepted job, with its duration until now. `isOver`: the job takes longer than a job may. */
  jobOf(uid: string, target: TargetKey): { event: EffectEvent; isOver: boolean; askedAt: number | undefined } | undefined
  /** Reports whether a job on another target of the same scope is under way. */
  hasOtherJob(target: ScopedTarget): boolean
  /** The result is known: an answer came, or the effect was seen. */
  settle(uid: string, target: TargetKey): void
  /** Notes that another call is about to be made. True where the earlier call was not seen to be done, and may still arrive. */
  overtake(uid: string, target: TargetKey): boolean
  /** Reports whether a call of this pod that was not overtaken may still arrive. */
  isPending(uid: string): boolean
  /** Reports whether an overtaken call of this pod may still arrive. */
  hasOvertaken(uid: string): boolean
  /** The milliseconds until no call of this pod may arrive any more. */
  lateMs(uid: string): number
  /** Reports whether no call may arrive any more. */
  areOver(): boolean
}

interface Doubt {
  uid: string
  event: EffectEvent
  scope: string
  askedAt: number | undefined
  until: number
}

export function createDoubts(clock: Clock): Doubts {
  const doubts = new Map<string, Doubt>()
  /** The time until which overtaken calls may arrive, by pod. */
  const lateUntil = new Map<string, number>()
  const keyOf = (uid: string, { loadBalancer, target }: TargetKey): string => JSON.stringify([uid, loadBalancer, target])

  const pendingUntil = (uid: string): number =>
    Math.max(0, ...Array.from(doubts.values(), (doubt) => (doubt.uid === uid ? doubt.until : 0)))

  function eventOf({ event, askedAt }: Doubt): EffectEvent {
    const { durationMs: _, ...rest } = event
    return askedAt === undefined ? rest : { ...rest, durationMs: Math.round(clock.now() - askedAt) }
  }

  return {
    raise: (uid, target, event, { askedAt, lateForMs }) =>
      void doubts.set(keyOf(uid, target), { uid, event, scope: target.scope, askedAt, until: clock.now() + lateForMs }),
    of(uid, target) {
      const doubt = doubts.get(keyOf(uid, target))
      return doubt && eventOf(doubt)
    },
    jobOf(uid, target) {
      const doubt = doubts.get(keyOf(uid, target))
      if (doubt?.event.outcome !== 'pending') return undefined
      return { event: eventOf(doubt), isOver: doubt.until <= clock.now(), askedAt: doubt.askedAt }
    },
    hasOtherJob: ({ loadBalancer, target, scope }) =>
      Array.from(doubts.values()).some(
        ({ event, until, ...doubt }) =>
          event.outcome === 'pending' &&
          until > clock.now() &&
          event.loadBalancer === loadBalancer &&
          doubt.scope === scope &&
          event.target !== target,
      ),
    settle: (uid, target) => void doubts.delete(keyOf(uid, target)),
    overtake(uid, target) {
      const doubt = doubts.get(keyOf(uid, target))
      if (doubt?.event.outcome !== 'ambiguous') return false
      lateUntil.set(uid, Math.max(lateUntil.get(uid) ?? 0, doubt.until))
      return true
    },
    isPending: (uid) => pendingUntil(uid) > clock.now(),
    hasOvertaken: (uid) => (lateUntil.get(uid) ?? 0) > clock.now(),
    lateMs: (uid) => Math.max(0, Math.max(lateUntil.get(uid) ?? 0, pendingUntil(uid)) - clock.now()),
    areOver: () =>
      [...lateUntil.values(), ...Array.from(doubts.values(), ({ until }) => until)].every((until) => until <= clock.now()),
  }
}
