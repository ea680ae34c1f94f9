/** The limits of a document of rules, and of its evaluation. */
export const LIMITS = {
  documentBytes: 262_144,
  rules: 100,
  expressionCharacters: 4_096,
  /** The parts of one expression: names, values, operators, calls. */
  expressionNodes: 500,
  expressionDepth: 50,
  /** The steps of one expression for one endpoint. */
  expressionSteps: 10_000,
  /** The steps of all rules for one object. */
  decisionSteps: 2_000_000,
  /** The longest `for` of keepPrevious. */
  keepMs: 86_400_000,
  /** A `since` may lie so far in the future, because clocks differ. */
  skewMs: 5_000,
} as const
