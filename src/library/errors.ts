import type { Plan } from '../plan/plan.ts'
import type { Reason } from '../reasons/reason.ts'
import { reasonWords } from '../report/words/words.ts'
import type { PlanChange } from './compare-plans.ts'

/** What would be done is not what was planned. Nothing was touched. */
export class PlanChangedError extends Error {
  override readonly name = 'PlanChangedError'
  readonly component = 'library'
  /** At least one. */
  readonly changes: readonly PlanChange[]
  /** What would be done now. */
  readonly now: Plan
  constructor(changes: readonly PlanChange[], now: Plan) {
    const what = changes.map((change) => (change.what === 'pod' ? `pod/${change.pod}` : change.what)).join(', ')
    super(`the plan is not of now: what would be done differs in ${what}; plan again`)
    this.changes = changes
    this.now = now
  }
}

/** `interrupt` of a handle, while the run was being prepared. Nothing was touched. */
export class RunInterruptedError extends Error {
  override readonly name = 'RunInterruptedError'
  readonly component = 'library'
  constructor() {
    super('the run was interrupted before it began')
  }
}

/** The sluice is closed: it begins nothing any more, and has ended what was being prepared. */
export class SluiceClosedError extends Error {
  override readonly name = 'SluiceClosedError'
  readonly component = 'library'
  constructor() {
    super('this sluice is closed')
  }
}

/** No such run is on record; or it is, and cannot be read: the code of `reason` is `run-unreadable` then. */
export class NotOnRecordError extends Error {
  override readonly name = 'NotOnRecordError'
  readonly component = 'library'
  readonly reason: Reason
  constructor(reason: Reason) {
    super(reasonWords(reason))
    this.reason = reason
  }
}
