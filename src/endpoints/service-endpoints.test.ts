import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { controllerRules } from './controller-rules.ts'
import type { AddressType, Pod, Service } from './objects.ts'
import type { EndpointReason, EndpointReasonCode, SharedCode } from './reasons.ts'
import { serviceEndpoints } from './service-endpoints.ts'
import { nodes, pod, service } from './testing/objects.ts'

const DELETED = { deletionTimestamp: '2026-01-01T00:00:30Z', finalizers: ['example.org/hold'] }
const NOT_READY = { conditions: [{ type: 'Ready', status: 'False', reason: 'PodFailed', message: 'evicted' }] }
const ANNOTATION = 'service.alpha.kubernetes.io/tolerate-unready-endpoints'
const WAITING = [{ name: 'app', ready: false, state: { waiting: { reason: 'CrashLoopBackOff' } } }]
const condition = (type: string, status: string) => ({ type, status })

interface Case {
  what: string
  service?: Service
  pod?: Pod
  /** The conditions of each endpoint in slices, as `ready serving terminating`; `-` stands for false. */
  slices: string[]
  inEndpoints: 'ready' | 'not-ready' | 'absent'
  reasons: EndpointReason[]
}

const cases: Case[] = [
  { what: 'a Ready pod', slices: ['ready serving -'], inEndpoints: 'ready', reasons: [] },
  {
    what: 'other labels',
    service: service({ selector: { app: 'web', tier: 'front' } }),
    slices: [],
    inEndpoints: 'absent',
    reasons: [{ code: 'selector-differs', labels: [{ name: 'tier', wanted: 'front' }] }],
  },
  {
    what: 'a finished pod, also where what is not ready is published',
    service: service({ publishNotReadyAddresses: true }),
    pod: pod({ spec: { restartPolicy: 'Never' }, status: { phase: 'Failed' } }),
    slices: [],
    inEndpoints: 'absent',
    reasons: [{ code: 'pod-finished', phase: 'Failed', restartPolicy: 'Never' }],
  },
  {
    what: 'a pod without an address',
    pod: pod({ status: { podIP: undefined, podIPs: [] } as never }),
    slices: [],
    inEndpoints: 'absent',
    reasons: [{ code: 'pod-has-no-address' }],
  },
  {
    what: 'a node that is gone',
    pod: pod({ spec: { nodeName: 'node-7' } }),
    slices: [],
    inEndpoints: 'ready',
    reasons: [{ code: 'node-not-found', node: 'node-7' }],
  },
  {
    what: 'a node that is gone, where what is not ready is published',
    service: service({ publishNotReadyAddresses: true }),
    pod: pod({ spec: { nodeName: 'node-7' } }),
    slices: ['ready serving -'],
    inEndpoints: 'ready',
    reasons: [],
  },
  {
    what: 'an address of the second family alone',
    service: service({ ipFamilies: ['IPv6', 'IPv4'] }),
    slices: ['ready serving -'],
    inEndpoints: 'absent',
    reasons: [{ code: 'no-address-of-type', addressType: 'IPv6', has: ['IPv4'], forEndpoints: true }],
  },
  {
    what: 'an address of the first family alone',
    service: service({ ipFamilies: ['IPv4', 'IPv6'] }),
    slices: ['ready serving -'],
    inEndpoints: 'ready',
    reasons: [{ code: 'no-address-of-type', addressType: 'IPv6', has: ['IPv4'], forEndpoints: false }],
  },
  {
    what: 'a named port of another protocol',
    pod: pod({ spec: { containers: [{ name: 'app', ports: [{ name: 'http', containerPort: 8080, protocol: 'UDP' }] }] } }),
    slices: ['ready serving -'],
    inEndpoints: 'absent',
    reasons: [
      { code: 'port-not-found', port: 'http', targetPort: 'http', protocol: 'TCP', otherProtocol: 'UDP' },
      { code: 'no-port-in-endpoints' },
    ],
  },
  {
    what: 'a pod that terminates',
    pod: pod({ metadata: DELETED }),
    slices: ['- serving terminating'],
    inEndpoints: 'absent',
    reasons: [{ code: 'terminating', dueAt: DELETED.deletionTimestamp, finalizers: DELETED.finalizers }],
  },
  {
    what: 'a pod that terminates, where what is not ready is published',
    service: service({ publishNotReadyAddresses: true }),
    pod: pod({ metadata: DELETED, status: { ...NOT_READY, containerStatuses: WAITING } }),
    slices: ['ready - terminating'],
    inEndpoints: 'ready',
    reasons: [
      { code: 'terminating', dueAt: DELETED.deletionTimestamp, finalizers: DELETED.finalizers },
      { code: 'containers-not-ready', containers: [{ name: 'app', waiting: 'CrashLoopBackOff' }] },
      { code: 'not-ready-published' },
    ],
  },
  {
    what: 'the old annotation',
    service: service({}, { annotations: { [ANNOTATION]: 'true' } }),
    pod: pod({ status: NOT_READY }),
    slices: ['- - -'],
    inEndpoints: 'not-ready',
    reasons: [
      { code: 'ready-condition', status: 'False', reason: 'PodFailed', message: 'evicted' },
      { code: 'old-annotation-ignored', annotation: ANNOTATION },
    ],
  },
  {
    what: 'no condition Ready',
    pod: pod({ status: { conditions: [] } }),
    slices: ['- - -'],
    inEndpoints: 'not-ready',
    reasons: [{ code: 'ready-condition', status: 'missing' }],
  },
  {
    what: 'a closed readiness gate',
    pod: pod({
      spec: { readinessGates: [{ conditionType: 'lb/in' }, { conditionType: 'lb/up' }] },
      status: { conditions: [condition('ContainersReady', 'True'), condition('Ready', 'False'), condition('lb/up', 'True')] },
    }),
    slices: ['- - -'],
    inEndpoints: 'not-ready',
    reasons: [{ code: 'readiness-gates-closed', gates: [{ type: 'lb/in', status: 'missing' }] }],
  },
  {
    what: 'a closed readiness gate that the kubelet has not seen yet',
    pod: pod({ spec: { readinessGates: [{ conditionType: 'lb/in' }] } }),
    slices: ['ready serving -'],
    inEndpoints: 'ready',
    reasons: [],
  },
  {
    what: 'a silent node',
    pod: pod({ status: { conditions: [condition('ContainersReady', 'True'), condition('Ready', 'False')] } }),
    slices: ['- - -'],
    inEndpoints: 'not-ready',
    reasons: [{ code: 'node-silent', node: 'node-1' }],
  },
  {
    what: 'a subdomain of another name',
    pod: pod({ spec: { hostname: 'web-0', subdomain: 'other' } }),
    slices: ['ready serving -'],
    inEndpoints: 'ready',
    reasons: [{ code: 'hostname-left-out', hostname: 'web-0', subdomain: 'other' }],
  },
  {
    what: 'the network of the node',
    pod: pod({ spec: { hostNetwork: true } }),
    slices: ['ready serving -'],
    inEndpoints: 'ready',
    reasons: [{ code: 'host-network', node: 'node-1' }],
  },
]

