import type { z } from 'zod'

/** Describes in one line why a record cannot be read: the field, and the problem. */
export function issueWords({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`)).join('; ')
}
