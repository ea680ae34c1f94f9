import type { ReasonOf } from '../../reasons/reason.ts'

/** A reason of a test's own. */
export function said(words: string): ReasonOf<'error'> {
  return { code: 'error', said: words }
}
