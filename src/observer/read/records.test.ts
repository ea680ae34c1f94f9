import { expect, test } from 'vitest'
import { writeJournal } from '../../journal/journal.ts'
import type { Journal } from '../../pods/glossary.ts'
import { keptEndpoints, keptNode, keptPod, keptService, keptSlice } from './records.ts'

/* Objects in the form of an API server, with null for an empty list of Go. */

const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7' }
const identity = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '7' }
const TRIGGER = { 'endpoints.kubernetes.io/last-change-trigger-time': '2026-11-29T22:58:01Z' }

function managed(manager: string, field: string) {
  return [{ manager, time: '2026-11-29T22:58:02Z', fieldsV1: { [field]: {} } }]
}

test('an EndpointSlice: each address with its conditions and its pod, the trigger, and who wrote it', () => {
  const { seen } = keptSlice({
    metadata: {
      ...metadata,
      annotations: TRIGGER,
      labels: {
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      managedFields: managed('kube-controller-manager', 'f:endpoints'),
    },
    addressType: 'IPv4',
    ports: [{ name: '', port: 80, protocol: 'TCP' }],
    endpoints: [
      {
        addresses: ['10.0.0.1'],
        conditions: { ready: false, serving: true, terminating: true },
        targetRef: { kind: 'Pod', uid: 'p', name: 'web-0' },
      },
      { addresses: ['10.0.0.2'], hints: { forZones: [{ name: 'a' }] } },
    ],
  })
  expect(seen).toEqual({
    ...identity,
    kind: 'EndpointSlice',
    service: 'web',
    isControllers: true,
    triggerAt: '2026-11-29T22:58:01Z',
    labels: {
      'kubernetes.io/service-name': 'web',
      'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
    },
    hints: '[["10.0.0.2"],{"forZones":[{"name":"a"}]}]',
    ports: '["",80,"TCP",null]',
    by: { manager: 'kube-controller-manager', is: 'controller-manager', at: '2026-11-29T22:58:02Z' },
    addresses: [
      { address: '10.0.0.1', ready: false, serving: true, terminating: true, pod: 'p', podName: 'web-0' },
      { address: '10.0.0.2', ready: true, serving: true, terminating: false },
    ],
  })
})

test('an EndpointSlice of another writer, without endpoints', () => {
  const { seen } = keptSlice({ metadata, addressType: 'IPv4', endpoints: null, ports: null })
  expect(seen).toMatchObject({ service: 'web', isControllers: false, addresses: [], ports: '' })
})

test('Endpoints: what is ready, what is not, what was left out, and who wrote them', () => {
  const { seen } = keptEndpoints({
    metadata: {
      ...metadata,
      annotations: { 'endpoints.kubernetes.io/over-capacity': 'truncated' },
      managedFields: managed('kubectl-edit', 'f:subsets'),
    },
    subsets: [
      { addresses: [{ ip: '10.0.0.1' }], notReadyAddresses: [{ ip: '10.0.0.2' }], ports: [{ port: 80, protocol: 'TCP' }] },
    ],
  })
  expect(seen).toMatchObject({
    kind: 'Endpoints',
    isTruncated: true,
    by: { manager: 'kubectl-edit', is: 'person' },
    addresses: [
      { address: '10.0.0.1', ready: true },
      { address: '10.0.0.2', ready: false },
    ],
  })
})

test('a pod keeps what decides on endpoints, and no more', () => {
  const raw = {
    metadata: { ...metadata, labels: { app: 'web' }, annotations: { a: 'b' }, managedFields: managed('kubelet', 'f:status') },
    spec: {
      nodeName: 'node-1',
      containers: [
        {
          name: 'app',
          image: 'app:v1',
          env: [{ name: 'TOKEN', value: 'secret' }],
          ports: [{ containerPort: 80, hostIP: '0.0.0.0' }],
        },
      ],
    },
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      conditions: [
        { type: 'Ready', status: 'True', lastTransitionTime: '2026-11-29T22:58:01Z' },
        { type: 'PodScheduled', status: 'True' },
      ],
      containerStatuses: [{ name: 'app', ready: true, imageID: 'sha256:v1' }],
    },
  }
  const { seen, listener } = keptPod(raw)
  expect(seen).toEqual({
    metadata: { name: 'web', namespace: 'shop', uid: 'u', labels: { app: 'web' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'app', ports: [{ containerPort: 80 }] }] },
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-11-29T22:58:01Z' }],
      containerStatuses: [{ name: 'app', ready: true, restartCount: 0, isStopped: true }],
    },
  })
  expect(JSON.stringify(seen)).not.toContain('secret')
  expect(listener).toMatchObject({ uid: 'u', name: 'web', ip: '10.0.0.1' })
})

test('a pod that sluice has drained says so, until it is put back', () => {
  const raw = (journal: Partial<Journal>) => {
    const whole = { run: 'r', epoch: 1, attempt: 1, baseline: [], ...journal } as Journal
    return {
      metadata: { ...metadata, annotations: { 'sluice.dev/journal': writeJournal(whole, 'u') } },
      spec: { containers: [{ name: 'app' }] },
      status: { containerStatuses: [{ name: 'app', ready: true, restartCount: 2, state: { running: {} } }] },
    }
  }
  const targets = [{ loadBalancer: 'edge', target: 'a', scope: 's', prior: {}, untouched: false }]
  const { seen } = keptPod(raw({ step: 'patched', targets }))
  expect(seen).toMatchObject({ isDrained: true })
  expect(seen.status?.containerStatuses).toEqual([{ name: 'app', ready: true, restartCount: 2 }])
  for (const one of [raw({ step: 'closed', targets }), raw({ step: 'patched', targets: [] })])
    expect(keptPod(one).seen).not.toHaveProperty('isDrained')
})

test('a Service and a node', () => {
  const labels = { tier: 'front' }
  const service = keptService({
    metadata: { ...metadata, labels },
    spec: { selector: { app: 'web' }, clusterIP: 'None', ports: [{ port: 80, nodePort: 30_000 }] },
  })
  expect(service.seen).toEqual({
    metadata: { name: 'web', namespace: 'shop', uid: 'u', labels },
    spec: { selector: { app: 'web' }, clusterIP: 'None', ports: [{ port: 80 }] },
  })
  const node = keptNode({
    metadata: { name: 'node-1', uid: 'n', resourceVersion: '1' },
    status: { conditions: [{ type: 'Ready', status: 'Unknown' }], addresses: [{ type: 'InternalIP', address: '192.168.0.1' }] },
  })
  expect(node.seen).toEqual({ metadata: { name: 'node-1' }, ready: 'Unknown', addresses: ['192.168.0.1'] })
})
