import { show } from './show.ts'

/** The terms for values in messages: for the author of a YAML file, or for a program that passes values. */
export interface Wording {
  show(value: unknown): string
  /** The names of zod's types. */
  types: Readonly<Record<string, string>>
  /** The description of null. */
  isNull: string
  forNull(type: string): string
  forMissing(key: string, what: string): string
  forText: string
  forBare: string
  forObject: string
  forArray(one: string): string
}

export const FILE: Wording = {
  show,
  types: {
    string: 'text',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    array: 'a list',
    object: 'a mapping (key: value)',
    record: 'a mapping (key: value)',
  },
  isNull: 'is empty',
  forNull: (type) => `remove the key, or give it ${type}`,
  forMissing: (key, what) => `write ${key}: ${what}`,
  forText: 'put it in quotes',
  forBare: 'write it without quotes',
  forObject: 'write its keys in its place, each as key: value',
  forArray: (one) => `write a list, such as [${one}]`,
}

export const PROGRAM: Wording = {
  show: showValue,
  types: {
    string: 'a string',
    number: 'a number',
    int: 'a whole number',
    boolean: 'true or false',
    array: 'an array',
    object: 'an object',
    record: 'an object',
  },
  isNull: 'is null',
  forNull: (type) => `leave it out, or give ${type}`,
  forMissing: (_key, what) => `give ${what.replace(/^with /, '')}`,
  forText: 'give it as a string',
  forBare: 'give it without quotes',
  forObject: 'give an object with its fields',
  forArray: (one) => `give an array, such as [${one}]`,
}

/** A Promise in the place of its value: an `await` is missing. */
export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function showValue(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'number') return String(value)
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'symbol' || typeof value === 'bigint') return `a ${typeof value}`
  if (isPromise(value)) return 'a Promise'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  return show(value)
}
