import { expect, test } from 'vitest'
import { service } from '../endpoints/testing/objects.ts'
import type { ExplainReasons } from '../reasons/explain-reasons.ts'
import type { Reason } from '../reasons/reason.ts'
import { explain } from './explain.ts'
import type { Explanation } from './explanation.ts'
import type { Observed, ObservedEntry, RunFacts } from './observed.ts'
import { byKubelet, READY_FIELDS, writtenBy } from '../endpoints/testing/managed-fields.ts'
import {
  endpointOf,
  endpointsObject,
  notReady,
  observed,
  pod,
  READY,
  SERVICE_WEB,
  slice,
  STATEFUL_SET_WEB,
} from './testing/observed.ts'

const ENTRY: ObservedEntry = {
  pod: 'uid-of-web-0',
  loadBalancer: 'edge',
  found: true,
  target: 'web-0@10.0.0.1:80',
  admin: 'in',
  routable: true,
  inFlight: 3,
}
const OUT: ObservedEntry = { ...ENTRY, admin: 'out', routable: false, inFlight: 0 }
const RUN: RunFacts = {
  run: 'r1',
  step: 'patched',
  workload: 'statefulset/web',
  holder: 'ci-7',
  startedAt: '2026-11-29T09:59:00Z',
  out: true,
  because: { code: 'is-patched', entries: [{ loadBalancer: 'edge', target: ENTRY.target }], ready: false },
  needsOperator: false,
  targets: [{ loadBalancer: 'edge', target: ENTRY.target, untouched: false }],
}
const runs = (run: Partial<RunFacts> = {}) => new Map([['uid-of-web-0', { ...RUN, ...run }]])
const WEB_1 = pod({ name: 'web-1', address: '10.0.0.2' })
const OTHER_CONTROLLER = { 'kubernetes.io/service-name': 'web', 'endpointslice.kubernetes.io/managed-by': 'acme.example' }
const EDITED = [
  writtenBy('kube-controller-manager', { 'f:metadata': { 'f:ownerReferences': {} } }),
  writtenBy('kubectl-edit', { 'f:endpoints': {}, 'f:subsets': {} }),
]

function codes({ findings }: Explanation): string[] {
  return findings.map(({ severity, reason }) => `${severity} ${reason.code}`)
}

test('a Ready pod in its slice, its Endpoints and its load balancer is as it should be', () => {
  const result = explain(observed({ entries: [ENTRY] }))
  expect(codes(result)).toEqual([])
  expect(result).toMatchObject({
    verdict: 'right',
    pods: [
      {
        name: 'web-0',
        rotation: 'in',
        conditions: [{ type: 'Ready', status: 'True', writtenBy: { manager: 'kubelet', is: 'kubelet' } }, {}],
        places: [
          { in: 'slice', service: 'web', slice: 'web-abc12', ready: true },
          { in: 'endpoints', is: 'ready' },
          { in: 'load-balancer', loadBalancer: 'edge', admin: 'in' },
        ],
      },
    ],
    services: [{ name: 'web', slices: [{ ready: 1, notReady: 0, writtenBy: { is: 'controller-manager' } }] }],
    nodes: [{ name: 'node-1', ready: { status: 'True' }, heartbeat: {} }],
  })
})

interface Scene {
  code:
    | keyof ExplainReasons
    | 'journal-unreadable'
    | 'containers-not-ready'
    | 'not-found'
    | 'node-not-found'
    | 'pod-finished'
    | 'selects-nothing'
  what?: string
  seen: () => Partial<Observed> & { pods?: Observed['pods'] }
  /** The findings, in order. */
  findings: string[]
  verdict: Explanation['verdict']
}

