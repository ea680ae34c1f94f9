import type { EndpointsKind, EntryState } from '../cluster/cluster-view.ts'
import type { Effect } from '../rules/rule-set.ts'
import type { RuleProblemCode } from '../rules/rules-error.ts'

/** The decision about one EndpointSlice or one Endpoints object. */
export interface Decision {
  readonly kind: EndpointsKind
  readonly namespace: string
  readonly name: string
  /** The Service of the object. Absent where the object names none. */
  readonly service?: string
  readonly ruleSet: string
  readonly mode: 'enforce' | 'audit'
  /** The endpoints about which a rule has decided, or has failed. */
  readonly endpoints: readonly EndpointDecision[]
  /** The number of endpoints in the object. */
  readonly total: number
  /** The endpoints whose pod this process has not seen, or no more. */
  readonly unseenPods: number
  /** The earliest instant at which the decision may become another one without any write, in milliseconds since 1970. */
  readonly againAt?: number
}

export interface EndpointDecision {
  readonly addresses: readonly string[]
  readonly pod?: { readonly namespace: string; readonly name: string; readonly uid: string }
  /** The state that the writer of the object wishes. */
  readonly wished: EntryState
  readonly as: EntryState | 'removed'
  /** The rule that decided. Absent where rules failed and none decided. */
  readonly rule?: string
  readonly effect?: Effect
  /** The end of `keepPrevious`, in milliseconds since 1970. */
  readonly until?: number
  /** Rules that could not be evaluated. They count as not applying. */
  readonly failed: readonly { readonly rule: string; readonly code: RuleProblemCode; readonly problem: string }[]
}
