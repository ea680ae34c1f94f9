import { expect, test } from 'vitest'
import type { Explanation, PodExplanation } from '../../explain/explanation.ts'
import { createWriting } from '../../report/words/words.ts'
import { createColors } from './color.ts'
import { explainDocument, explainLines } from './explain-view.ts'

const colors = createColors(false)
const write = createWriting()
const AT = '2026-11-29T10:00:00Z'

const web0: PodExplanation = {
  name: 'web-0',
  uid: 'u0',
  address: '10.0.0.1',
  node: 'node-1',
  rotation: 'partly',
  conditions: [
    { type: 'Ready', status: 'True', since: AT, writtenBy: { manager: 'kubelet', is: 'kubelet' }, message: 'not shown' },
    { type: 'ContainersReady', status: 'True', since: AT },
  ],
  places: [
    {
      in: 'slice',
      service: 'web',
      slice: 'web-a',
      addressType: 'IPv4',
      ready: true,
      serving: true,
      terminating: false,
      since: AT,
      writtenBy: { manager: 'kubelet', is: 'kubelet', at: AT },
    },
    {
      in: 'slice',
      service: 'all',
      slice: 'all-1',
      addressType: 'IPv4',
      managedBy: 'acme',
      ready: false,
      serving: true,
      terminating: true,
    },
    { in: 'no-slice', service: 'late' },
    { in: 'endpoints', service: 'web', is: 'not-ready' },
    { in: 'load-balancer', loadBalancer: 'edge', target: 'w/web-0', admin: 'in', routable: false, inFlight: 0, said: 'DOWN' },
    { in: 'load-balancer', loadBalancer: 'mid', target: 'm/web-0', admin: 'in', routable: true, inFlight: 3, weight: 50 },
    {
      in: 'load-balancer',
      loadBalancer: 'out',
      target: 'o/web-0',
      admin: 'draining',
      routable: false,
      inFlight: 1,
      outBy: 'run',
    },
    {
      in: 'load-balancer',
      loadBalancer: 'ops',
      target: 'p/web-0',
      admin: 'out',
      routable: false,
      inFlight: null,
      outBy: 'others',
    },
    {
      in: 'load-balancer',
      loadBalancer: 'hook',
      target: 'h/web-0',
      admin: 'unknown',
      routable: false,
      inFlight: null,
      by: { code: 'cannot-read-back' },
    },
    {
      in: 'no-entry',
      loadBalancer: 'far',
      because: { code: 'not-found', loadBalancer: 'far', said: 'no server \u001b[2J has it' },
    },
  ],
  run: {
    run: 'r7',
    step: 'drain',
    workload: 'statefulset/web',
    startedAt: AT,
    out: null,
    because: { code: 'may-be-drained', entries: [] },
    needsOperator: false,
  },
}

const explanation: Explanation = {
  about: { type: 'pod', object: 'pod/web-0', name: 'web-0', namespace: 'shop' },
  verdict: 'wrong',
  services: [],
  pods: [web0],
  nodes: [
    {
      name: 'node-1',
      ready: { type: 'Ready', status: 'Unknown', since: AT },
      heartbeat: { renewedAt: AT, seen: 'silent', watchedMs: 12_000 },
    },
    { name: 'node-2', ready: { type: 'Ready', status: 'True' }, heartbeat: { renewedAt: AT, seen: 'renewed', watchedMs: 3_000 } },
    { name: 'node-3', ready: { type: 'Ready', status: 'True' }, heartbeat: {} },
  ],
  findings: [
    {
      severity: 'wrong',
      pod: 'web-0',
      service: 'web',
      reason: { code: 'not-ready-published' },
      next: [{ command: 'kubectl', namespace: 'shop', args: ['describe', 'pod', 'web-0'] }],
    },
    {
      severity: 'note',
      pod: 'web-0',
      reason: { code: 'node-cordoned', node: 'node-1' },
      next: [
        { command: 'kubectl', namespace: 'shop', args: ['describe', 'pod', 'web-0'] },
        { command: 'status', namespace: 'shop', workloads: [] },
      ],
    },
  ],
  unread: [{ what: 'load-balancer', name: 'hook', decides: true, because: { code: 'cannot-read-back' } }],
}

