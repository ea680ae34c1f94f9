import { z } from 'zod'
import { isPromise, PROGRAM } from '../../config/wording.ts'

/** A member of options that is no plain data. `what` names the member, `hint` says how to correct it. */
export function member<Value>(isIt: (value: unknown) => boolean, what: string, hint: string): z.ZodType<Value> {
  return z.custom<Value>(isIt, {
    error({ input }) {
      if (input === undefined) return `is missing\n${hint}`
      return isPromise(input) ? 'is a Promise\nawait it' : `${PROGRAM.show(input)} is not ${what}\n${hint}`
    },
  })
}

export const callback = member<(...facts: never[]) => void>(
  (value) => typeof value === 'function',
  'a function',
  'give a function, or leave it out',
).optional()

export const signal = member<AbortSignal>(
  (value) => value instanceof AbortSignal,
  'an AbortSignal',
  'give the signal of an AbortController',
).optional()

/** True for an object with these methods. */
export function hasMethods(value: unknown, methods: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
}
