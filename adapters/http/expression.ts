/** CEL: the variables and types of each field, checked when sluice loads the config. */
import { type ASTNode, Environment, EvaluationError } from '@marcbachmann/cel-js'
import { formatAddress } from '../address.ts'
import type { Json } from '../contract.ts'

/** A group of fields whose expressions and templates have the same variables. */
export type Place = keyof typeof environments

/** The type of value that an expression must give. */
export type Wanted = 'text' | 'part' | 'flag' | 'number' | 'list' | 'json'

const TARGET = { id: 'string', address: 'string', host: 'string', port: 'int', scope: 'string' }
const ENDPOINT = { address: 'string', port: 'int', pod: 'string' }
const OPERATION = { id: 'string', fence: 'int' }

type Variables = Record<string, string | Record<string, string>>

type Fields = Record<string, unknown>

/**
 * Adds functions that CEL lacks: one joins the two parts of an address, and others copy a map with a change, for documents that are written
 * as a whole.
 */
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
  // A prior state may be a map of text and numbers.
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
  /** A pod, for options without a list. */
  endpoint: { endpoint: ENDPOINT },
  /** The request of `inspect`. */
  question: { target: TARGET },
  /** The state that was read of a target. */
  reading: { ...read, also: 'map<string, dyn>', target: TARGET },
  drain: { ...effect, ...read, also: 'map<string, dyn>' },
  restore: { ...effect, ...read, also: 'map<string, dyn>', prior: 'dyn' },
  /** An effect on a target that cannot be read. */
  'blind effect': effect,
  /** The request that begins a session. */
  login: { secrets: 'map<string, string>' },
  /** Values for all requests, without variables. */
  nothing: {},
} satisfies Record<string, Variables>

const environments = Object.fromEntries(Object.entries(variables).map(([place, known]) => [place, environment(known)])) as Record<
  keyof typeof variables,
  Environment
>

/** The types in the type check that allow the wanted value. The value of a `dyn` is known only at evaluation. */
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

/** The problem of an expression: the message, and the solution on a second line. Undefined if it is valid. */
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

/** The constants that an expression can give, including constants in the branches of its conditions. */
export function literalOutcomes(expression: string, place: Place): unknown[] {
  const outcomes = (node: ASTNode): unknown[] => {
    if (node.op === '?:') return node.args.slice(1).flatMap(outcomes)
    return node.op === 'value' ? [node.args] : []
  }
  return outcomes(environments[place].parse(expression).ast)
}

/** All possible results of an expression. Undefined if one of them is known only at evaluation. */
export function allOutcomes(expression: string, place: Place): unknown[] | undefined {
  const outcomes = (node: ASTNode): unknown[] | undefined => {
    if (node.op === 'value') return [node.args]
    if (node.op !== '?:') return undefined
    const [yes, no] = node.args.slice(1).map(outcomes)
    return yes && no && [...yes, ...no]
  }
  return outcomes(environments[place].parse(expression).ast)
}

/** True if an expression uses one of these variables. */
export function usesVariable(expression: string, place: Place, names: readonly string[]): boolean {
  const uses = (node: unknown): boolean => {
    if (Array.isArray(node)) return node.some(uses)
    if (typeof node !== 'object' || node === null || !('op' in node)) return false
    const { op, args } = node as ASTNode
    return op === 'id' ? names.includes(args) : uses(args)
  }
  return uses(environments[place].parse(expression).ast)
}

/** The error if an expression cannot be evaluated or gives an invalid value. The answer differs from the one that the config expects. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError'
}

export type Expression = (values: Record<string, unknown>) => Json

/**
 * Compiles an expression whose result other expressions use as a CEL value. `field` names it in errors, such as `targets.each`.
 * @throws ExpressionError from the compiled function if the evaluation fails
 */
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

/**
 * Compiles an expression whose result is JSON.
 * @throws ExpressionError from the compiled function if the evaluation fails
 */
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

/** True for an integer that JavaScript cannot represent, usually an id of 64 bits. */
function isWide(value: unknown): value is bigint {
  return typeof value === 'bigint' && !Number.isSafeInteger(Number(value))
}

function wideWords(value: bigint): string {
  return `gives the number ${value}, which JSON does not hold exactly`
}

function failure(expression: string, field: string, why: string, cause?: unknown): ExpressionError {
  return new ExpressionError(`${field}: ${quote(expression)}: ${why}`, { cause })
}

/** The value as JSON. CEL has more types than JSON. */
function toJson(value: unknown): Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value)
  if (Array.isArray(value)) return value.map(toJson)
  if (value instanceof Map) return toJson(Object.fromEntries(value as Map<string, unknown>))
  if (typeof value === 'object' && (Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null)) {
    // The keys are sorted, because equal states must give equal JSON.
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
    return Object.fromEntries(entries.map(([key, inner]) => [key, toJson(inner)]))
  }
  if (isWide(value)) throw new Error(`${wideWords(value)}; write string(…) around it`)
  const kind = typeof value === 'object' ? value.constructor.name : typeof value
  throw new Error(
    `gives ${kind === 'bigint' || kind === 'number' ? `the number ${String(value)}` : kind}, which JSON does not have`,
  )
}
