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
  /**
   * Evaluates since when `keepPrevious` keeps, and until when, in milliseconds since 1970. Undefined where the rule does not say since when, or
   * where that lies in the future, so that nothing is kept.
   */
  keeps?(facts: Facts): { readonly sinceAt: number; readonly until: number } | undefined
  /** The variables and functions that the expressions read. They tell what a later look at the decision depends on. */
  readonly reads: ReadonlySet<Read>
  /** The condition as text. */
  readonly when: string
  /** The parts of the expressions that read a variable, such as `pod.status.phase`. Their values explain a decision. */
  readonly parts: readonly { readonly text: string; evaluate(facts: Facts): unknown }[]
}

export type Read = 'clock' | 'request' | 'pod' | 'node' | 'service' | 'endpoint' | 'object'

/** What the expressions of a rule read about one endpoint. */
export interface Facts {
  readonly nowAt: number
  readonly values: Readonly<Record<string, unknown>>
  readonly meter: Meter
}

/** Counts the steps of one decision, and notes when a comparison with the clock comes out differently. */
export interface Meter {
  /** The steps that are left for the object. */
  left: number
  /** The earliest instant after `nowAt` at which an evaluated comparison with the clock turns, in milliseconds since 1970. */
  turnsAt: number | undefined
}

/** The facts of an admission request that rules may read. */
export interface RequestFacts {
  readonly operation: 'CREATE' | 'UPDATE'
  readonly username: string
  readonly groups: readonly string[]
  readonly dryRun: boolean
}
