import type { z } from 'zod'

/** What keeps a record from being read, in one line: the field, and what is wrong with it. */
export function issueWords({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`)).join('; ')
}