test.each(cases)(
  '$what: $slices in slices, $inEndpoints in Endpoints',
  ({ service: own = service(), pod: given = pod(), ...expected }) => {
    const { pods } = serviceEndpoints({ service: own, pods: [given], nodes })
    const [{ slices, inEndpoints, reasons }] = pods as [(typeof pods)[0]]
    const shown = slices.map(({ conditions: { ready, serving, terminating } }) =>
      [ready && 'ready', serving && 'serving', terminating && 'terminating'].map((one) => one || '-').join(' '),
    )
    expect({ slices: shown, inEndpoints, reasons }).toEqual({
      slices: expected.slices,
      inEndpoints: expected.inEndpoints,
      reasons: expected.reasons,
    })
  },
)

const serviceCases: [what: string, own: Service, pods: Pod[], reasons: EndpointReason[]][] = [
  ['without a selector', service({ selector: undefined } as never), [pod()], [{ code: 'no-selector' }]],
  ['with an empty selector', service({ selector: {} }), [pod()], [{ code: 'no-selector' }]],
  ['of type ExternalName', service({ type: 'ExternalName' }), [pod()], [{ code: 'external-name' }]],
  ['that selects nothing', service(), [], [{ code: 'selects-nothing', selector: { app: 'web' } }]],
  ['that is headless and has no ports', service({ clusterIP: 'None', ports: [] }), [pod()], [{ code: 'headless-without-ports' }]],
]

