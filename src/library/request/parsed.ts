import type { z } from 'zod'
import { check, formatPath } from '../../config/check.ts'
import { isPromise, PROGRAM } from '../../config/wording.ts'
import { RequestError, type RequestIssue } from './request-error.ts'

/** Reads a value with the given shape. `whole` names the input if no field is at fault. Throws a RequestError that lists every problem. */
export function parsed<Value>(
  schema: z.ZodType,
  input: unknown,
  read: (issues: RequestIssue[]) => Value,
  whole = 'request',
): Value {
  if (isPromise(input)) throw new RequestError([{ field: whole, message: 'is a Promise', hint: 'await it' }])
  const shape = check(schema, input, { wording: PROGRAM })
  if (!shape.ok)
    throw new RequestError(
      shape.findings.map(({ path, message, hint }) => ({
        field: path.length === 0 ? whole : formatPath(path),
        message,
        ...(hint === undefined ? {} : { hint }),
      })),
    )
  const issues: RequestIssue[] = []
  const value = read(issues)
  if (issues.length > 0) throw new RequestError(issues)
  return value
}

/** Checks the shape of a value that is used as it was given. Throws as `parsed` does. */
export function assertShape(schema: z.ZodType, input: unknown, whole: string): void {
  parsed(schema, input, () => {}, whole)
}
