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

/** The knowledge of this process about the targets: its effects on them, and their readings since. */
export interface Knowledge {
  readonly answers: LastAnswers
  readonly doubts: Doubts
  readonly operations: Operations
  /** The known state of the target, without a request. */
  stateOf(target: JournalTarget): 'in' | 'out' | undefined
  /** Reports whether the target has read as out since its last effect. */
  wasReadOut(target: JournalTarget): boolean
  /** The number of effects so far, for `isOvertaken`. */
  effects(): number
  /** An effect on the target begins. Earlier readings do not count any more. */
  beginEffect(target: JournalTarget): void
  /** An effect on the target has ended, with any result. A read-back that may be old must catch up with it. */
  endEffect(target: JournalTarget): void
  /** Reports whether an effect on the target has begun since the number of effects was `before`. */
  isOvertaken(target: JournalTarget, before: number): boolean
  /** Notes the reading of a target. `before` is the number of effects at the request. */
  note(target: JournalTarget, state: 'in' | 'out', before: number): void
  /** Reports whether a read-back that may be old (`inspect: eventual`) can no longer show the state before the last effect. */
  hasCaughtUp(target: JournalTarget): boolean
  /** Reports whether the settle time since the last effect is over, so that the reading shows the effect. */
  hasSettled(target: JournalTarget): boolean
}

export function createKnowledge(clock: Clock, balancers: Balancers): Knowledge {
  const answers = createLastAnswers()
  const operations = createOperations()
  /** The last reading of each target since its last effect. */
  const lastRead = new Map<string, 'in' | 'out'>()
  /** The time from which a read-back that may be old is current, by target. */
  const caughtUpAt = new Map<string, number>()
  /** The number of effects so far, and the last effect of each target. */
  let effects = 0
  const lastEffect = new Map<string, number>()

  /** A reading that was requested before an effect does not count after it: it would be taken for the proof of a later drain. */
  function isOvertaken(target: JournalTarget, before: number): boolean {
    return (lastEffect.get(keyOf(target)) ?? 0) > before
  }

  function hasSettled(target: JournalTarget): boolean {
    const { settleMs } = balancers.adapterOf(target.loadBalancer).capabilities
    const key = keyOf(target)
    // An earlier process may have changed the target a moment ago.
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