test.each(serviceCases)('a Service %s says so', (_, own, pods, reasons) => {
  const endpoints = serviceEndpoints({ service: own, pods, nodes })
  expect(endpoints.reasons).toEqual(reasons)
  const isLeftAlone = reasons[0]!.code === 'no-selector' || reasons[0]!.code === 'external-name'
  expect(endpoints.made === undefined).toBe(isLeftAlone)
})

test('each reason stands in one of the cases, truncation aside', () => {
  const codes: Record<Exclude<EndpointReasonCode, 'endpoints-truncated'> | SharedCode, true> = {
    'no-selector': true,
    'external-name': true,
    'selects-nothing': true,
    'headless-without-ports': true,
    'selector-differs': true,
    'pod-finished': true,
    'pod-has-no-address': true,
    'no-address-of-type': true,
    'node-not-found': true,
    'port-not-found': true,
    'no-port-in-endpoints': true,
    'ready-condition': true,
    'not-ready-published': true,
    'old-annotation-ignored': true,
    'hostname-left-out': true,
    'host-network': true,
    terminating: true,
    'containers-not-ready': true,
    'readiness-gates-closed': true,
    'node-silent': true,
  }
  const reached = [...cases.flatMap(({ reasons }) => reasons), ...serviceCases.flatMap(([, , , reasons]) => reasons)]
  expect(new Set(reached.map(({ code }) => code))).toEqual(new Set(Object.keys(codes)))
})

test('a headless Service without ports has addresses alone, in both', () => {
  const { made } = serviceEndpoints({ service: service({ clusterIP: 'None', ports: [] }), pods: [pod()], nodes })
  expect(made?.slices.groups).toMatchObject([{ ports: [], endpoints: [{ addresses: ['10.0.0.1'], zone: 'zone-1' }] }])
  expect(made?.endpoints.subsets).toMatchObject([{ ports: [], addresses: [{ ip: '10.0.0.1' }] }])
  expect(made?.slices.labels).toHaveProperty('service.kubernetes.io/headless', '')
})

test('an address type without endpoints has one empty slice without ports', () => {
  const { made } = serviceEndpoints({ service: service({ ipFamilies: ['IPv4', 'IPv6'] }), pods: [pod()], nodes })
  expect(made?.slices.groups.map(({ addressType, ports, endpoints }) => [addressType, ports.length, endpoints.length])).toEqual([
    ['IPv4', 1, 1],
    ['IPv6', 0, 0],
  ])
})

test('pods that give a named port other numbers are in slices and subsets of their own', () => {
  const other = pod({
    metadata: { name: 'web-1', uid: 'uid-of-web-1' },
    spec: { containers: [{ name: 'app', ports: [{ name: 'http', containerPort: 9090 }] }] },
    status: { podIP: '10.0.0.2', podIPs: [{ ip: '10.0.0.2' }] },
  })
  const { made } = serviceEndpoints({ service: service(), pods: [pod(), other], nodes })
  const numbers = (some: readonly { ports: readonly { port: number }[] }[]) =>
    some.map(({ ports }) => ports.map(({ port }) => port))
  expect(numbers(made!.slices.groups)).toEqual([[8080], [9090]])
  expect(numbers(made!.endpoints.subsets)).toEqual([[8080], [9090]])
})

test('ports that lead to the same addresses are one subset', () => {
  const ports = [
    { name: 'http', port: 80, targetPort: 'http' },
    { name: 'plain', port: 81, targetPort: 8081 },
  ]
  const { made } = serviceEndpoints({ service: service({ ports }), pods: [pod()], nodes })
  expect(made?.endpoints.subsets.map((subset) => subset.ports.map(({ port }) => port))).toEqual([[8080, 8081]])
})

