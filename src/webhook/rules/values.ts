import type { MessageType } from './message-type.ts'
import { valueOf } from './message-type.ts'

/* The values of variables: each made once of an object of the API server, and kept for as long as the object. */

interface Counts {
  readonly all: number
  readonly ready: number
}

const made = new WeakMap<object, object>()
const sources = new WeakMap<object, object>()
const counters = new WeakMap<object, () => Counts>()
const absent = new WeakSet<object>()

/** The value of an object of the API server, which must not change in place. */
export function valueFor(type: MessageType, raw: object | undefined): object {
  if (raw === undefined) return missing(type)
  const known = made.get(raw)
  if (known !== undefined) return known
  const value = valueOf(type, raw)
  made.set(raw, value)
  sources.set(value, raw)
  return value
}

/** The value of an object that is not there. It has the fields that are given, and `exists` is false for it. */
export function missing(type: MessageType, fields: object = {}): object {
  const value = Object.assign(new type.make(), fields)
  absent.add(value)
  return value
}

export function isThere(value: object): boolean {
  return !absent.has(value)
}

/** The object of the API server that a value is made of. */
export function sourceOf(value: object): object {
  return sources.get(value) ?? {}
}

/** A Service for one decision, since its pods are counted at most once in a decision. */
export function countedService(type: MessageType, raw: object, count: () => Counts): object {
  const value = Object.assign(new type.make(), valueFor(type, raw))
  let counted: Counts | undefined
  counters.set(value, () => (counted ??= count()))
  return value
}

export function countsOf(service: object): Counts {
  return counters.get(service)?.() ?? { all: 0, ready: 0 }
}
