import type { ResolveReasons } from '../../../reasons/resolve-reasons.ts'
import { EDGE, FORBIDDEN, INNER, NO_ANSWER, type SamplesOf } from './some.ts'

export const resolving: SamplesOf<ResolveReasons> = {
  'nothing-to-resolve': [
    { pod: 'web-0', namespace: 'shop', of: 'live' },
    { pod: 'web-0', namespace: 'shop', of: 'gone' },
    { pod: 'web-0', namespace: 'shop', of: 'any' },
  ],
  'two-pods-of-name': [
    { pod: 'web-0', live: [EDGE], gone: [EDGE, INNER] },
    { pod: 'web-0', live: [], gone: [] },
  ],
  'not-in-named-load-balancers': [
    { pod: 'web-0', known: ['edge'], named: ['inner', 'outer'] },
    { pod: 'web-0', known: [], named: ['inner'] },
  ],
  'pod-has-ended': [{ pod: 'web-0' }],
  'pod-at-other-address': [{ pod: 'web-0' }],
  'pod-is-gone': [{ pod: 'web-0' }],
  'nothing-on-record': [{ pod: 'web-0' }],
  'say-of-rest-too': [{ pod: 'web-0', loadBalancers: ['inner', 'outer'] }],
  'said-in-before': [{ pod: 'web-0', loadBalancers: ['edge'] }],
  'say-first-where-in': [{ pod: 'web-0', loadBalancers: ['edge', 'inner'] }],
  'not-all-recorded': [{}, { because: NO_ANSWER }],
  'record-changed-meanwhile': [{ pod: 'web-0' }, { pod: 'web-0', because: NO_ANSWER }],
  'report-not-told': [{}, { because: FORBIDDEN }],
}