test('a port of a sidecar is one of the pod, in slices since Kubernetes 1.33', () => {
  const initContainers = [
    { name: 'setup', ports: [{ name: 'setup', containerPort: 7000 }] },
    { name: 'proxy', restartPolicy: 'Always', ports: [{ name: 'admin', containerPort: 9001 }] },
  ]
  const own = service({ ports: ['admin', 'setup'].map((name, index) => ({ name, port: 80 + index, targetPort: name })) })
  const found = (minor: number) => {
    const { made, pods } = serviceEndpoints({
      service: own,
      pods: [pod({ spec: { initContainers } })],
      nodes,
      rules: controllerRules(minor),
    })
    const numbers = [...made!.slices.groups, ...made!.endpoints.subsets].map(({ ports }) => ports.map(({ port }) => port))
    return [numbers, pods[0]!.reasons.map((reason) => 'inInitContainer' in reason && reason.inInitContainer)]
  }
  expect(found(33)).toEqual([[[9001], [9001]], [true]])
  expect(found(32)).toEqual([
    [[], [9001]],
    [true, true],
  ])
})

test.each([
  ['FD00:0:0::A', 'IPv6', 'fd00::a'],
  ['010.000.0.1', 'IPv4', '10.0.0.1'],
  ['::ffff:10.0.0.1', 'IPv4', '10.0.0.1'],
] satisfies [string, AddressType, string][])('%s is the %s address %s, since Kubernetes 1.33', (ip, family, canonical) => {
  const given = { service: service({ ipFamilies: [family] }), pods: [pod({ status: { podIPs: [{ ip }] } })], nodes }
  const addresses = (minor: number) => {
    const { made } = serviceEndpoints({ ...given, rules: controllerRules(minor) })
    return [made!.slices.groups[0]!.endpoints[0]!.addresses[0], made!.endpoints.subsets[0]!.addresses[0]!.ip]
  }
  expect([addresses(33), addresses(32)]).toEqual([
    [canonical, canonical],
    [ip, ip],
  ])
})

test('a hostname is the one of the endpoint where the subdomain is the Service', () => {
  const { made, pods } = serviceEndpoints({
    service: service(),
    pods: [pod({ spec: { hostname: 'web-0', subdomain: 'web' } })],
    nodes,
  })
  expect(made!.slices.groups[0]!.endpoints[0]!.hostname).toBe('web-0')
  expect(made!.endpoints.subsets[0]!.addresses[0]!.hostname).toBe('web-0')
  expect(pods[0]!.reasons).toEqual([])
})

