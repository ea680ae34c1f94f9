import type { JournalTarget } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Balancers } from './balancers.ts'
import type { Doubts } from './doubts.ts'
import { createDoubts } from './doubts.ts'
import type { LastAnswers } from './last-answers.ts'
import { createLastAnswers } from './last-answers.ts'
import type { Operations } from './operations.ts'
import { createOperations } from './operations.ts'
import { keyOf } from './target-key.ts'

/** What this process knows of the targets without asking: what it has done to them, and what they read as since. */
export interface Knowledge {
  readonly answers: LastAnswers
  readonly doubts: Doubts
  readonly operations: Operations
  /** As it is known, without asking for it now. */
  stateOf(target: JournalTarget): 'in' | 'out' | undefined
  /** It has been read as out since its last effect. */
  wasReadOut(target: JournalTarget): boolean
  /** How many effects there have been: for `isOvertaken`. */
  effects(): number
  /** An effect on it begins: what was read before says nothing any more. */
  beginEffect(target: JournalTarget): void
  /** One is over, however it ended: a read-back that may be old has to catch up with it. */
  endEffect(target: JournalTarget): void
  /** There has been an effect on it since there had been so many. */
  isOvertaken(target: JournalTarget, before: number): boolean
  /** It read as this when it was asked for, when there had been so many effects. */
  note(target: JournalTarget, state: 'in' | 'out', before: number): void
  /** A read-back that may be old (`inspect: eventual`) shows no more what was before the last effect. */
  hasCaughtUp(target: JournalTarget): boolean
  /** Its settle time since the last effect is over: what it reads as is the effect's doing. */
  hasSettled(target: JournalTarget): boolean
}

export function createKnowledge(clock: Clock, balancers: Balancers): Knowledge {
  const answers = createLastAnswers()
  const operations = createOperations()
  /** What a target has read as since its last effect. */
  const lastRead = new Map<string, 'in' | 'out'>()
  /** By target: from when on a read-back that may be old is of now. */
  const caughtUpAt = new Map<string, number>()
  /** Effects that were begun, and by target which of them was its last. */
  let effects = 0
  const lastEffect = new Map<string, number>()

  /**
   * Found by simulation: a pod that had to wait again was asked for twice, and the first answer came after the drain. Found by
   * reading: it was taken for the proof of a drain that was to come.
   */
  function isOvertaken(target: JournalTarget, before: number): boolean {
    return (lastEffect.get(keyOf(target)) ?? 0) > before
  }

  function hasSettled(target: JournalTarget): boolean {
    const { settleMs } = balancers.adapterOf(target.loadBalancer).capabilities
    const key = keyOf(target)
    // An earlier process may have changed it a moment ago.
    const at = caughtUpAt.get(key) ?? clock.now() + settleMs
    caughtUpAt.set(key, at)
    return clock.now() >= at
  }

  return {
    answers,
    doubts: createDoubts(clock),
    operations,
    stateOf: (target) => answers.stateOf(target) ?? target.said,
    wasReadOut: (target) => lastRead.get(keyOf(target)) === 'out',
    effects: () => effects,
    beginEffect(target) {
      lastEffect.set(keyOf(target), ++effects)
      lastRead.delete(keyOf(target))
    },
    endEffect: (target) => void caughtUpAt.delete(keyOf(target)),
    isOvertaken,
    note(target, state, before) {
      if (isOvertaken(target, before)) return
      answers.note(target, state)
      lastRead.set(keyOf(target), state)
      operations.noteRead(target, state)
    },
    hasCaughtUp: (target) => balancers.adapterOf(target.loadBalancer).capabilities.inspect !== 'eventual' || hasSettled(target),
    hasSettled,
  }
}
