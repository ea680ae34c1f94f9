import { EvaluationError, type ASTNode, type ParseResult } from '@marcbachmann/cel-js'
import { nearest } from '../../config/nearest.ts'
import { environment, TYPES, VARIABLES } from './environment.ts'
import { evaluateWith } from './evaluation.ts'
import { LIMITS } from './limits.ts'
import { RULE_FUNCTIONS } from './rule-functions.ts'
import { RuleError } from './rules-error.ts'
import type { Facts, Read } from './rule-set.ts'
import { countSteps } from './steps.ts'
import { callOf, type Node, nodeOf, visit } from './syntax.ts'
import { noteTurns } from './turns.ts'

/** A checked expression. */
export interface Expression {
  readonly text: string
  readonly reads: ReadonlySet<Read>
  /** The parts that read a variable, such as `pod.status.phase`, in the order of the text. */
  readonly parts: readonly Expression[]
  /** @throws RuleError */
  evaluate(facts: Facts): unknown
}

export interface ExpressionProblem {
  readonly message: string
  readonly hint?: string
}

export type Wanted = 'bool' | 'timestamp'

const WANTED: Record<Wanted, { type: string; words: string; hint: string }> = {
  bool: { type: 'bool', words: 'true or false', hint: 'compare with == or another operator' },
  timestamp: {
    type: 'google.protobuf.Timestamp',
    words: 'a time',
    hint: 'write the lastTransitionTime of a condition, such as condition(pod, "Ready").lastTransitionTime',
  },
}

export type Compiled =
  | { readonly ok: true; readonly expression: Expression }
  | { readonly ok: false; readonly problem: ExpressionProblem }

/** Checks an expression against the types of the variables and functions, and the limits. */
export function compileExpression(text: string, wanted: Wanted): Compiled {
  if (text.length > LIMITS.expressionCharacters)
    return wrong(`has ${text.length} characters`, `an expression has at most ${LIMITS.expressionCharacters}`)
  const parsed = parse(text)
  if ('problem' in parsed) return { ok: false, problem: parsed.problem }
  const root = nodeOf(parsed.result.ast)
  const forbidden = forbiddenIn(root)
  if (forbidden !== undefined) return { ok: false, problem: forbidden }
  checkFieldsOfHas(root)
  const checked = parsed.result.check()
  if (!checked.valid) return { ok: false, problem: problemOf(text, checked.error) }
  const { type, words, hint } = WANTED[wanted]
  if (checked.type !== type) return wrong(`the expression ${quote(text)} gives ${checked.type ?? 'nothing'}, not ${words}`, hint)
  const parts = partsOf(text, root)
  noteTurns(root)
  countSteps(root)
  return { ok: true, expression: { text, reads: readsOf(root), parts, evaluate: evaluator(parsed.result) } }
}

function wrong(message: string, hint: string): Compiled {
  return { ok: false, problem: { message, hint } }
}

function quote(text: string): string {
  return text.length > 120 ? `${text.slice(0, 117)}…` : text
}

function parse(text: string): { result: ParseResult } | { problem: ExpressionProblem } {
  try {
    return { result: environment.parse(text) }
  } catch (error) {
    return { problem: problemOf(text, error) }
  }
}

/** Regular expressions may take minutes, and `bind` hides what a name stands for. */
function forbiddenIn(root: Node): ExpressionProblem | undefined {
  let found: ExpressionProblem | undefined
  visit(root, (node) => {
    const name = callOf(node)?.name
    if (name === 'matches')
      found = {
        message: 'matches is not available, since a regular expression may take minutes',
        hint: 'write glob(text, "web-*"), text.startsWith("web-"), text.endsWith(…) or text.contains(…)',
      }
    if (name === 'bind') found = { message: 'cel.bind is not available', hint: 'write the value in each place' }
  })
  return found
}

/** The library checks of `has` the first name alone. */
function checkFieldsOfHas(root: Node): void {
  visit(root, ({ meta: { macro } }) => {
    if (macro?.args === undefined || macro.receiver !== undefined || macro.arg !== undefined) return
    const [field] = macro.args
    const typeCheck = macro.typeCheck
    macro.typeCheck = (checker, same, context) => {
      const type = typeCheck(checker, same, context)
      if (field !== undefined) checker.check(field, context)
      return type
    }
  })
}

interface CelProblem {
  readonly code?: string
  readonly summary?: string
  readonly message?: string
  readonly range?: { readonly start: number }
  readonly node?: ASTNode
}

const FUNCTION_NAMES = [
  ...new Set([
    ...RULE_FUNCTIONS.map(({ signature }) => signature.slice(0, signature.indexOf('('))),
    ...'has size duration timestamp startsWith endsWith contains exists all exists_one filter map int string double bool'.split(
      ' ',
    ),
    ...'split join trim lowerAscii upperAscii orValue hasValue value'.split(' '),
  ]),
]

function problemOf(text: string, thrown: unknown): ExpressionProblem {
  const { code, summary, message, range, node } = thrown as CelProblem
  const where = range === undefined ? '' : ` (at character ${range.start + 1})`
  const said = `the expression ${quote(text)} is wrong: ${summary ?? message ?? 'it cannot be read'}${where}`
  const hint = code === undefined ? undefined : hintFor(code, node)
  return hint === undefined ? { message: said } : { message: said, hint }
}