/** Scenes with pods that the controllers have seen, and with pods that they have not seen. */
const scenes: Scene[] = [
  {
    code: 'containers-not-ready',
    seen: () => ({ pods: [notReady()] }),
    findings: ['wrong containers-not-ready'],
    verdict: 'wrong',
  },
  {
    code: 'no-slice',
    seen: () => ({ slices: [] }),
    findings: ['wrong no-slice'],
    verdict: 'wrong',
  },
  {
    code: 'not-in-slices',
    seen: () => ({ slices: [slice([])] }),
    findings: ['wrong not-in-slices'],
    verdict: 'wrong',
  },
  {
    code: 'slice-differs',
    seen: () => ({ slices: [slice([endpointOf(pod(), { conditions: { ready: false, serving: true, terminating: false } })])] }),
    findings: ['wrong slice-differs'],
    verdict: 'wrong',
  },
  {
    code: 'slice-ports-differ',
    seen: () => ({ slices: [slice([endpointOf(pod())], { ports: [{ name: 'http', port: 80, protocol: 'TCP' }] })] }),
    findings: ['wrong slice-ports-differ'],
    verdict: 'wrong',
  },
  {
    code: 'stale-address',
    what: 'of a pod that is gone, where the Service is asked about',
    seen: () => ({
      about: SERVICE_WEB,
      slices: [slice([endpointOf(pod()), endpointOf(pod({ name: 'web-9', address: '10.0.0.9' }))])],
    }),
    findings: ['wrong stale-address'],
    verdict: 'wrong',
  },
  {
    code: 'stale-address',
    what: 'of a pod that is gone is nothing of another pod',
    seen: () => ({ slices: [slice([endpointOf(pod()), endpointOf(pod({ name: 'web-9', address: '10.0.0.9' }))])] }),
    findings: [],
    verdict: 'right',
  },
  {
    code: 'stale-address',
    what: 'of the pod before it under its name',
    seen: () => ({
      slices: [
        slice([
          endpointOf(pod()),
          endpointOf(pod({ address: '10.0.0.9' }), { targetRef: { kind: 'Pod', name: 'web-0', uid: 'former' } }),
        ]),
      ],
    }),
    findings: ['wrong stale-address'],
    verdict: 'wrong',
  },
  {
    code: 'stale-address',
    what: 'is not told of pods that cannot be listed',
    seen: () => ({
      about: SERVICE_WEB,
      hasAllPods: false,
      slices: [slice([endpointOf(pod()), endpointOf(pod({ name: 'web-9', address: '10.0.0.9' }))])],
    }),
    findings: [],
    verdict: 'right',
  },
  {
    code: 'written-by-other',
    what: 'beside what differs in it',
    seen: () => ({ slices: [slice([], { metadata: { ...slice([]).metadata, managedFields: EDITED } })] }),
    findings: ['wrong not-in-slices', 'note written-by-other'],
    verdict: 'wrong',
  },
  {
    code: 'endpoints-differ',
    what: 'by an edit of the Endpoints',
    seen: () => ({ endpoints: [endpointsObject([], { metadata: { name: 'web', namespace: 'shop', managedFields: EDITED } })] }),
    findings: ['wrong endpoints-differ', 'note written-by-other'],
    verdict: 'wrong',
  },
  {
    code: 'stale-address',
    what: 'in Endpoints that somebody has given another address',
    seen: () => ({
      about: SERVICE_WEB,
      endpoints: [endpointsObject([pod()], { subsets: [{ addresses: [{ ip: '192.0.2.1' }, addressOf(pod())] }] })],
    }),
    findings: ['wrong stale-address'],
    verdict: 'wrong',
  },
  {
    code: 'endpoints-missing',
    seen: () => ({ endpoints: [] }),
    findings: ['note endpoints-missing'],
    verdict: 'right',
  },
  {
    code: 'slices-of-others',
    seen: () => ({
      slices: [
        slice([endpointOf(pod())]),
        slice([], { metadata: { name: 'web-acme', namespace: 'shop', labels: OTHER_CONTROLLER } }),
      ],
    }),
    findings: ['note slices-of-others'],
    verdict: 'right',
  },
  {
    code: 'no-ready-endpoint',
    seen: () => ({ about: SERVICE_WEB, pods: [notReady()] }),
    findings: ['wrong containers-not-ready', 'wrong no-ready-endpoint'],
    verdict: 'wrong',
  },
  {
    code: 'no-address-given',
    seen: () => ({ about: SERVICE_WEB, services: [service({ selector: {} })], pods: [], slices: [], endpoints: [] }),
    findings: ['wrong no-address-given', 'note no-selector'],
    verdict: 'wrong',
  },
  {
    code: 'selector-nearly',
    seen: () => ({
      about: SERVICE_WEB,
      services: [service({ selector: { app: 'web', tier: 'front' } })],
      asked: new Set<string>(),
      slices: [slice([])],
      endpoints: [endpointsObject([])],
    }),
    findings: ['wrong selects-nothing', 'note selector-nearly'],
    verdict: 'wrong',
  },
  {
    code: 'selects-nothing',
    what: 'with no pod that is near',
    seen: () => ({
      about: SERVICE_WEB,
      services: [service({ selector: { app: 'shop' } })],
      asked: new Set<string>(),
      slices: [slice([])],
      endpoints: [endpointsObject([])],
    }),
    findings: ['wrong selects-nothing'],
    verdict: 'wrong',
  },
  {
    code: 'in-no-service',
    seen: () => ({ services: [service({ selector: { app: 'web', tier: 'front' } })], slices: [], endpoints: [] }),
    findings: ['wrong in-no-service', 'note selector-nearly'],
    verdict: 'wrong',
  },
  {
    code: 'in-no-service',
    what: 'is no fault of a pod that a load balancer has',
    seen: () => ({ services: [], slices: [], endpoints: [], entries: [ENTRY] }),
    findings: ['note in-no-service'],
    verdict: 'right',
  },
  {
    code: 'condition-by-other',
    what: 'that an operator has set to False',
    seen: () => ({
      pods: [
        pod({
          conditions: [READY[0]!, { type: 'Ready', status: 'False', reason: 'Maintenance' }],
          managedFields: [byKubelet('ContainersReady'), writtenBy('kubectl-edit', READY_FIELDS)],
        }),
      ],
    }),
    findings: ['wrong ready-condition', 'wrong condition-by-other'],
    verdict: 'wrong',
  },
  {
    code: 'condition-by-other',
    what: 'that an operator has set to False without a reason is no silent node',
    seen: () => ({
      pods: [
        pod({
          conditions: [READY[0]!, { type: 'Ready', status: 'False' }],
          managedFields: [byKubelet('ContainersReady'), writtenBy('kubectl-edit', READY_FIELDS)],
        }),
      ],
    }),
    findings: ['wrong ready-condition', 'wrong condition-by-other'],
    verdict: 'wrong',
  },
  {
    code: 'condition-by-other',
    what: 'is not the node lifecycle controller, which sets Ready where a node is silent',
    seen: () => ({
      pods: [
        pod({
          conditions: [READY[0]!, { type: 'Ready', status: 'False' }],
          managedFields: [byKubelet('ContainersReady'), writtenBy('kube-controller-manager', READY_FIELDS)],
        }),
      ],
      nodes: [
        {
          metadata: { name: 'node-1' },
          status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] },
        },
      ],
      heartbeats: new Map([['node-1', { renewedAt: '2026-11-29T09:00:00Z', seen: 'silent' as const, watchedMs: 12_000 }]]),
    }),
    findings: ['wrong node-silent', 'wrong node-not-ready', 'wrong node-lease-not-renewed'],
    verdict: 'wrong',
  },
  {
    code: 'condition-by-other',
    what: 'is not a kubelet that has the name of a larger program',
    seen: () => ({
      pods: [pod({ managedFields: [{ ...byKubelet('Ready', 'ContainersReady'), manager: 'k3s' }] })],
    }),
    findings: [],
    verdict: 'right',
  },
  {
    code: 'node-not-found',
    seen: () => ({ nodes: [], slices: [slice([])], endpoints: [endpointsObject([pod()])] }),
    findings: ['wrong node-not-found'],
    verdict: 'wrong',
  },
  {
    code: 'node-not-found',
    what: 'is no reason to call wrong what the slices have: a node that goes makes their controller write nothing',
    seen: () => ({ nodes: [] }),
    findings: ['wrong node-not-found'],
    verdict: 'wrong',
  },
  {
    code: 'pod-finished',
    what: 'is no reason to call wrong what has the pod as not ready: its end makes the controllers write nothing',
    seen: () => ({
      about: SERVICE_WEB,
      pods: [pod(), notReady({ name: 'web-1', address: '10.0.0.2', status: { phase: 'Failed' } })],
    }),
    findings: ['note pod-finished'],
    verdict: 'right',
  },
  {
    code: 'node-cordoned',
    seen: () => ({
      nodes: [
        {
          metadata: { name: 'node-1' },
          spec: { unschedulable: true },
          status: { conditions: [{ type: 'Ready', status: 'True' }] },
        },
      ],
    }),
    findings: ['note node-cordoned'],
    verdict: 'right',
  },
  {
    code: 'fewer-pods',
    seen: () => ({ about: STATEFUL_SET_WEB, wanted: 2 }),
    findings: ['wrong fewer-pods'],
    verdict: 'wrong',
  },
  {
    code: 'pod-in-run',
    what: 'which has it out of the load balancer',
    seen: () => ({ pods: [notReady()], entries: [OUT], runs: runs() }),
    findings: ['wrong pod-in-run', 'wrong containers-not-ready', 'wrong entry-out-by-run'],
    verdict: 'wrong',
  },
  {
    code: 'pod-in-run',
    what: 'which changes a container that needs no drain',
    seen: () => ({
      entries: [ENTRY],
      runs: runs({ out: false, because: { code: 'changes-without-drain', containers: ['side'], ready: true }, targets: [] }),
    }),
    findings: ['note pod-in-run'],
    verdict: 'right',
  },
  {
    code: 'stale-address',
    what: 'of a pod that is not asked about, which has another address',
    seen: () => ({
      asked: new Set(['uid-of-web-0']),
      pods: [pod(), WEB_1],
      slices: [slice([endpointOf(pod()), endpointOf(WEB_1), endpointOf(WEB_1, { addresses: ['10.0.0.99'] })])],
    }),
    findings: [],
    verdict: 'right',
  },
  {
    code: 'stale-address',
    what: 'of the pod, which has another address',
    seen: () => ({ slices: [slice([endpointOf(pod()), endpointOf(pod(), { addresses: ['10.0.0.99'] })])] }),
    findings: ['wrong stale-address'],
    verdict: 'wrong',
  },
  {
    code: 'pod-needs-operator',
    seen: () => ({ entries: [OUT], runs: runs({ needsOperator: true }) }),
    findings: ['wrong pod-in-run', 'wrong pod-needs-operator', 'wrong entry-out-by-run'],
    verdict: 'wrong',
  },
  {
    code: 'journal-unreadable',
    seen: () => ({
      runs: runs({ run: '', because: { code: 'record-not-json' }, needsOperator: true, targets: [] }),
      entries: [ENTRY],
    }),
    findings: ['wrong journal-unreadable', 'wrong pod-needs-operator'],
    verdict: 'wrong',
  },
  {
    code: 'entry-out-by-others',
    seen: () => ({ entries: [OUT] }),
    findings: ['wrong entry-out-by-others'],
    verdict: 'wrong',
  },
  {
    code: 'entry-out-before-run',
    seen: () => ({ entries: [OUT], runs: runs({ targets: [{ ...RUN.targets[0]!, untouched: true }] }) }),
    findings: ['wrong pod-in-run', 'wrong entry-out-before-run'],
    verdict: 'wrong',
  },
  {
    code: 'entry-fails-check',
    seen: () => ({ entries: [{ ...ENTRY, routable: false }] }),
    findings: ['wrong entry-fails-check'],
    verdict: 'wrong',
  },
  {
    code: 'entry-in-and-pod-not-ready',
    seen: () => ({ pods: [notReady()], entries: [ENTRY] }),
    findings: ['wrong containers-not-ready', 'wrong entry-in-and-pod-not-ready'],
    verdict: 'wrong',
  },
  {
    code: 'not-found',
    seen: () => ({
      entries: [
        {
          pod: 'uid-of-web-0',
          loadBalancer: 'edge',
          found: false,
          because: { code: 'not-found', loadBalancer: 'edge', said: 'none' },
        },
      ],
    }),
    findings: ['wrong not-found'],
    verdict: 'wrong',
  },
]

