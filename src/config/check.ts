/** Checks a value against a zod schema, and describes the problems in the terms of the config file. */
import type { z } from 'zod'
import { looksSecret } from './looks-secret.ts'
import { nearest } from './nearest.ts'
import { FILE, isPromise, PROGRAM, type Wording } from './wording.ts'

/** One problem of one field. */
export interface Finding {
  path: PropertyKey[]
  /** The place to point at: `key` for an unknown key, `value` for everything else. */
  at: 'key' | 'value'
  message: string
  hint?: string
  /** The known key that resembles the unknown one. */
  meant?: string
}

export type Checked<T> = { ok: true; value: T } | { ok: false; findings: Finding[] }

export interface CheckOptions {
  /** Path of the value within the file. */
  prefix?: readonly PropertyKey[]
  /** The hint for an unknown key at `path` that resembles no known key. */
  hintForUnknownKey?: (key: string, path: readonly PropertyKey[]) => string | undefined
  /** The terms for values. Default: those of a file. */
  wording?: Wording
}

/** Marks that the schema has no message of its own. The texts of zod are not used, because they do not name the value. */
const NO_OWN_MESSAGE = ''

const MISSING = 'is missing'

type Issue = z.core.$ZodIssue

export function check<T>(schema: z.ZodType<T>, input: unknown, options: CheckOptions = {}): Checked<T> {
  // The known keys by the mapping that has the unknown key; a path is no key here, because it is relative within unions.
  const knownKeys = new WeakMap<object, Set<string>>()
  const parsed = schema.safeParse(input, {
    error: (issue) => {
      if (issue.code === 'unrecognized_keys') rememberKnownKeys(knownKeys, issue)
      return NO_OWN_MESSAGE
    },
  })
  if (isPromise(parsed)) {
    // An unhandled rejection would end the process.
    parsed.then(undefined, () => {})
    throw new TypeError('it gives a promise')
  }
  if (parsed.success) return { ok: true, value: parsed.data }
  const prefix = [...(options.prefix ?? [])]
  const { hintForUnknownKey = () => undefined, wording = FILE } = options
  const context = { input, prefix, knownKeys, hintForUnknownKey, wording }
  return { ok: false, findings: withoutEchoes(parsed.error.issues.flatMap((issue) => findingsOf(issue, [], context))) }
}

/** Removes follow-up findings: a mistyped required key is also missing under its right name. */
function withoutEchoes(findings: Finding[]): Finding[] {
  const meant = new Set(
    findings.flatMap(({ path, meant: key }) => (key === undefined ? [] : [formatPath([...path.slice(0, -1), key])])),
  )
  return findings.filter(({ path, message }) => !(message === MISSING && meant.has(formatPath(path))))
}

interface Context {
  input: unknown
  prefix: PropertyKey[]
  knownKeys: WeakMap<object, Set<string>>
  hintForUnknownKey: (key: string, path: readonly PropertyKey[]) => string | undefined
  wording: Wording
}

function rememberKnownKeys(knownKeys: WeakMap<object, Set<string>>, { input, inst }: { input?: unknown; inst?: unknown }): void {
  const shape = (inst as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def?.shape
  if (shape === undefined || typeof input !== 'object' || input === null) return
  knownKeys.set(input, new Set([...(knownKeys.get(input) ?? []), ...Object.keys(shape)]))
}

function findingsOf(issue: Issue, parentPath: readonly PropertyKey[], context: Context): Finding[] {
  const inner = [...parentPath, ...issue.path]
  const path = [...context.prefix, ...inner]
  const value = valueAt(context.input, inner)

  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const known = typeof value === 'object' && value !== null ? context.knownKeys.get(value) : undefined
      const meant = nearest(key, known ?? [])
      const others = known === undefined || known.size === 0 ? undefined : `known here: ${[...known].join(', ')}`
      const hint = meant === undefined ? (context.hintForUnknownKey(key, path) ?? others) : `did you mean "${meant}"?`
      return { ...finding([...path, key], 'unknown key', hint, 'key'), ...(meant === undefined ? {} : { meant }) }
    })
  }
  if (issue.message !== NO_OWN_MESSAGE) {
    const [message = '', hint] = issue.message.split('\n')
    return [finding(path, message, hint)]
  }
  if (issue.code === 'invalid_union' && value !== undefined) {
    // The branch with the fewest problems is the intended one.
    const [closest] = issue.errors.toSorted((a, b) => a.length - b.length)
    if (closest !== undefined && closest.length > 0) return closest.flatMap((nested) => findingsOf(nested, inner, context))
  }
  return [describe(issue, path, value, context.wording)]
}

