/** Text and JSON with `${EXPRESSION}` in it. `$${` is a literal `${`. */
import type { Json } from '../contract.ts'
import { compile, type Expression, ExpressionError, type Place } from './expression.ts'

/** Literal text, or an expression. */
type Part = string | { expression: string }

/** The parts of a template, or its problem. */
export type ParsedTemplate = { ok: true; parts: Part[] } | { ok: false; problem: string }

/** The end of the expression that begins at `from`. Braces nest, except in quotes. */
function endOfExpression(text: string, from: number): number {
  let depth = 0
  let quote = ''
  for (let at = from; at < text.length; at += 1) {
    const character = text[at]!
    if (quote !== '') {
      if (character === '\\') at += 1
      else if (character === quote) quote = ''
    } else if (character === '"' || character === "'") quote = character
    else if (character === '{') depth += 1
    else if (character === '}') {
      if (depth === 0) return at
      depth -= 1
    }
  }
  return -1
}

export function parseTemplate(text: string): ParsedTemplate {
  const parts: Part[] = []
  let literal = ''
  let at = 0
  while (at < text.length) {
    if (text.startsWith('$${', at)) {
      literal += '${'
      at += 3
    } else if (text.startsWith('${', at)) {
      const end = endOfExpression(text, at + 2)
      if (end === -1)
        return { ok: false, problem: `\${ is not closed\nend the expression with }, or write $\${ for the characters themselves` }
      if (literal !== '') parts.push(literal)
      parts.push({ expression: text.slice(at + 2, end).trim() })
      literal = ''
      at = end + 1
    } else {
      literal += text[at]!
      at += 1
    }
  }
  if (literal !== '') parts.push(literal)
  return { ok: true, parts }
}

/** All strings of a body, each with its path. */
export function bodyStrings(body: Json, path: PropertyKey[] = []): { text: string; path: PropertyKey[] }[] {
  if (typeof body === 'string') return [{ text: body, path }]
  if (Array.isArray(body)) return body.flatMap((inner, index) => bodyStrings(inner, [...path, index]))
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([key, inner]) => bodyStrings(inner, [...path, key]))
}

export type Template<T> = (values: Record<string, unknown>) => T

/** Literal text, or a compiled expression. */
type Compiled = string | Expression

function compileParts(text: string, place: Place, field: string): Compiled[] {
  const parsed = parseTemplate(text)
  if (!parsed.ok) throw new Error(`${field}: ${parsed.problem}`)
  return parsed.parts.map((part) => (typeof part === 'string' ? part : compile(part.expression, place, field)))
}

function asText(value: Json, field: string): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new ExpressionError(`${field}: ${value === null ? 'null' : 'a list or a map'} cannot stand in text`)
}

/** Compiles a text. `encode` encodes each value of an expression, so that a value never becomes syntax. */
export function compileText(
  text: string,
  place: Place,
  field: string,
  encode: (value: string, field: string) => string = (value) => value,
): Template<string> {
  const parts = compileParts(text, place, field)
  return (values) => parts.map((part) => (typeof part === 'string' ? part : encode(asText(part(values), field), field))).join('')
}

/** Compiles a body. A string of one expression keeps the type of its value: a number stays a number. Keys are literal. */
export function compileBody(body: Json, place: Place, field: string): Template<Json> {
  if (typeof body === 'string') {
    const [only, ...others] = compileParts(body, place, field)
    return typeof only === 'function' && others.length === 0 ? only : compileText(body, place, field)
  }
  if (Array.isArray(body)) {
    const items = body.map((inner, index) => compileBody(inner, place, `${field}[${index}]`))
    return (values) => items.map((item) => item(values))
  }
  if (typeof body !== 'object' || body === null) return () => body
  const entries = Object.entries(body).map(([key, inner]) => [key, compileBody(inner, place, `${field}.${key}`)] as const)
  return (values) => Object.fromEntries(entries.map(([key, item]) => [key, item(values)]))
}