function addressOf(one: ReturnType<typeof pod>) {
  return { ip: one.status!.podIP!, targetRef: endpointOf(one).targetRef! }
}

test.each(scenes)('$code $what', ({ seen, findings, verdict }) => {
  const result = explain(observed(seen()))
  expect(codes(result)).toEqual(findings)
  expect(result.verdict).toBe(verdict)
})

test('each finding that is wrong has a command to run next, but where the way out is at the load balancer', () => {
  const without = scenes
    .flatMap(({ seen }) => explain(observed(seen())).findings)
    .filter(({ severity, next }) => severity === 'wrong' && next.length === 0)
  expect([...new Set(without.map(({ reason }) => reason.code))]).toEqual(['not-found'])
})

test('every code of explain has a scene', () => {
  const told = new Set<string>(scenes.flatMap(({ seen }) => explain(observed(seen())).findings.map(({ reason }) => reason.code)))
  const all: Record<keyof ExplainReasons, true> = {
    'no-slice': true,
    'not-in-slices': true,
    'slice-differs': true,
    'slice-ports-differ': true,
    'stale-address': true,
    'endpoints-differ': true,
    'endpoints-missing': true,
    'written-by-other': true,
    'slices-of-others': true,
    'no-ready-endpoint': true,
    'no-address-given': true,
    'selector-nearly': true,
    'in-no-service': true,
    'condition-by-other': true,
    'node-not-ready': true,
    'node-lease-not-renewed': true,
    'node-cordoned': true,
    'fewer-pods': true,
    'pod-in-run': true,
    'pod-needs-operator': true,
    'entry-out-by-run': true,
    'entry-out-by-others': true,
    'entry-out-before-run': true,
    'entry-fails-check': true,
    'entry-in-and-pod-not-ready': true,
  }
  expect(Object.keys(all).filter((code) => !told.has(code))).toEqual([])
})