function finding(path: PropertyKey[], message: string, hint?: string, at: Finding['at'] = 'value'): Finding {
  return { path, at, message, ...(hint === undefined ? {} : { hint }) }
}

function describe(issue: Issue, path: PropertyKey[], value: unknown, wording: Wording): Finding {
  if (value === undefined) return finding(path, MISSING, hintForMissing(issue, path, wording))
  if (wording === PROGRAM && isPromise(value)) return finding(path, 'is a Promise', 'await it')
  const shown = looksSecret(path) ? 'the value' : wording.show(value)
  switch (issue.code) {
    case 'invalid_type':
      return finding(
        path,
        value === null ? wording.isNull : `${shown} is not ${typeName(issue.expected, wording)}`,
        hintForType(issue.expected, value, shown, wording),
      )
    case 'invalid_value': {
      const values = issue.values.map(String)
      const meant = typeof value === 'string' ? nearest(value, values) : undefined
      const hint = meant === undefined ? `write ${values.join(' or ')}` : `did you mean "${meant}"?`
      return finding(path, values.length === 1 ? `${shown} is not understood` : `${shown} is none of ${values.join(', ')}`, hint)
    }
    case 'too_small':
    case 'too_big': {
      const tooSmall = issue.code === 'too_small'
      const limit = tooSmall ? `at least ${issue.minimum}` : `at most ${issue.maximum}`
      if (issue.origin !== 'string' && issue.origin !== 'array') {
        return finding(path, `${shown} is too ${tooSmall ? 'small' : 'large'}`, limit)
      }
      const amount = !tooSmall ? 'too long' : isEmpty(value) ? 'empty' : 'too short'
      return finding(path, `is ${amount}`, `${issue.origin === 'string' ? 'characters' : 'entries'}: ${limit}`)
    }
    case 'invalid_format':
      return finding(path, `${shown} has not the form ${issue.pattern ?? issue.format}`)
    case 'invalid_key': {
      // The message does not show the value: a header with an invalid name may contain a secret.
      const [message = '', hint] = issue.issues[0]?.message.split('\n') ?? []
      return finding(path, message || 'cannot be a key', hint, 'key')
    }
    case 'not_multiple_of':
      return finding(path, `${shown} is not a multiple of ${issue.divisor}`)
    default:
      return finding(path, `${shown} is not understood`)
  }
}

function hintForMissing(issue: Issue, path: readonly PropertyKey[], wording: Wording): string | undefined {
  const key = String(path.at(-1) ?? '')
  if (issue.code === 'invalid_value' && issue.values.length === 1) return wording.forMissing(key, String(issue.values[0]))
  if (issue.code === 'invalid_value') return `write ${issue.values.map(String).join(' or ')}`
  if (issue.code === 'invalid_type') return wording.forMissing(key, `with ${typeName(issue.expected, wording)}`)
  return undefined
}

function typeName(expected: string, { types }: Wording): string {
  return types[expected] ?? `a ${expected}`
}

function hintForType(expected: string, value: unknown, shown: string, wording: Wording): string | undefined {
  if (value === null) return wording.forNull(typeName(expected, wording))
  if (expected === 'object' || expected === 'record') return wording.forObject
  if (expected === 'array' && typeof value !== 'object') return wording.forArray(shown)
  if (expected === 'string' && (typeof value === 'number' || typeof value === 'boolean')) return wording.forText
  if (expected !== 'string' && typeof value === 'string' && /^(?:-?\d+(?:\.\d+)?|true|false)$/.test(value)) {
    return wording.forBare
  }
  return undefined
}

function isEmpty(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length === 0
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Object.hasOwn(value, key) ? (value as Record<PropertyKey, unknown>)[key] : undefined
  }
  return value
}

/** Such as `loadBalancers[0].options.socket`; a key that is no plain word is quoted. */
export function formatPath(path: readonly PropertyKey[]): string {
  let text = ''
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`
    else if (/^[\w-]+$/.test(String(key))) text += text === '' ? String(key) : `.${String(key)}`
    else text += `[${JSON.stringify(String(key))}]`
  }
  return text
}