test('labels are those of the Service and of the controllers', () => {
  const own = service({}, { labels: { team: 'shop', 'service.kubernetes.io/headless': 'x' } })
  const { made } = serviceEndpoints({ service: own, pods: [], nodes })
  expect(made?.slices.labels).toEqual({
    team: 'shop',
    'kubernetes.io/service-name': 'web',
    'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
  })
  expect(made?.endpoints.labels).toEqual({ team: 'shop', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' })
  const before = serviceEndpoints({ service: own, pods: [], nodes, rules: controllerRules(32) })
  expect(before.made?.endpoints.labels).toEqual({ team: 'shop' })
})

function many(ready: number, notReady: number, spec: (index: number) => Partial<Pod['spec']> = () => ({})): Pod[] {
  return Array.from({ length: ready + notReady }, (_, index) => {
    const ip = `10.${index >> 8}.${index & 255}.1`
    const conditions = [condition('Ready', index < ready ? 'True' : 'False')]
    return pod({
      metadata: { name: `web-${index}`, uid: `uid-${index}` },
      spec: spec(index),
      status: { podIP: ip, podIPs: [{ ip }], conditions },
    })
  })
}

test.each([
  { ready: 600, notReady: 400, kept: [600, 400], out: 0 },
  { ready: 900, notReady: 200, kept: [900, 100], out: 100 },
  { ready: 1_001, notReady: 5, kept: [1_000, 0], out: 6 },
])('of $ready ready and $notReady other pods Endpoints have $kept', ({ ready, notReady, kept, out }) => {
  const { made, pods } = serviceEndpoints({ service: service(), pods: many(ready, notReady), nodes })
  const [subset] = made!.endpoints.subsets
  expect([subset!.addresses.length, subset!.notReadyAddresses.length]).toEqual(kept)
  const left = pods.filter(({ reasons }) => reasons.some(({ code }) => code === 'endpoints-truncated'))
  expect(left).toHaveLength(out)
  expect(left.every(({ inEndpoints, slices }) => inEndpoints === 'absent' && slices.length === 1)).toBe(true)
  expect(made!.slices.groups.flatMap(({ endpoints }) => endpoints)).toHaveLength(ready + notReady)
  expect(made!.endpoints.truncation).toEqual(out === 0 ? undefined : { ready, notReady })
})

test('several subsets keep their share of the limit, and no more than the limit', () => {
  const odd = { containers: [{ name: 'app', ports: [{ name: 'http', containerPort: 9090 }] }] }
  const pods = many(1_401, 0, (index) => (index % 3 === 0 ? odd : {}))
  const { made } = serviceEndpoints({ service: service(), pods, nodes })
  const counts = made!.endpoints.subsets.map(({ addresses }) => addresses.length)
  expect(counts).toEqual([334, 666])
})

const arbitraryPod = fc.record({
  labels: fc.constantFrom({ app: 'web' }, { app: 'web', tier: 'front' }, { app: 'job' }),
  phase: fc.constantFrom('Running', 'Pending', 'Failed', 'Succeeded'),
  ips: fc.constantFrom<string[]>([], ['4'], ['6'], ['4', '6'], ['6', '4']),
  isReady: fc.boolean(),
  isDeleted: fc.boolean(),
  nodeName: fc.constantFrom('node-1', 'node-7'),
  port: fc.constantFrom('http', 'other'),
})

test('each pod is in exactly one slice group of each address type that it must be in, and in no other', () => {
  fc.assert(
    fc.property(
      fc.array(arbitraryPod, { maxLength: 8 }),
      fc.constantFrom<AddressType[]>(['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']),
      fc.boolean(),
      (some, ipFamilies, publishNotReadyAddresses) => {
        const pods = some.map(({ labels, phase, ips, isReady, isDeleted, nodeName, port }, index) => {
          const podIPs = ips.map((family) => ({ ip: family === '4' ? `10.0.0.${index}` : `fd00::${index + 1}` }))
          return pod({
            metadata: { name: `web-${index}`, uid: `uid-${index}`, labels, ...(isDeleted ? DELETED : {}) },
            spec: { nodeName, containers: [{ name: 'app', ports: [{ name: port, containerPort: 8080 }] }] },
            status: { phase, podIPs, podIP: podIPs[0]?.ip ?? '', conditions: [condition('Ready', isReady ? 'True' : 'False')] },
          })
        })
        const { made, pods: memberships } = serviceEndpoints({
          service: service({ ipFamilies, publishNotReadyAddresses }),
          pods,
          nodes,
        })
        const ends = made!.slices.groups.flatMap(({ addressType, endpoints }) =>
          endpoints.map(({ targetRef }) => `${targetRef.name} ${addressType}`),
        )
        const due = some.flatMap(({ labels, phase, ips, nodeName }, index) => {
          const isDue = labels.app === 'web' && (phase === 'Running' || phase === 'Pending')
          const isKnown = nodeName === 'node-1' || publishNotReadyAddresses
          const types = ipFamilies.filter((type) => ips.includes(type.slice(-1)))
          return isDue && isKnown ? types.map((type) => `web-${index} ${type}`) : []
        })
        expect(ends.toSorted()).toEqual(due.toSorted())
        const unexplained = memberships.filter(({ slices, inEndpoints, reasons }) => {
          const isAllIn = slices.length === ipFamilies.length && slices.every(({ conditions }) => conditions.ready)
          return !(isAllIn && inEndpoints === 'ready') && reasons.length === 0
        })
        expect(unexplained).toEqual([])
      },
    ),
  )
})