test('where Services may not be read, nobody can tell that all is right, nor that a pod is in none', () => {
  const { slices: _slices, ...rest } = observed({ services: [] })
  const because = { code: 'error', said: 'forbidden' } as const
  const result = explain({ ...rest, unread: [{ what: 'services', decides: true, because }] })
  expect(result).toMatchObject({ verdict: 'unknown', findings: [], pods: [{ rotation: 'unknown' }] })
})

test('where nodes may not be read, those of the pods are taken to be there', () => {
  const { nodes: _nodes, ...rest } = observed()
  const because = { code: 'error', said: 'forbidden' } as const
  const result = explain({ ...rest, unread: [{ what: 'nodes', decides: false, because }] })
  expect(result).toMatchObject({ verdict: 'right', findings: [], nodes: [] })
})

test.each<{ by?: Reason }>([{}, { by: { code: 'cannot-read-back' } }])(
  'a load balancer that cannot be read back leaves the verdict open: %j',
  (told) => {
    const result = explain(observed({ entries: [{ ...ENTRY, admin: 'unknown', routable: false, ...told }] }))
    expect(result).toMatchObject({
      verdict: 'unknown',
      pods: [{ rotation: 'unknown' }],
      unread: [{ what: 'load-balancer', name: 'edge', because: { code: 'cannot-read-back' } }],
    })
  },
)

