/** CEL: what it may say in which field, checked when the config is loaded. */
import { type ASTNode, Environment, EvaluationError } from '@marcbachmann/cel-js'
import { formatAddress } from '../address.ts'
import type { Json } from '../contract.ts'

/** What the expressions and templates of a field see. */
export type Place = keyof typeof environments

/** What an expression must give. */
export type Wanted = 'text' | 'part' | 'flag' | 'number' | 'list' | 'json'

const TARGET = { id: 'string', address: 'string', host: 'string', port: 'int', scope: 'string' }
const ENDPOINT = { address: 'string', port: 'int', pod: 'string' }
const OPERATION = { id: 'string', fence: 'int' }

type Variables = Record<string, string | Record<string, string>>

type Fields = Record<string, unknown>

/** Not in CEL itself: an address of its two parts, and copies of a map for a document that is written whole. */
function withFunctions(made: Environment): Environment {
  return made
    .registerFunction('hostPort(dyn, dyn): string', (host: unknown, port: unknown) =>
      formatAddress({ address: String(host), port: Number(port) }),
    )
    .registerFunction('map.set(string, dyn): map<dyn, dyn>', (map: Fields, name: string, value: unknown) => ({
      ...map,
      [name]: value,
    }))
    .registerFunction('map.without(string): map<dyn, dyn>', (map: Fields, name: string) =>
      Object.fromEntries(Object.entries(map).filter(([key]) => key !== name)),
    )
}

function environment(variables: Variables): Environment {
  // A prior state is a map of text and numbers.
  const made = withFunctions(new Environment({ homogeneousAggregateLiterals: false, enableOptionalTypes: true }))
  for (const [name, type] of Object.entries(variables)) {
    if (typeof type === 'string') made.registerVariable(name, type)
    else made.registerVariable({ name, schema: type })
  }
  return made
}

const answer = { body: 'dyn', headers: 'map<string, string>' }
const read = { ...answer, entry: 'dyn' }
const effect = { target: TARGET, operation: OPERATION }

const variables = {
  /** The answer to `targets.request`. */
  list: answer,
  /** One entry of that list. */
  entry: read,
  /** A pod, where there is no list. */
  endpoint: { endpoint: ENDPOINT },
  /** The request of `inspect`. */
  question: { target: TARGET },
  /** What was read of a target. */
  reading: { ...read, also: 'map<string, dyn>', target: TARGET },
  drain: { ...effect, ...read, also: 'map<string, dyn>' },
  restore: { ...effect, ...read, also: 'map<string, dyn>', prior: 'dyn' },
  /** An effect on what cannot be read. */
  'blind effect': effect,
  /** The request that begins a session. */
  login: { secrets: 'map<string, string>' },
  /** What goes with every request. */
  nothing: {},
} satisfies Record<string, Variables>

const environments = Object.fromEntries(Object.entries(variables).map(([place, known]) => [place, environment(known)])) as Record<
  keyof typeof variables,
  Environment
>

/** What the type check may say of an expression that can give what is wanted; `dyn` is known only when it is evaluated. */
const TYPES: Record<Wanted, RegExp> = {
  text: /^(string|dyn)$/,
  part: /^(string|int|double|bool|dyn)$/,
  flag: /^(bool|dyn)$/,
  number: /^(int|double|null|dyn)$/,
  list: /^(list|dyn)/,
  json: /^(?!bytes|uint|type|optional|google|timestamp|duration)/,
}

const WORDS: Record<Wanted, string> = {
  text: 'text',
  part: 'text or a number',
  flag: 'true or false',
  number: 'a number',
  list: 'a list',
  json: 'a JSON value',
}

function quote(expression: string): string {
  return expression.length > 120 ? `${expression.slice(0, 117)}…` : expression
}

function describeVariables(place: Place): string {
  const known = Object.entries<string | Record<string, string>>(variables[place]).map(([name, type]) =>
    typeof type === 'string' ? name : `${name} (${Object.keys(type).join(', ')})`,
  )
  return known.length === 0 ? 'nothing is known here: write plain text' : `known here: ${known.join('; ')}`
}

