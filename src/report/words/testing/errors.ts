import type { ErrorReasons } from '../../../reasons/error-reasons.ts'
import { FORBIDDEN, NO_ANSWER, REFUSED, type SamplesOf } from './some.ts'

export const errors: SamplesOf<ErrorReasons> = {
  'load-balancer-error': [REFUSED],
  'api-error': [NO_ANSWER, FORBIDDEN],
  error: [{ said: 'read ECONNRESET' }],
}
