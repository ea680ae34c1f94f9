import type { Refusals } from '../../../reasons/refusals.ts'
import type { ReasonOf } from '../../../reasons/reason.ts'
import { EARLIER_RUN, kubectl, NEW_IMAGES, OLD_IMAGES, READ_AS_OUT, resolve, resolveGone, type SamplesOf, WEB } from './some.ts'

const ALL = ['web-0', 'web-1', 'web-2']
const LEFT = { run: EARLIER_RUN, pod: 'web-0' }
const NO_ENTRY: ReasonOf<'not-drainable'> = {
  code: 'not-drainable',
  because: { code: 'no-entry-at', loadBalancer: 'edge', addresses: ['10.0.0.1:80'] },
}
const UNREADABLE: ReasonOf<'journal-unreadable'> = { code: 'journal-unreadable', problem: { code: 'record-edited' } }
const ROLLOUT = { workload: 'deployment/web', watch: kubectl('rollout', 'status', 'deployment/web') }
const FULL: Refusals['window-full'] = { window: 1, operator: [], operatorInPart: [], unserved: [], anyOut: false }

const ownedBy = (
  kind: string,
  name: string,
  apiVersion: string,
  upgrades: Refusals['unsupported-owner']['upgrades'],
): Refusals['unsupported-owner'] => ({ pods: ['web-0'], owner: { kind, name, apiVersion }, upgrades })

export const refusals: SamplesOf<Refusals> = {
  'container-twice': [{ container: 'app' }],
  'init-container': [{ of: { workload: WEB }, container: 'proxy', known: ['app', 'log'] }],
  'unknown-container': [
    { of: { workload: WEB }, container: 'ap', known: ['app', 'log'] },
    { of: { pods: ['web-0', 'web-1', 'web-2', 'web-3'] }, container: 'ap', known: ['app'] },
  ],
  'left-open': [
    { ...LEFT, standing: 'half-done' },
    { ...LEFT, standing: 'not-asked', traffic: READ_AS_OUT, workloads: [WEB] },
    { ...LEFT, standing: 'pod-gone', traffic: READ_AS_OUT, workloads: [WEB], resolve: resolveGone('in') },
    { ...LEFT, standing: 'pod-gone-unsure' },
    { ...LEFT, standing: 'journal-lost', traffic: READ_AS_OUT },
    { ...LEFT, standing: 'gone-for-good', traffic: READ_AS_OUT },
  ],
  'load-balancer-dropped': [
    { loadBalancer: 'former', places: [{ loadBalancer: 'former' }], run: EARLIER_RUN, pods: 1, workloads: [WEB] },
    {
      loadBalancer: 'former',
      places: [
        { loadBalancer: 'former', scope: 'web' },
        { loadBalancer: 'former', scope: 'api' },
      ],
      run: EARLIER_RUN,
      pods: 3,
      workloads: [WEB, 'daemonset/proxy'],
    },
  ],
  'min-ready-too-long': [{ workload: WEB, minReadyMs: 900_000, readyDeadlineMs: 600_000 }],
  'no-address': [{ pod: 'web-0', because: { code: 'pod-without-address', pod: 'web-0' } }],
  'no-image': [{ pod: 'web-0' }],
  'no-pods': [{}],
  'not-in-load-balancer': [
    { pod: 'web-0', because: NO_ENTRY, isThere: false },
    {
      pod: 'web-0',
      because: { code: 'not-found', loadBalancer: 'edge', said: 'two servers have the address 10.0.0.1' },
      isThere: true,
    },
  ],
  'restart-policy': [{ pods: ['web-0', 'web-1'], policy: 'Never' }],
  'revision-differs': [
    {
      workload: WEB,
      pods: ALL,
      differences: [{ path: 'spec.template.spec.containers[app].env[FOO].value', before: 'a', after: 'b' }],
    },
    {
      workload: WEB,
      pods: ALL,
      differences: [
        { path: 'spec.template.spec.containers[log].image', before: 'registry.example/log:v1', after: 'registry.example/log:v2' },
      ],
      images: [...NEW_IMAGES, { container: 'log', image: 'registry.example/log:v2' }],
    },
  ],
  'revision-unknown': [
    { workload: WEB, pods: ALL, revision: 'web-6c694d4cbf' },
    { workload: WEB, pods: ['web-0'] },
  ],
  'rollout-in-progress': [
    { ...ROLLOUT, because: { code: 'controller-behind', generation: 2, observed: 1 } },
    { ...ROLLOUT, because: { code: 'pods-of-several', made: 'ReplicaSet', names: ['web-6c694d4cbf', 'web-7d8f9c5b44'] } },
    { ...ROLLOUT, because: { code: 'pods-behind-template', updated: 1, replicas: 3 } },
  ],
  'template-drift': [
    { owner: 'deployment/web', made: 'ReplicaSet', by: 'Deployment', images: OLD_IMAGES },
    { owner: 'replicaset/alone', pod: 'web-0', made: 'ReplicaSet', images: [] },
  ],
  'unreadable-journal': [
    { pod: 'web-0', because: UNREADABLE, isOnRecord: true, resolve: resolve('out') },
    { pod: 'web-0', because: UNREADABLE, isOnRecord: false, resolve: resolve('in') },
  ],
  'unsupported-owner': [
    ownedBy('CloneSet', 'shop', 'apps.kruise.io/v1alpha1', 'in-place-by-itself'),
    ownedBy('Job', 'import', 'batch/v1', 'never'),
    ownedBy('Node', 'node-1', 'v1', 'by-manifest'),
    ownedBy('Rollout', 'shop', 'argoproj.io/v1alpha1', 'unknown'),
  ],
  'update-strategy': [
    {
      workload: WEB,
      strategy: 'RollingUpdate',
      change: kubectl(
        'patch',
        WEB,
        '--type',
        'merge',
        '-p',
        '{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}',
      ),
    },
  ],
  'window-full': [
    { ...FULL, operator: ['web-0'] },
    { ...FULL, operatorInPart: ['web-0'], anyOut: true },
    { ...FULL, window: 3, operator: ['web-0'], operatorInPart: ['web-1'], unserved: ['web-2'], because: NO_ENTRY, anyOut: true },
    { ...FULL, unserved: ['web-1'], because: { code: 'no-entry-at', loadBalancer: 'edge', addresses: ['10.0.0.2:80'] } },
  ],
  'workload-deleting': [{ workload: WEB }],
  'workload-gone': [{ workload: WEB }],
  'workload-paused': [{ workload: 'deployment/web', resume: kubectl('rollout', 'resume', 'deployment/web') }],
}
