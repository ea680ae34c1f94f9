import type { RunReasons } from '../../../reasons/run-reasons.ts'
import {
  EARLIER_RUN,
  EDGE,
  FAILED,
  FORBIDDEN,
  HOLDER,
  kubectl,
  LEASE,
  NO_ANSWER,
  OLD_IMAGES,
  READ_AS_OUT,
  REFUSED,
  resolve,
  resolveGone,
  RUN,
  type SamplesOf,
  WEB,
} from './some.ts'

const watch = kubectl('rollout', 'status', 'deployment/web')

export const run: SamplesOf<RunReasons> = {
  pods: [
    { pods: [{ uid: 'uid-0', pod: 'web-0', reason: FAILED }] },
    {
      pods: [
        { uid: 'uid-0', pod: 'web-0', reason: { code: 'settled-by-replacement', replacement: 'web-0' }, failed: FAILED },
        { uid: 'uid-1', pod: 'web-1', reason: { code: 'left-as-is' } },
      ],
    },
    { pods: [{ uid: 'uid-0', pod: 'web-0', reason: FAILED }], more: 12 },
  ],
  counts: [
    { upgraded: 2, already: 1, left: 0 },
    { upgraded: 2, already: 0, left: 1, resolved: 1 },
    { upgraded: 2, already: 0, left: 2 },
  ],
  several: [{ reasons: [{ code: 'not-ready-at-end', pods: ['web-0'] }, { code: 'interrupted' }] }],
  overlooked: [{ pods: [{ pod: 'web-0' }, { pod: 'api-1', workload: 'statefulset/api' }] }],
  'run-not-ended': [{ because: NO_ANSWER }],
  aborted: [
    { by: 'ann', upgraded: 1, old: 2 },
    { by: 'ann', upgraded: 1, old: 2, open: 3 },
    { by: 'ann', upgraded: 0, old: 0, open: 0 },
  ],
  'plan-refused': [
    { refusals: [{ code: 'no-pods' }] },
    {
      refusals: [
        {
          code: 'rollout-in-progress',
          workload: 'deployment/web',
          because: { code: 'pods-behind-template', updated: 1, replicas: 3 },
          watch,
        },
        { code: 'no-address', pod: 'web-0', because: { code: 'pod-without-address', pod: 'web-0' } },
        { code: 'no-address', pod: 'web-1', because: { code: 'pod-without-address', pod: 'web-1' } },
      ],
    },
  ],
  'stopped-before-done': [{}],
  'stopped-at-once': [{}],
  'interrupted-before-start': [{}],
  'not-begun': [{ pods: ['web-1', 'web-2'] }],
  'not-ready-at-end': [{ pods: ['web-0'] }, { pods: ['web-4', 'web-3', 'web-2', 'web-1', 'web-0'] }],
  'stays-open': [
    { runs: [{ pods: ['web-0'] }] },
    { runs: [{ pods: ['web-0', 'web-1'] }, { run: EARLIER_RUN, pods: ['web-2'] }] },
  ],
  'on-other-images': [{ pods: ['web-0'] }, { run: EARLIER_RUN, pods: ['web-0', 'web-2'] }],
  paused: [{ by: 'ann' }],
  'held-after': [
    { pod: 'web-0', ending: 'failed' },
    { pod: 'web-0', ending: 'rolledBack' },
    { pod: 'web-0', ending: 'needsOperator' },
    { pod: 'web-0', ending: 'overtaken' },
  ],
  interrupted: [{}],
  'abort-ordered': [{ by: 'ann' }],
  'pause-ends-run': [{ by: 'ann' }],
  'patched-with-requests': [
    { pod: 'web-0', requests: 1 },
    { pod: 'web-0', requests: 3 },
  ],
  'no-longer-selected': [{ pod: 'web-0' }],
  'watch-lost': [{}, { because: NO_ANSWER }],
  'watch-trouble': [{}, { because: NO_ANSWER }],

  'aborted-but': [
    { left: [{ code: 'template-kept', workload: WEB, upgraded: 1 }] },
    {
      left: [
        { code: 'template-not-put-back', workload: WEB, because: FORBIDDEN },
        { code: 'made-before-put-back', pods: ['web-3'] },
      ],
    },
  ],
  'template-not-put-back': [{}, { workload: WEB, because: FORBIDDEN }],
  'template-put-back': [{ images: OLD_IMAGES }],
  'template-kept': [
    { workload: WEB, upgraded: 1 },
    { workload: WEB, upgraded: 2 },
  ],
  'template-of-another-run': [{ workload: WEB }],
  'made-before-put-back': [{ pods: ['web-3'] }, { pods: ['web-3', 'web-4'] }],
  'revision-label-not-set': [{}, { because: FORBIDDEN }],
  'patch-of-pod-refused': [{ pod: 'web-0' }, { pod: 'web-0', because: FORBIDDEN }],

  'ledgers-not-removed': [{}, { because: FORBIDDEN }],
  'ledger-not-closed': [{}, { because: NO_ANSWER }],
  'ledger-of-newer-sluice': [{ run: EARLIER_RUN, problem: { code: 'record-newer', version: 9, reads: 1 } }],
  'ledger-unreadable': [{ run: EARLIER_RUN, problem: { code: 'record-part-missing', part: 'sluice-run-k3v9q0m1xz-2' } }],
  'ledgers-not-taken-over': [{ namespace: 'shop', tries: 5 }],
  'record-changed': [{ run: RUN }],
  'run-ended-meanwhile': [{}],
  'journal-lost': [{ run: EARLIER_RUN, traffic: READ_AS_OUT }],
  'left-half-done': [{ run: EARLIER_RUN, pods: ['web-0', 'web-1'] }],
  'left-out-for-good': [{ run: EARLIER_RUN, pods: ['web-0', 'web-1'] }],
  'say-how-pods-stand': [{ severalWorkloads: false }, { severalWorkloads: true }],

  'lease-held': [
    { lease: LEASE, holder: HOLDER },
    { lease: LEASE, holder: HOLDER, pausedBy: 'ann' },
  ],
  'lease-taken': [{ lease: LEASE, holder: HOLDER }, { lease: LEASE, holder: '' }, { lease: LEASE }],
  'lease-not-renewed': [{}, { because: NO_ANSWER }],
  'lease-ran-out': [{}],
  'lease-lost': [{}],
  'lease-contested': [{ leases: [LEASE] }, { leases: [LEASE, 'sluice-pod-web-0'] }],
  'lease-counted-out': [
    {
      lease: LEASE,
      transitions: 2_147_483_647,
      setBack: kubectl('patch', 'lease', LEASE, '--type', 'merge', '-p', '{"spec":{"leaseTransitions":12}}'),
    },
  ],
  'epoch-too-large': [
    { lease: LEASE, epoch: 9_007_199_254_740_991, largest: 2_147_483_646 },
    { lease: LEASE, epoch: 9_007_199_254_740_991, largest: 2_147_483_646, pod: 'web-0' },
  ],
  'load-balancer-not-asked': [{}, { loadBalancer: 'edge', because: REFUSED }],
  'effects-cannot-be-made': [
    { ...EDGE, others: 0 },
    { ...EDGE, others: 2, because: REFUSED },
  ],
  'half-done-elsewhere': [{ pod: 'web-0', entry: EDGE }],
  'half-done-undrained': [
    { pod: 'web-0', containers: ['log-agent'] },
    { pod: 'web-0', containers: ['log-agent', 'metrics'] },
  ],
  'half-done-not-in-config': [
    { pod: 'web-0', place: { loadBalancer: 'edge' }, resolve: resolve('in') },
    { pod: 'web-0', place: { loadBalancer: 'edge', scope: 'web' }, resolve: resolve('in') },
  ],
  'gone-not-in-config': [
    {
      pod: 'web-0',
      target: 'web/web-0@10.0.0.1:80',
      place: { loadBalancer: 'former', scope: 'web' },
      targets: ['web/web-0@10.0.0.1:80', 'web/web-0@10.0.0.1:81'],
      resolve: { ...resolveGone('in'), loadBalancers: ['former'] },
    },
  ],
}
