import type { ErrorReasons } from '../../reasons/error-reasons.ts'
import type { WordsOf } from './writing.ts'

/** The words of other systems, unchanged. */
export const errors: WordsOf<ErrorReasons> = {
  'load-balancer-error': ({ said }) => said,
  'api-error': ({ said }) => said,
  error: ({ said }) => said,
}
