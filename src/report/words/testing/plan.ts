import type { PlanReasons } from '../../../reasons/plan-reasons.ts'
import type { ReasonOf } from '../../../reasons/reason.ts'
import {
  EARLIER_RUN,
  EDGE,
  HOLDER,
  INNER,
  LEASE,
  NO_ANSWER,
  OLD_IMAGES,
  resolveGone,
  RUN,
  type SamplesOf,
  TERMINATING,
  WEB,
} from './some.ts'

const NO_ENTRY: ReasonOf<'no-entry-at'> = { code: 'no-entry-at', loadBalancer: 'inner', addresses: ['10.0.0.1:80'] }
const IN: PlanReasons['to-upgrade'] = { rotation: 'in', lookedFor: [], waitsForNode: false }

export const plan: SamplesOf<PlanReasons> = {
  'goes-on-with-patch': [{}],
  'goes-on-from-patch': [{}],
  'goes-on-with-restore': [{}],
  'goes-on-without-drain': [{ containers: ['log-agent'] }, { containers: ['log-agent', 'metrics'] }],
  'goes-on-with-rollback': [{ images: OLD_IMAGES }],
  'no-container': [{ container: 'app' }],
  'not-of-undone-run': [{ run: RUN }],
  'to-upgrade': [
    IN,
    { ...IN, standing: { code: 'pod-not-ready' } },
    { ...IN, standing: TERMINATING },
    { ...IN, standing: { code: 'node-silent', node: 'node-1' }, waitsForNode: true },
    { ...IN, standing: { code: 'readiness-gates-closed', gates: [{ type: 'lb.example/in', status: 'missing' }] } },
    { ...IN, lookedFor: [NO_ENTRY] },
    { ...IN, rotation: 'operator' },
    { ...IN, rotation: 'operator', lookedFor: [NO_ENTRY] },
    { ...IN, rotation: 'kept' },
    { ...IN, rotation: 'kept', standing: { code: 'pod-not-ready' } },
    { ...IN, rotation: 'kept', standing: { code: 'node-silent', node: 'node-1' }, waitsForNode: true },
    { ...IN, rotation: 'none' },
    { ...IN, rotation: 'none', lookedFor: [{ code: 'pod-without-address', pod: 'web-0' }], waitsForNode: true },
    { ...IN, rotation: 'none', lookedFor: [NO_ENTRY, { code: 'no-port', pod: 'web-0', port: 'admin' }] },
  ],

  'not-in-every-load-balancer': [
    { pod: 'web-0', stays: false },
    { pod: 'web-0', stays: true, because: NO_ENTRY },
  ],
  'awaits-person': [
    { pod: 'web-0', entries: [EDGE], resolve: resolveGone('in') },
    { pod: 'web-0', entries: [EDGE, INNER], replacementAt: '10.0.0.9', resolve: resolveGone('in') },
  ],
  'no-pod-can-start': [
    {},
    {
      because: {
        code: 'window-taken',
        size: 1,
        pods: [{ pod: 'web-1', standing: 'not-ready', because: TERMINATING }],
        lacking: [],
        counts: [],
      },
    },
  ],
  'min-ready-longer': [{ workload: WEB, minReadyMs: 30_000 }],
  'part-of-workload': [{ workload: WEB, pods: 1, replicas: 3 }],
  'other-image-stays': [
    {
      pods: ['web-0', 'web-1'],
      workload: WEB,
      container: 'log',
      image: 'mirror.example/log:v1',
      templateImage: 'registry.example/log:v1',
    },
    { pods: ['web-0'], workload: WEB, container: 'log', image: 'mirror.example/log:v1' },
  ],
  'template-unchanged': [
    { owner: 'deployment/web', made: 'ReplicaSet', by: 'Deployment', images: OLD_IMAGES },
    { owner: 'replicaset/alone', pod: 'web-0', made: 'ReplicaSet', images: [] },
  ],
  'load-balancer-retired': [
    { place: { loadBalancer: 'former' }, run: EARLIER_RUN },
    { place: { loadBalancer: 'former', scope: 'web' }, run: EARLIER_RUN },
  ],
  'controller-behind': [{ generation: 2, observed: 1 }],
  'pods-of-several': [{ made: 'ReplicaSet', names: ['web-6c694d4cbf', 'web-7d8f9c5b44'] }],
  'pods-behind-template': [{ updated: 1, replicas: 3 }],
  'stays-on-release': [
    { workload: WEB, pods: 1, of: 3, run: EARLIER_RUN },
    {
      workload: WEB,
      pods: 2,
      of: 3,
      run: EARLIER_RUN,
      upgrade: { command: 'upgrade', namespace: 'shop', workloads: [WEB] },
    },
  ],
  'released-since': [{ workload: WEB, pods: 1, of: 3, run: EARLIER_RUN }],
  'nothing-to-take-back': [
    { run: RUN, by: 'ann' },
    { run: RUN, by: 'ann', undo: { command: 'undo', namespace: 'shop', workloads: [WEB], run: EARLIER_RUN } },
  ],
  'run-ordered': [
    { run: RUN, order: 'pause', by: 'ann', command: 'upgrade', exitWhenPaused: false },
    { run: RUN, order: 'pause', by: 'ann', command: 'undo', exitWhenPaused: true },
    { run: RUN, order: 'abort', by: 'ann', command: 'upgrade', exitWhenPaused: false },
    { run: RUN, order: 'abort', by: 'ann', command: 'undo', exitWhenPaused: false },
  ],
  'pause-left-behind': [{ run: RUN, by: 'ann' }],
  'orders-not-known': [{ because: NO_ANSWER }],
  'lease-may-be-held': [
    { lease: LEASE, holder: HOLDER, command: 'upgrade' },
    { lease: LEASE, holder: HOLDER, command: 'undo' },
  ],
  'rights-not-asked': [{ because: NO_ANSWER }],
  'rights-missing': [{ namespace: 'shop', rights: ['patch pods', 'create leases.coordination.k8s.io'] }],
  'deadline-shorter-than-job': [{ deadline: 'drain.deadline', deadlineMs: 30_000, loadBalancer: 'edge', longestMs: 60_000 }],
  'deadline-shorter-than-settle': [{ deadline: 'drain.deadline', deadlineMs: 60_000, loadBalancer: 'edge', settleMs: 95_000 }],
}
