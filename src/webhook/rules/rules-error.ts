/** One mistake in a document of rules. */
export interface RulesIssue {
  /** Such as `rules[0].when`; empty for the document as a whole. */
  readonly path: string
  readonly message: string
  /** How to correct it. */
  readonly hint?: string
  /** The line from 1; 0 if the mistake has no place in the document. */
  readonly line: number
  readonly column: number
}

const MOST_SHOWN = 20

/** The document of rules is not usable. `issues` lists every mistake, in the order of the document. */
export class RulesError extends Error {
  override readonly name = 'RulesError'
  readonly component = 'webhook'
  /** The name of the document: a file, a ConfigMap, a URL. */
  readonly source: string
  readonly issues: readonly RulesIssue[]
  constructor(source: string, issues: readonly RulesIssue[], options: { cause?: unknown } = {}) {
    const inOrder = issues.toSorted((a, b) => a.line - b.line || a.column - b.column)
    const lines = inOrder.slice(0, MOST_SHOWN).map((issue) => formatIssue(source, issue))
    const more = inOrder.length - lines.length
    if (more > 0) lines.push(`${source}: and ${more} more ${more === 1 ? 'mistake' : 'mistakes'}`)
    super(lines.join('\n'), options)
    this.source = source
    this.issues = inOrder
  }
}

function formatIssue(source: string, { path, message, hint, line, column }: RulesIssue): string {
  const place = line === 0 ? source : `${source}:${line}:${column}`
  const text = [place, ...(path === '' ? [] : [path]), message].join(': ')
  return hint === undefined ? text : `${text}\n    ${hint}`
}

/** A rule could not be evaluated. It counts as not applying. */
export class RuleError extends Error {
  override readonly name = 'RuleError'
  readonly component = 'webhook'
  readonly code: RuleProblemCode
  constructor(code: RuleProblemCode, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}

/**
 * - `failed`: the expression has no value, for example since it reads a field that is not there.
 * - `too-costly`: the expression has reached the limit of its steps.
 * - `decision-too-costly`: the rules have reached the limit of steps for one object.
 */
export type RuleProblemCode = 'failed' | 'too-costly' | 'decision-too-costly'