test('a pod, with each kind of place', () => {
  expect(explainLines(explanation, colors, write).join('\n')).toMatchInlineSnapshot(`
    "pod/web-0 in namespace shop: in rotation in a part of its places; not all is as it should be

      address 10.0.0.1, node node-1

      WHERE                             IN ROTATION  STATE                                          SINCE                          BY
      service/web, slice web-a          yes          ready                                          2026-11-29T10:00:00Z           the kubelet
      service/all, slice all-1 of acme  no           terminating, serving                           -                              -
      service/late                      no           in no slice                                    -                              -
      service/web, Endpoints            no           not ready                                      -                              -
      edge, w/web-0                     no           in, fails its health check, 0 in flight, DOWN  -                              -
      mid, m/web-0                      yes          in, 3 in flight, weight 50                     -                              -
      out, o/web-0                      no           draining, 1 in flight                          2026-11-29T10:00:00Z or later  run r7
      ops, p/web-0                      no           out                                            -                              no run of sluice
      hook, h/web-0                     unknown      unknown, it cannot be read back                -                              -
      far                               no           far: no server \\u001b[2J has it                -                              -

      CONDITION        STATUS  SINCE                 WRITTEN BY   REASON
      Ready            True    2026-11-29T10:00:00Z  the kubelet
      ContainersReady  True    2026-11-29T10:00:00Z  -

      NODE    READY    SINCE                 HEARTBEAT
      node-1  Unknown  2026-11-29T10:00:00Z  not renewed in 12 s of watching; renewed at 2026-11-29T10:00:00Z by the clock of the node
      node-2  True     -                     renewed within 3 s of watching; renewed at 2026-11-29T10:00:00Z by the clock of the node
      node-3  True     -                     never renewed

    × service/web, web-0: the Service publishes addresses that are not ready: the pod gets requests all the same [not-ready-published]
        kubectl -n shop describe pod web-0
    ‼ web-0: node node-1 is cordoned: it takes no new pods, and its pods run on [node-cordoned]
        sluice status -n shop

    ? the load balancer hook could not be read: it cannot be read back"
  `)
})

test('a workload of many pods shows those that have something to say', () => {
  const pods = Array.from({ length: 30 }, (_, index): PodExplanation => ({
    ...web0,
    name: `web-${index}`,
    rotation: index === 7 ? 'out' : 'in',
    places: [web0.places[0]!, web0.places[4]!, web0.places[9]!],
    run: undefined as never,
  })).map(({ run: _run, ...pod }) => pod)
  const about = { type: 'workload', object: 'statefulset/web', name: 'web', namespace: 'shop' } as const
  const services = [
    {
      name: 'web',
      selector: { app: 'web' },
      slices: [
        {
          name: 'web-a',
          addressType: 'IPv4',
          managedBy: 'c',
          ready: 29,
          notReady: 1,
          writtenBy: { manager: 'kubectl-edit', is: 'person', at: AT },
        },
      ],
      endpoints: { ready: 29, notReady: 1, writtenBy: { manager: 'kube-controller-manager', is: 'controller-manager' } },
    },
  ] satisfies Explanation['services']
  const lines = explainLines({ ...explanation, about, pods, services, nodes: [], findings: [], unread: [] }, colors, write)
  expect(lines.join('\n')).toMatchInlineSnapshot(`
    "statefulset/web in namespace shop: 29 of 30 pods in rotation; not all is as it should be

      POD    ROTATION  READY  SINCE                 WRITTEN BY   NODE    PLACES                                         RUN
      web-7  out       True   2026-11-29T10:00:00Z  the kubelet  node-1  web ready, edge fails its check, far no entry  -
      and 29 more, in rotation, of which there is nothing to say; -o json has all

      SERVICE      OBJECT               KEPT BY  READY  NOT READY  WRITTEN BY               AT
      service/web  EndpointSlice web-a  c        29     1          a person (kubectl-edit)  2026-11-29T10:00:00Z
      service/web  Endpoints            -        29     1          the controller manager   -"
  `)
})

