import { isThere } from './values.ts'

interface Optional {
  hasValue(): boolean
  value(): unknown
}

function isOptional(value: object): value is Optional {
  return typeof (value as Partial<Optional>).hasValue === 'function'
}

/** A value of an expression as JSON. Times and durations are text, such as `90s`, and a missing object is null. */
export function plainOf(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(plainOf)
  if (isOptional(value)) return value.hasValue() ? plainOf(value.value()) : null
  if (Symbol.toStringTag in value) return String(value)
  if (!isThere(value)) return null
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainOf(one)]))
}
