import type { JournalTarget } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RunEventBody } from '../events.ts'
import type { TargetKey } from './target-key.ts'

/** A scope is written one call at a time. */
type ScopedTarget = Pick<JournalTarget, 'loadBalancer' | 'target' | 'scope'>

type EffectEvent = Extract<RunEventBody, { type: 'effect' }>

/** Calls to load balancers of which it is not known whether they were carried out, by pod and target. */
export interface Doubts {
  /** `lateForMs`: how long from now it may still arrive, or a job be done. */
  raise(uid: string, target: ScopedTarget, event: EffectEvent, lateForMs: number): void
  of(uid: string, target: TargetKey): EffectEvent | undefined
  /** What was accepted as a job. `isOver`: it takes longer than a job may. */
  jobOf(uid: string, target: TargetKey): { event: EffectEvent; isOver: boolean } | undefined
  /** A job on another target of the same scope is under way. */
  hasOtherJob(target: ScopedTarget): boolean
  /** It is known by now: an answer came, or it was seen to be done. */
  settle(uid: string, target: TargetKey): void
  /** Another call is about to be made. True where the one before it was not seen to be done and may still arrive. */
  overtake(uid: string, target: TargetKey): boolean
  /** A call of this pod that was not overtaken may still arrive. */
  isPending(uid: string): boolean
  /** One that was overtaken may. */
  hasOvertaken(uid: string): boolean
  /** Milliseconds until no call of this pod may arrive any more. */
  lateMs(uid: string): number
  /** No call may arrive any more. */
  areOver(): boolean
}

export function createDoubts(clock: Clock): Doubts {
  const doubts = new Map<string, { uid: string; event: EffectEvent; scope: string; until: number }>()
  /** By pod: of the calls that were overtaken, until when the last may arrive. */
  const lateUntil = new Map<string, number>()
  const keyOf = (uid: string, { loadBalancer, target }: TargetKey): string => JSON.stringify([uid, loadBalancer, target])

  const pendingUntil = (uid: string): number =>
    Math.max(0, ...Array.from(doubts.values(), (doubt) => (doubt.uid === uid ? doubt.until : 0)))

  return {
    raise: (uid, target, event, lateForMs) =>
      void doubts.set(keyOf(uid, target), { uid, event, scope: target.scope, until: clock.now() + lateForMs }),
    of: (uid, target) => doubts.get(keyOf(uid, target))?.event,
    jobOf(uid, target) {
      const doubt = doubts.get(keyOf(uid, target))
      if (doubt?.event.outcome !== 'pending') return undefined
      return { event: doubt.event, isOver: doubt.until <= clock.now() }
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
