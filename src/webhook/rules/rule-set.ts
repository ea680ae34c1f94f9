/** The rules in force, from one document that was checked as a whole. */
export interface RuleSet {
  /** The version that each decision names: `metadata.version` of the document, else a hash of its content. */
  readonly version: string
  /** `audit`: decisions are made, counted and logged, and change nothing. */
  readonly mode: 'enforce' | 'audit'
  /** The first rule whose `when` is true decides about an endpoint. Without one, the endpoint is as its writer wishes. */
  readonly rules: readonly Rule[]
}

/**
 * - `ready`: the endpoint is ready and serving.
 * - `notReady`: the endpoint is neither ready nor serving.
 * - `serving`: the endpoint is not ready, and serving. Endpoints have no such state, so the address is not ready there.
 * - `remove`: the endpoint is left out.
 * - `keepPrevious`: the endpoint stays as it is stored, for a bounded time, and never for a pod that is being deleted.
 */
export type Effect = 'ready' | 'notReady' | 'serving' | 'remove' | 'keepPrevious'

export interface Rule {
  readonly name: string
  readonly effect: Effect
  /** Evaluates the condition of the rule. Throws a RuleError where the expression fails, or costs more than its limit. */
  applies(facts: Facts): boolean
  /** The end of `keepPrevious`, in milliseconds since 1970. Undefined where the rule does not say since when, so nothing is kept. */
  keptUntil?(facts: Facts): number | undefined
  /** The variables and functions that the expressions read. They tell what a later look at the decision depends on. */
  readonly reads: ReadonlySet<'clock' | 'request' | 'pod' | 'node' | 'service' | 'endpoint' | 'object'>
}

/** The values of the CEL variables for one endpoint. */
export interface Facts {
  readonly nowAt: number
  readonly [variable: string]: unknown
}