test('of many pods that are all right their number is enough', () => {
  const pods = Array.from({ length: 30 }, (_, index): PodExplanation => ({ ...web0, name: `web-${index}`, rotation: 'in' }))
  const about = { type: 'workload', object: 'statefulset/web', name: 'web', namespace: 'shop' } as const
  const right = { ...explanation, about, verdict: 'right' as const, pods, nodes: [], findings: [], unread: [] }
  expect(explainLines(right, colors, write)).toEqual([
    'statefulset/web in namespace shop: 30 of 30 pods in rotation',
    '',
    '  and 30 more, in rotation, of which there is nothing to say; -o json has all',
  ])
})

test('what is said of several pods in the same words is said once, and of more than three nodes those that are not right', () => {
  const findings = Array.from({ length: 5 }, (_, index) => ({
    severity: 'wrong' as const,
    pod: `web-${index}`,
    reason: { code: 'containers-not-ready' as const, containers: [{ name: index === 4 ? 'side' : 'app' }] },
    next: [{ command: 'kubectl' as const, namespace: 'shop', args: ['describe', 'pod', `web-${index}`] }],
  }))
  const nodes = ['True', 'True', 'False', 'True'].map((status, index) => ({
    name: `n${index}`,
    ready: { type: 'Ready', status },
  }))
  const lines = explainLines({ ...explanation, findings, nodes, unread: [] }, colors, write)
  expect(lines.slice(lines.indexOf('') + 1).filter((line) => /^[×‼]|describe|^ {2}n\d|more/.test(line))).toEqual([
    expect.stringMatching(/^ {2}n2 +False/),
    '  and 3 more that are ready',
    '× web-0, web-1, web-2, and 1 more: container app is not ready [containers-not-ready]',
    '    kubectl -n shop describe pod web-0',
    '× web-4: container side is not ready [containers-not-ready]',
    '    kubectl -n shop describe pod web-4',
  ])
})

test('a Service without pods says so, and what is right is one line', () => {
  const about = { type: 'service', object: 'service/web', name: 'web', namespace: 'shop' } as const
  const nothing = { about, verdict: 'right', services: [], pods: [], nodes: [], findings: [], unread: [] } as const
  expect(explainLines(nothing as unknown as Explanation, colors, write)).toEqual(['service/web in namespace shop: no pods'])
  const slices = [{ name: 'web-by-hand', addressType: 'IPv4', ready: 2, notReady: 0, terminating: 0 }]
  const byHand = { ...nothing, services: [{ name: 'web', selector: {}, slices }] }
  expect(explainLines(byHand as unknown as Explanation, colors, write)[0]).toBe(
    'service/web in namespace shop: no pods, and addresses that are ready: 2',
  )
  const because = { code: 'bug', message: 'no right' }
  const hidden = { ...nothing, verdict: 'unknown', unread: [{ what: 'pods', decides: true, because }] }
  expect(explainLines(hidden as unknown as Explanation, colors, write)[0]).toBe(
    'service/web in namespace shop: whether it has pods is not known; not all could be read',
  )
})

test('the document has the English of each reason, and the shell form of each command', () => {
  expect(explainDocument(explanation, write)).toMatchObject({
    apiVersion: 'sluice.dev/v1',
    kind: 'Explanation',
    findings: [{ reason: { message: expect.any(String) }, next: [{ shell: 'kubectl -n shop describe pod web-0' }] }, {}],
    unread: [{ because: { message: 'it cannot be read back' } }],
  })
})
