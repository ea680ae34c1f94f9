import type { ErrorReasons } from '../../reasons/error-reasons.ts'
import type { WordsOf } from './writing.ts'

/** What came from elsewhere is given as it was said. */
export const errors: WordsOf<ErrorReasons> = {
  'load-balancer-error': ({ said }) => said,
  'api-error': ({ said }) => said,
  error: ({ said }) => said,
}
