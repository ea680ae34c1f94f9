import { expect, test } from 'vitest'
import type { Change, ObserverFinding, ObserverFindingCode, ObserverFindingFields } from '../../observer/told.ts'
import { changeWords, nodesUnreadNote, observerFindingHint, observerFindingMessage, observerFindingPage } from './observe.ts'
import { createWriting } from './words.ts'

const write = createWriting()
const because = { code: 'error', said: 'no answer' } as const
const of = { cluster: 'east', namespace: 'shop', service: 'web' }
const person = { manager: 'kubectl-edit', is: 'person' } as const
const controller = { manager: 'kube-controller-manager', is: 'controller-manager' } as const
const sweep = {
  cluster: 'east',
  object: 'Endpoints',
  writes: 12_954,
  objects: 12_954,
  startedAt: 0,
  lastAt: 660_000,
  by: controller,
} as const
const backlog = {
  cluster: 'east',
  object: 'EndpointSlice',
  services: 420,
  oldestMs: 72_000,
  lagMs: 31_250,
  perSecond: 20,
} as const

/** The type requires a sample of each code. */
const FINDINGS: { [C in ObserverFindingCode]: ObserverFindingFields[C][] } = {
  'cluster-unreachable': [{ cluster: 'west', because }],
  'objects-unread': [{ cluster: 'west', what: 'pods', because }],
  'load-balancer-unread': [{ loadBalancer: 'edge', because }],
  'stale-address': [
    { ...of, object: 'Endpoints', name: 'web', address: '10.0.0.1', pod: 'web-0', why: 'pod-gone', sinceMs: 10_000 },
    { ...of, object: 'EndpointSlice', name: 'web-abcde', address: '10.0.0.1', why: 'pod-has-another-address', sinceMs: 75_000 },
    { ...of, object: 'Endpoints', name: 'web', address: '10.0.0.1', pod: 'web-0', why: 'pod-finished', sinceMs: 10_000 },
    {
      ...of,
      object: 'EndpointSlice',
      name: 'web-copy',
      address: '10.0.0.1',
      pod: 'web-0',
      podCluster: 'west',
      why: 'pod-gone',
      sinceMs: 10_000,
    },
  ],
  sweep: [
    { ...sweep, isOver: false },
    { ...sweep, isOver: true },
  ],
  backlog: [
    { ...backlog, drainMs: 21_000, isOver: false },
    { ...backlog, drainMs: 21_000, workqueueDepth: 388, putsPerSecond: 19.8, isOver: false },
    { ...backlog, drainMs: 21_000, workqueueDepth: 388, isOver: false },
    { ...backlog, perSecond: 0, isOver: false },
    { ...backlog, isOver: true },
  ],
  'writers-undo-each-other': [
    { ...of, object: 'Endpoints', name: 'web', writers: [controller, person], writes: 4, spanMs: 3_000 },
  ],
  'endpoints-by-hand': [
    { ...of, by: person, addresses: ['192.0.2.1'] },
    { ...of, by: { manager: 'sync', is: 'other' }, addresses: ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'] },
  ],
  'pods-lost-with-heartbeat': [
    { cluster: 'east', node: 'node-1', ready: 'Unknown', pods: ['web-0'], spanMs: 0 },
    { cluster: 'east', node: 'node-1', ready: 'True', pods: ['web-0', 'web-1', 'web-2', 'web-3'], spanMs: 200 },
    { cluster: 'east', node: 'node-1', pods: ['web-0', 'web-1'], spanMs: 200 },
  ],
  'endpoints-truncated': [{ ...of, addresses: 1_000 }],
  'pod-flaps': [{ cluster: 'east', namespace: 'shop', pod: 'web-0', times: 3, spanMs: 200_000 }],
  'restarted-in-rotation': [
    { ...of, pods: ['web-0', 'web-1', 'web-2'], spanMs: 14_000 },
    { ...of, pods: ['web-0', 'web-1'], spanMs: 250_000 },
  ],
  'entry-flaps': [
    { loadBalancer: 'edge', entry: 'web-0', address: '10.0.0.1:80', namespace: 'shop', pod: 'web-0', stayedMs: 4_000 },
    { loadBalancer: 'edge', entry: 'old', address: '10.9.9.9:80', stayedMs: 1_500 },
  ],
  'entry-follows-nothing': [
    { loadBalancer: 'edge', entry: 'web-0', address: '10.0.0.1', formerPod: 'web-0', sinceMs: 10_000 },
    { loadBalancer: 'edge', entry: 'old', address: '10.9.9.9', sinceMs: 10_000 },
  ],
}
const findings = Object.entries(FINDINGS).flatMap(([code, some]) => some.map((facts) => ({ code, ...facts }) as ObserverFinding))

const CHANGES: Change[] = [
  { type: 'pod', at: 0, cluster: 'east', namespace: 'shop', pod: 'web-0', change: 'added' },
  {
    type: 'pod',
    at: 0,
    cluster: 'east',
    namespace: 'shop',
    pod: 'web-0',
    change: 'not-ready',
    because: { code: 'containers-not-ready', containers: [{ name: 'app' }] },
    conditionAt: '2026-11-29T22:58:01Z',
  },
  { type: 'pod', at: 0, cluster: 'east', namespace: 'shop', pod: 'web-0', change: 'address', addresses: ['10.0.0.2'] },
  {
    type: 'endpoint',
    at: 0,
    ...of,
    object: 'EndpointSlice',
    name: 'web-abcde',
    address: '10.0.0.1',
    pod: 'web-0',
    change: 'not-ready',
    lagMs: 4,
    triggerAt: '2026-11-29T22:58:01Z',
  },
  { type: 'endpoint', at: 0, ...of, object: 'Endpoints', name: 'web', address: '10.0.0.1', change: 'gone' },
  {
    type: 'endpoint',
    at: 0,
    ...of,
    object: 'EndpointSlice',
    name: 'web-copy',
    address: '10.0.0.1',
    change: 'gone',
    lags: [{ ...of, cluster: 'west', lagMs: 299_000 }],
  },
  {
    type: 'endpoint',
    at: 0,
    ...of,
    object: 'EndpointSlice',
    name: 'web-copy',
    address: '10.0.0.1',
    change: 'ready',
    lags: [{ ...of, service: 'app', lagMs: 2_000 }],
  },
  {
    type: 'entry',
    at: 0,
    loadBalancer: 'edge',
    entry: 'a',
    address: '10.0.0.1:80',
    change: 'out',
    namespace: 'shop',
    pod: 'web-0',
    lags: [{ ...of, lagMs: 2_000 }],
  },
  {
    type: 'entry',
    at: 0,
    loadBalancer: 'edge',
    entry: 'a',
    address: '10.0.0.1:80',
    change: 'gone',
    lags: [
      { ...of, lagMs: 1_311 },
      { ...of, cluster: 'access', lagMs: 233 },
    ],
  },
  { type: 'entry', at: 0, loadBalancer: 'edge', entry: 'a', address: '10.0.0.1:80', change: 'unhealthy', lags: [] },
  { type: 'node', at: 0, cluster: 'east', node: 'node-1', ready: 'Unknown' },
  { type: 'service', at: 0, ...of, change: 'selector-changed' },
]

test('the words of the observer are as they were read', async () => {
  const text = [
    'The words of `sluice observe`, to be read in review. Written anew by',
    '    npx vitest run --project unit src/report/words/observe.test.ts -u',
    '',
    '# Changes',
    ...CHANGES.map((change) => changeWords(change, write)),
    '',
    '# Notes',
    nodesUnreadNote({ cluster: 'west', because }, write),
    '',
    '# Findings',
    ...findings.flatMap((one) => [
      `${one.code}: ${observerFindingMessage(one, write)}`,
      ...observerFindingHint(one, write)
        .split('\n')
        .map((line) => `    ${line}`),
    ]),
    '',
  ].join('\n')
  await expect(text).toMatchFileSnapshot('../../../test/golden/observe-words.txt')
})

test.each(findings)('the words of $code are whole', (finding) => {
  const prose = [observerFindingMessage(finding, write), observerFindingHint(finding, write).split('\n')[0]!]
  for (const part of ['undefined', '[object', 'NaN', '  ', '()']) expect(prose.join('\n')).not.toContain(part)
  expect(observerFindingPage(finding)).toBe(`docs/observe.md#${finding.code}`)
})
