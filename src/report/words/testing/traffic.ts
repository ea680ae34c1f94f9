import type { TrafficReasons } from '../../../reasons/traffic-reasons.ts'
import { EDGE, IN, INNER, NO_ANSWER, OUT, type SamplesOf } from './some.ts'

export const traffic: SamplesOf<TrafficReasons> = {
  'entries-read': [
    { entries: [IN] },
    {
      entries: [
        { ...EDGE, admin: 'draining', inFlight: null, said: 'MAINT' },
        { ...INNER, admin: 'unknown', inFlight: null, by: { code: 'cannot-read-back' } },
      ],
    },
    { entries: [{ ...OUT, by: { code: 'said-by-person' } }] },
  ],
  'in-no-load-balancer': [{}],
  'out-by-operator': [{}],
  'said-by-person': [{}],
  'cannot-read-back': [{}],
  'entry-cannot-read-back': [EDGE],
  'entry-is-out': [EDGE],
  'reading-may-be-old': [{ loadBalancer: 'edge' }],
  'restore-may-not-show': [EDGE],
  'entry-differs': [{ ...EDGE, now: '{"weight":5}', before: '{"weight":30}' }],
  'gets-no-requests': [{ entry: OUT }],
  'pod-without-address': [{ pod: 'web-0' }],
  'no-port': [{ pod: 'web-0', port: 'admin' }],
  'not-found': [{ loadBalancer: 'edge', said: 'two servers have the address 10.0.0.1' }],
  'no-entry-at': [
    { loadBalancer: 'edge', addresses: ['10.0.0.1:80'] },
    { loadBalancer: 'edge', addresses: ['10.0.0.1:80', '[fd00::1]:80'] },
  ],
  'needs-drain': [{ pod: 'web-0', containers: ['app', 'proxy'] }],
  'entries-changing': [{ pod: 'web-0' }],
  'at-new-address': [
    { address: '10.0.0.9', entries: [EDGE] },
    { address: '10.0.0.9', entries: [] },
    { entries: [], because: { code: 'no-entry-at', loadBalancer: 'edge', addresses: ['10.0.0.9:80'] } },
  ],
  'effect-unanswered': [
    { loadBalancer: 'edge', effect: 'drain' },
    { loadBalancer: 'edge', effect: 'restore' },
  ],
  'job-accepted': [
    { loadBalancer: 'edge', effect: 'drain' },
    { loadBalancer: 'edge', effect: 'restore', job: 'job-17' },
  ],
  'job-overdue': [{ longestMs: 30_000 }],
  'other-job': [{ loadBalancer: 'edge', scope: 'web' }],
  'document-locked': [
    { lease: 'sluice-document-0a1b2c3d', namespace: 'release', holder: 'ci-1_4711 3' },
    { lease: 'sluice-document-0a1b2c3d', namespace: 'release', holder: '' },
  ],
  'document-not-locked': [{ lease: 'sluice-document-0a1b2c3d', namespace: 'release', because: NO_ANSWER }],
  'document-lock-old': [{ lease: 'sluice-document-0a1b2c3d', namespace: 'release' }],
  'run-ended': [{}],
  'lease-not-held': [{}],
  'pod-gone': [{}],
  'pod-moved': [{ pod: 'web-0' }],
  'pod-going': [{ pod: 'web-0' }],
  'pod-not-ready-any-more': [{ pod: 'web-0' }],
  'readiness-unknown': [{ pod: 'web-0' }],
  'has-other-containers': [{ pod: 'web-0' }],
  'no-longer-to-stay-out': [{}],
  'events-forbidden': [{}],
  'later-owner-wrote': [{}],
  'dry-run-differs': [{ images: [{ container: 'app', image: 'mirror.example/app:v2' }] }],
  'replacement-in-doubt': [{ replacement: 'web-0' }, { replacement: 'web-0', because: NO_ANSWER }],
  'replacement-is-out': [{ replacement: 'web-0' }],
  'replacement-elsewhere': [
    { replacement: 'web-0' },
    { replacement: 'web-0', because: { code: 'at-new-address', address: '10.0.0.9', entries: [INNER] } },
  ],
}