test('a Service whose endpoints another program keeps, and none of which is ready', () => {
  const byHand = slice([{ addresses: ['192.0.2.9'], conditions: { ready: false } }], {
    metadata: { name: 'web-by-hand', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
  })
  const services = [service({ selector: {} })]
  const result = explain(observed({ about: SERVICE_WEB, services, pods: [], slices: [byHand], endpoints: [] }))
  expect(result.findings.map(({ reason }) => reason)).toContainEqual({ code: 'no-ready-endpoint', service: 'web', pods: 0 })
})

test('a pod of two places is in rotation partly where one of them has it out', () => {
  expect(explain(observed({ entries: [OUT] })).pods).toMatchObject([{ rotation: 'partly' }])
  expect(explain(observed({ pods: [notReady()], entries: [OUT] })).pods).toMatchObject([{ rotation: 'out' }])
})

test('what others than the controller keep counts for a Service without a selector, by address alone', () => {
  const web = pod({ labels: { app: 'other' } })
  const own = slice([{ addresses: ['10.0.0.1'] }], { metadata: { name: 'web-1', namespace: 'shop', labels: OTHER_CONTROLLER } })
  const result = explain(observed({ pods: [web], services: [service({ selector: {} })], slices: [own], endpoints: [] }))
  expect(codes(result)).toEqual([])
  expect(result.pods).toMatchObject([
    { rotation: 'in', places: [{ in: 'slice', slice: 'web-1', managedBy: 'acme.example', ready: true }] },
  ])
})

test('of two pods the one is told that is out, by its name', () => {
  const pods = [notReady(), WEB_1]
  const { findings, pods: told } = explain(observed({ pods, about: STATEFUL_SET_WEB, wanted: 2 }))
  expect(findings).toMatchObject([{ pod: 'web-0', reason: { code: 'containers-not-ready' } }])
  expect(told.map(({ name, rotation }) => [name, rotation])).toEqual([
    ['web-0', 'out'],
    ['web-1', 'in'],
  ])
})

test('a pod that is on no node, or is going, is told with the condition that says why', () => {
  const unscheduled = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' }
  const evicted = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI', message: 'evicting' }
  const pending = pod({ conditions: [unscheduled], status: { phase: 'Pending', podIP: '', podIPs: [] } })
  const [slices, endpoints] = [[slice([])], [endpointsObject([])]]
  expect(explain(observed({ pods: [pending], slices, endpoints }))).toMatchObject({
    findings: [{ reason: { code: 'pod-has-no-address' } }, { reason: { code: 'ready-condition', status: 'missing' } }],
    pods: [{ rotation: 'out', conditions: [{ status: 'missing' }, { status: 'missing' }, { reason: 'Unschedulable' }] }],
  })
  const going = pod({ conditions: [...READY, evicted], metadata: { deletionTimestamp: '2026-11-29T10:10:00Z' } })
  const leaving = [slice([endpointOf(going, { conditions: { ready: false, serving: true, terminating: true } })])]
  expect(explain(observed({ pods: [going], slices: leaving, endpoints }))).toMatchObject({
    findings: [{ reason: { code: 'terminating' } }],
    pods: [{ rotation: 'out', conditions: [{ status: 'True' }, {}, { type: 'DisruptionTarget', message: 'evicting' }] }],
  })
})

test('above the limit of Endpoints it is worth knowing which pods they lack, and nothing is wrong', () => {
  const pods = Array.from({ length: 1_003 }, (_, index) =>
    pod({ name: `web-${index}`, address: `10.0.${index >> 8}.${index & 255}` }),
  )
  // The controller keeps the first pods in the order of their addresses as texts.
  const kept = pods.toSorted((a, b) => (a.status!.podIP! < b.status!.podIP! ? -1 : 1)).slice(0, 1_000)
  const result = explain(observed({ pods, about: STATEFUL_SET_WEB, endpoints: [endpointsObject(kept)] }))
  expect([result.verdict, codes(result)]).toEqual(['right', Array.from({ length: 3 }, () => 'note endpoints-truncated')])
})

test('a hostname that a headless Service leaves out is told where no Service is the one that the subdomain names', () => {
  const headless = (name: string) => service({ clusterIP: 'None' }, { name })
  const told = (subdomain: string) => {
    const pods = [pod({ spec: { hostname: 'web-0', subdomain } })]
    return codes(explain(observed({ pods, services: [headless('web'), headless('peers')] })))
  }
  expect(told('peers')).not.toContain('note hostname-left-out')
  expect(told('elsewhere').filter((code) => code === 'note hostname-left-out')).toHaveLength(2)
})