/** What is wrong with an expression: the message, and on a second line the way out. Undefined where it is right. */
export function expressionProblem(expression: string, place: Place, wanted: Wanted): string | undefined {
  const checked = environments[place].check(expression)
  if (!checked.valid) {
    const { summary = 'cannot be read', range } = checked.error ?? {}
    const where = range === undefined ? '' : ` (at character ${range.start + 1})`
    return `the expression ${quote(expression)} is wrong: ${summary}${where}\n${describeVariables(place)}`
  }
  const type = checked.type ?? 'dyn'
  if (TYPES[wanted].test(type)) return undefined
  return `the expression ${quote(expression)} gives ${type}, not ${WORDS[wanted]}\n${wayTo(wanted)}`
}

function wayTo(wanted: Wanted): string {
  if (wanted === 'text') return 'string(…) makes text of a number'
  if (wanted === 'flag') return 'compare with == or another operator'
  if (wanted === 'list') return 'name the list in the answer, such as body.servers'
  return wanted === 'number' ? 'int(…) makes a number of text' : 'string(…) makes text of it'
}

/** The constants that an expression may come to: those in the branches of its conditions. */
export function literalOutcomes(expression: string, place: Place): unknown[] {
  const outcomes = (node: ASTNode): unknown[] => {
    if (node.op === '?:') return node.args.slice(1).flatMap(outcomes)
    return node.op === 'value' ? [node.args] : []
  }
  return outcomes(environments[place].parse(expression).ast)
}

/** All that an expression can come to; undefined where some of it is known only when it is evaluated. */
export function allOutcomes(expression: string, place: Place): unknown[] | undefined {
  const outcomes = (node: ASTNode): unknown[] | undefined => {
    if (node.op === 'value') return [node.args]
    if (node.op !== '?:') return undefined
    const [yes, no] = node.args.slice(1).map(outcomes)
    return yes && no && [...yes, ...no]
  }
  return outcomes(environments[place].parse(expression).ast)
}

/** Whether an expression looks at one of these variables. */
export function usesVariable(expression: string, place: Place, names: readonly string[]): boolean {
  const uses = (node: unknown): boolean => {
    if (Array.isArray(node)) return node.some(uses)
    if (typeof node !== 'object' || node === null || !('op' in node)) return false
    const { op, args } = node as ASTNode
    return op === 'id' ? names.includes(args) : uses(args)
  }
  return uses(environments[place].parse(expression).ast)
}

/** An expression has nothing to work on, or gives what it must not: the answer is another one than the config expects. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
}

export type Expression = (values: Record<string, unknown>) => Json

/** Gives what CEL gives, for other expressions to work on. `field` names it in errors, such as `targets.each`. */
export function compileValue(expression: string, place: Place, field: string): (values: Record<string, unknown>) => unknown {
  const evaluate = environments[place].parse(expression)
  return (values) => {
    try {
      return evaluate(values)
    } catch (error) {
      throw failure(expression, field, error instanceof EvaluationError ? error.summary : (error as Error).message, error)
    }
  }
}

/** The same as JSON. Both throw an ExpressionError where the evaluation fails. */
export function compile(expression: string, place: Place, field: string): Expression {
  const evaluate = compileValue(expression, place, field)
  return (values) => {
    const value = evaluate(values)
    if (isWide(value)) throw failure(expression, field, `${wideWords(value)}; write string(${quote(expression)})`)
    try {
      return toJson(value)
    } catch (error) {
      throw failure(expression, field, (error as Error).message, error)
    }
  }
}

/** A whole number that JavaScript cannot hold: mostly an id of 64 bits. */
function isWide(value: unknown): value is bigint {
  return typeof value === 'bigint' && !Number.isSafeInteger(Number(value))
}

function wideWords(value: bigint): string {
  return `gives the number ${value}, which JSON does not hold exactly`
}

function failure(expression: string, field: string, why: string, cause?: unknown): ExpressionError {
  return new ExpressionError(`${field}: ${quote(expression)}: ${why}`, { cause })
}

/** CEL has more kinds of values than JSON. */
function toJson(value: unknown): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (value instanceof Map) return toJson(Object.fromEntries(value as Map<string, unknown>))
  if (typeof value === 'object' && (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)) {
    // In one order: two equal states must give equal JSON.
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(entries.map(([key, inner]) => [key, toJson(inner)]))
  }
  if (isWide(value)) throw new Error(`${wideWords(value)}; write string(…) around it`)
  const kind = typeof value === 'object' ? value.constructor.name : typeof value
  throw new Error(
    `gives ${kind === 'bigint' || kind === 'number' ? `the number ${String(value)}` : kind}, which JSON does not have`,
  )
}
