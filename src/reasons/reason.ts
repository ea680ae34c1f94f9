import type { CleanupReasons } from './cleanup-reasons.ts'
import type { EndpointReasons } from './endpoint-reasons.ts'
import type { ErrorReasons } from './error-reasons.ts'
import type { ExplainReasons } from './explain-reasons.ts'
import type { MissingReasons } from './missing-reasons.ts'
import type { OrderReasons } from './order-reasons.ts'
import type { PlanReasons } from './plan-reasons.ts'
import type { PodEndings } from './pod-endings.ts'
import type { PodFacts } from './pod-facts.ts'
import type { PodWaits } from './pod-waits.ts'
import type { RecordReasons } from './record-reasons.ts'
import type { Refusals } from './refusals.ts'
import type { ResolveReasons } from './resolve-reasons.ts'
import type { RunReasons } from './run-reasons.ts'
import type { TemplateReasons } from './template-reasons.ts'
import type { TrafficReasons } from './traffic-reasons.ts'
import type { UndoReasons } from './undo-reasons.ts'
import type { WindowReasons } from './window-reasons.ts'

/** The fields of each reason, by its code. */
export interface ReasonFields
  extends
    PodEndings,
    PodWaits,
    PodFacts,
    TrafficReasons,
    WindowReasons,
    RunReasons,
    PlanReasons,
    Refusals,
    RecordReasons,
    TemplateReasons,
    ErrorReasons,
    OrderReasons,
    ResolveReasons,
    UndoReasons,
    CleanupReasons,
    MissingReasons,
    EndpointReasons,
    ExplainReasons {}

/** The codes are a closed set: docs/reasons.md lists all of them. */
export type ReasonCode = keyof ReasonFields

/** The number of list entries that a stored reason has lost in its record. */
export interface Kept {
  readonly more?: number
}

/** A reason with the code, or one of the codes. */
export type ReasonOf<Code extends ReasonCode> = { [C in Code]: { readonly code: C } & Kept & Readonly<ReasonFields[C]> }[Code]

/**
 * The reason for a state, a decision or a result: a code with facts. Programs read the code and the fields; `src/report/words` makes the
 * English.
 */
export type Reason = ReasonOf<ReasonCode>
