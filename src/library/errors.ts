import type { Plan } from '../plan/plan.ts'
import type { Reason } from '../reasons/reason.ts'
import { reasonWords } from '../report/words/words.ts'
import type { PlanChange } from './compare-plans.ts'

/** The actions of the new plan differ from those of the given plan. Nothing was changed. */
export class PlanChangedError extends Error {
  override readonly name = 'PlanChangedError'
  readonly component = 'library'
  /** The differences; at least one. */
  readonly changes: readonly PlanChange[]
  /** The plan of now. */
  readonly now: Plan
  constructor(changes: readonly PlanChange[], now: Plan) {
    const what = changes.map((change) => (change.what === 'pod' ? `pod/${change.pod}` : change.what)).join(', ')
    super(`the plan is not of now: what would be done differs in ${what}; plan again`)
    this.changes = changes
    this.now = now
  }
}

/** The program called `interrupt` while the run was being prepared. Nothing was changed. */
export class RunInterruptedError extends Error {
  override readonly name = 'RunInterruptedError'
  readonly component = 'library'
  constructor() {
    super('the run was interrupted before it began')
  }
}

/** The sluice is closed: it begins no new work, and has cancelled the preparation of runs. */
export class SluiceClosedError extends Error {
  override readonly name = 'SluiceClosedError'
  readonly component = 'library'
  constructor() {
    super('this sluice is closed')
  }
}

/** The run is not on record, or its record is not readable; for the latter the code of `reason` is `run-unreadable`. */
export class NotOnRecordError extends Error {
  override readonly name = 'NotOnRecordError'
  readonly component = 'library'
  readonly reason: Reason
  constructor(reason: Reason) {
    super(reasonWords(reason))
    this.reason = reason
  }
}
