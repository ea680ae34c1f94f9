import type { ReasonOf } from '../../reasons/reason.ts'

/** A reason that only tests use. */
export function said(words: string): ReasonOf<'error'> {
  return { code: 'error', said: words }
}