function hintFor(code: string, node: ASTNode | undefined): string | undefined {
  if (code === 'limit_exceeded')
    return `an expression has at most ${LIMITS.expressionNodes} parts, nested at most ${LIMITS.expressionDepth} deep: make two rules of it`
  if (node === undefined) return undefined
  const at = nodeOf(node)
  if (code === 'unknown_variable') return known(String(at.args), Object.keys(VARIABLES))
  if (code === 'no_such_key') {
    const [of, field] = at.args as [Node, string]
    const type = TYPES.find(({ name }) => name === of.checkedType?.name)
    return type === undefined ? undefined : known(field, Object.keys(type.fields))
  }
  const call = callOf(at)
  if (code === 'no_matching_overload' && call !== undefined) {
    const own = RULE_FUNCTIONS.filter(({ signature }) => signature.startsWith(`${call.name}(`))
    if (own.length > 0) return `write ${own.map(({ signature }) => signature.slice(0, signature.lastIndexOf(':'))).join(' or ')}`
    return FUNCTION_NAMES.includes(call.name) ? undefined : known(call.name, FUNCTION_NAMES)
  }
  return code === 'no_such_overload'
    ? 'compare values of one type: string(…) makes text of a number, int(…) a number of text'
    : undefined
}

function known(word: string, names: readonly string[]): string {
  const meant = nearest(word, names)
  return meant === undefined ? `known here: ${names.join(', ')}` : `did you mean "${meant}"?`
}

function readsOf(root: Node): ReadonlySet<Read> {
  const reads = new Set<Read>()
  visit(root, (node) => {
    const variable = node.op === 'id' ? VARIABLES[String(node.args)] : undefined
    if (variable !== undefined) reads.add(variable.reads)
    const name = callOf(node)?.name
    const called = RULE_FUNCTIONS.find(({ signature }) => signature.startsWith(`${name}(`))
    if (called?.reads !== undefined) reads.add(called.reads)
  })
  return reads
}

/** The largest parts whose value says something: a chain of fields that begins with a variable, or a call of a function of ours. */
function partsOf(text: string, root: Node): Expression[] {
  const found = new Map<string, Node>()
  const walk = (node: Node, bound: readonly string[]): void => {
    const isOwn = RULE_FUNCTIONS.some(({ signature }) => signature.startsWith(`${callOf(node)?.name}(`)) && node.op === 'call'
    if ((isOwn || isChain(node)) && !isBound(node, bound)) {
      found.set(text.slice(node.start, node.end), node)
      return
    }
    const { op, args, meta } = node
    if (op === 'rcall' && meta.alternate !== undefined) {
      const [, receiver, [name, ...others]] = args as [string, Node, Node[]]
      walk(receiver, bound)
      for (const other of others) walk(other, [...bound, String(name?.args)])
      return
    }
    if (op === 'call' && callOf(node)?.name === 'has') return
    for (const child of [args].flat(3).filter((one): one is Node => typeof one === 'object' && one !== null && 'op' in one))
      walk(child, bound)
  }
  walk(root, [])
  return [...found.keys()].flatMap((part) => partOf(part))
}

function isChain({ op, args }: Node): boolean {
  if (op !== '.' && op !== '[]' && op !== '.?' && op !== '[?]') return false
  const [of] = args as [Node, unknown]
  return of.op === 'id' || isChain(of)
}

/** True for a part that reads the variable of a comprehension, which has no value of its own. */
function isBound(node: Node, bound: readonly string[]): boolean {
  let reads = false
  visit(node, ({ op, args }) => {
    if (op === 'id' && bound.includes(String(args))) reads = true
  })
  return reads
}

function partOf(text: string): Expression[] {
  const result = environment.parse(text)
  const root = nodeOf(result.ast)
  if (!result.check().valid) return []
  countSteps(root)
  return [{ text, reads: readsOf(root), parts: [], evaluate: evaluator(result) }]
}

function evaluator(evaluate: ParseResult): (facts: Facts) => unknown {
  return (facts) => {
    const evaluation = { facts, stepsLeft: LIMITS.expressionSteps }
    const value = evaluateWith(evaluation, () => {
      try {
        return evaluate(facts.values) as unknown
      } catch (error) {
        throw ruleError(error)
      }
    })
    // Operators that pass over errors pass over the end of the steps too.
    if (evaluation.stepsLeft < 0) throw new RuleError('too-costly', 'the expression takes more steps than it may')
    if (facts.meter.left < 0) throw new RuleError('decision-too-costly', 'the rules take more steps for one object than they may')
    return value
  }
}

function ruleError(error: unknown): RuleError {
  if (error instanceof RuleError) return error
  if (!(error instanceof EvaluationError)) return new RuleError('failed', (error as Error).message, { cause: error })
  const { code, summary, node } = error
  const isAbsent = code === 'no_such_key' && node?.input !== undefined
  return new RuleError('failed', isAbsent ? `${node.input.slice(node.start, node.end)} is not there` : summary, { cause: error })
}
