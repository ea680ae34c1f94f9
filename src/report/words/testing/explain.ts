import type { ExplainReasons } from '../../../reasons/explain-reasons.ts'
import type { Writer } from '../../../reasons/fields.ts'
import { AT, EDGE, FORBIDDEN, HOLDER, IN, OUT, RUN, type SamplesOf, WEB } from './some.ts'

const EDIT: Writer = { manager: 'kubectl-edit', is: 'person', at: AT }
const SLICE = { kind: 'EndpointSlice', name: 'web-abc12' }

export const explain: SamplesOf<ExplainReasons> = {
  'no-slice': [{ service: 'web' }],
  'not-in-slices': [{ service: 'web', pod: 'web-0', addresses: ['10.0.0.1'] }],
  'slice-differs': [
    { service: 'web', slice: 'web-abc12', pod: 'web-0', differs: [{ field: 'ready', is: false, made: true }] },
    {
      service: 'web',
      slice: 'web-abc12',
      pod: 'web-0',
      differs: [
        { field: 'ready', is: true, made: false },
        { field: 'serving', made: false },
      ],
    },
  ],
  'slice-ports-differ': [
    { service: 'web', slice: 'web-abc12', pod: 'web-0', ports: ['80/TCP'], made: ['8080/TCP'] },
    { service: 'web', slice: 'web-abc12', pod: 'web-0', ports: [], made: ['8080/TCP'] },
    { service: 'web', slice: 'web-abc12', pod: 'web-0', ports: ['80/TCP'], made: [] },
  ],
  'stale-address': [
    { service: 'web', object: SLICE, address: '10.0.0.9', pod: 'web-3', because: 'pod-gone' },
    { service: 'web', object: SLICE, address: '10.0.0.9', pod: 'web-3', because: 'pod-replaced' },
    { service: 'web', object: SLICE, address: '10.0.0.9', pod: 'web-3', because: 'not-selected' },
    { service: 'web', object: SLICE, address: '10.0.0.9', pod: 'web-3', because: 'pod-finished' },
    { service: 'web', object: SLICE, address: '10.0.0.9', pod: 'web-3', because: 'other-address' },
    { service: 'web', object: SLICE, address: '10.0.0.9', pod: 'web-3', because: 'not-made' },
    { service: 'web', object: { kind: 'Endpoints', name: 'web' }, address: '10.0.0.9', because: 'no-pod-named' },
  ],
  'endpoints-differ': [
    {
      service: 'web',
      pods: [
        { pod: 'web-0', is: 'absent', made: 'ready' },
        { pod: 'web-1', is: 'ready', made: 'not-ready' },
      ],
    },
  ],
  'endpoints-missing': [{ service: 'web' }],
  'written-by-other': [
    { object: SLICE, writer: EDIT },
    { object: { kind: 'Endpoints', name: 'web' }, writer: { manager: 'acme-sync', is: 'other' } },
  ],
  'slices-of-others': [
    { service: 'web', slices: ['web-acme'], managedBy: 'acme.example' },
    { service: 'web', slices: ['web-1', 'web-2'] },
  ],
  'no-ready-endpoint': [
    { service: 'web', pods: 3 },
    { service: 'web', pods: 0 },
  ],
  'no-address-given': [{ service: 'web' }],
  'selector-nearly': [
    { pods: ['web-0', 'web-1'], labels: [{ name: 'tier', wanted: 'front', value: 'back' }] },
    {
      pods: ['web-0'],
      labels: [
        { name: 'tier', wanted: 'front' },
        { name: 'zone', wanted: 'a', value: 'b' },
      ],
    },
  ],
  'in-no-service': [{ pods: ['web-0'] }, { pods: ['web-0', 'web-1', 'web-2', 'web-3'] }],
  'condition-by-other': [
    { pod: 'web-0', condition: 'Ready', status: 'False', writer: EDIT },
    { pod: 'web-0', condition: 'Ready', status: 'True', writer: { manager: 'acme', is: 'other' } },
  ],
  'node-not-ready': [
    { node: 'node-1', status: 'Unknown', reason: 'NodeStatusUnknown', since: AT },
    { node: 'node-1', status: 'missing' },
  ],
  'node-lease-not-renewed': [
    { node: 'node-1', renewedAt: AT, watchedMs: 12_000 },
    { node: 'node-1', watchedMs: 12_000 },
  ],
  'node-cordoned': [{ node: 'node-1' }],
  'fewer-pods': [{ workload: WEB, pods: 2, wanted: 3 }],
  'pod-in-run': [
    {
      pod: 'web-0',
      run: RUN,
      step: 'patched',
      out: true,
      holder: HOLDER,
      because: { code: 'is-patched', entries: [EDGE], ready: false },
    },
    { pod: 'web-0', run: RUN, step: 'drain', out: null, because: { code: 'may-be-drained', entries: [EDGE] } },
  ],
  'pod-needs-operator': [{ pod: 'web-0', run: RUN }],
  'entry-out-by-run': [{ entry: OUT, run: RUN }],
  'entry-out-by-others': [{ entry: OUT }, { entry: { ...OUT, by: FORBIDDEN } }],
  'entry-out-before-run': [{ entry: OUT, run: RUN }],
  'entry-fails-check': [{ entry: { ...IN, said: 'DOWN' } }],
  'entry-in-and-pod-not-ready': [{ entry: IN }],
}
