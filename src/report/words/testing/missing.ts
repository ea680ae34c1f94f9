import type { MissingReasons } from '../../../reasons/missing-reasons.ts'
import { AT, EARLIER_RUN, RUN, type SamplesOf, WEB } from './some.ts'

const BEGAN_AT = '2026-11-21T10:12:00.000Z'
const MANY = ['web-0', 'web-1', 'web-2', 'web-3', 'web-4', 'web-5']

export const missing: SamplesOf<MissingReasons> = {
  'no-account': [{ finished: true }, { finished: false }],
  'first-account-lost': [{ before: AT }, { before: AT, begunAt: BEGAN_AT }],
  'owner-unknown': [
    { fromEpoch: 1, toEpoch: 3, accountsLost: false },
    { fromEpoch: 1, toEpoch: 3, accountsLost: true },
  ],
  'processes-not-kept': [
    { processes: 1, kept: 8 },
    { processes: 3, kept: 8 },
  ],
  'told-not-kept': [
    { what: 'done', pods: MANY, kept: 3 },
    { what: 'told', pods: ['web-0'], kept: 2 },
  ],
  'no-room-for-accounts': [
    { pods: 1, until: AT },
    { pods: 7, until: AT },
  ],
  'not-finished': [{ after: AT }],
  'newer-run-unknown': [{ workload: WEB, unreadable: [RUN, EARLIER_RUN] }],
  'earlier-not-kept': [
    { what: 'done', processes: 2 },
    { what: 'told', processes: 1 },
  ],
  'pod-without-account': [{}],
}
