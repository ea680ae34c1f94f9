import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest'
import { chosenVersion } from '../../test/cluster/kubernetes-versions.ts'
import { findKubernetes } from '../../test/products/kubernetes.ts'
import { describeOn } from '../../test/products/program.ts'
import { type ApiGateway, startApiGateway } from '../conformance/beds/api-gateway.ts'
import { waitUntil } from '../conformance/beds/haproxy-process.ts'
import { type KubernetesProcess, startKubernetes, type User } from '../conformance/beds/kubernetes-process.ts'
import { startPods } from '../conformance/beds/pods.ts'
import { type SliceFront, type SliceObject, startSliceFront } from '../conformance/beds/slice-front.ts'
import { assertApplied, assertFailed, drainOne, effectCall, inspectOne, restoreOne, snapshotOne } from '../conformance/steps.ts'
import type { Adapter, AdapterErrorKind, Address, Target } from '../contract.ts'
import { endpointslice } from './index.ts'
import { readmeRules } from './testing/readme.ts'

const PORTS = [{ name: '', port: 8080, protocol: 'TCP' }]
const V4 = { addressType: 'IPv4', ports: PORTS }
const MARK = 'sluice.dev/drained'

interface SliceSpec {
  labels?: Record<string, string>
  annotations?: Record<string, string>
  addressType?: string
  ports?: object[]
  endpoints: object[]
}

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let clusters: { pods: KubernetesProcess; edge: KubernetesProcess }
  let folder: string
  const adapters: Adapter[] = []

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-slices-'))
    const [pods, edge] = await Promise.all([1, 2].map(() => startKubernetes({ programs, rules: readmeRules() })))
    clusters = { pods: pods!, edge: edge! }
  }, 90_000)
  afterEach(async () => {
    for (const adapter of adapters.splice(0)) await adapter.close()
  })
  afterAll(async () => {
    await Promise.all(Object.values(clusters ?? {}).map((one) => one.stop()))
    rmSync(folder, { recursive: true, force: true })
  })

  interface Made {
    namespace: string
    read(name: string): Promise<SliceObject>
    /** Edits the slice as an operator does. */
    edit(name: string, change: (slice: SliceObject) => void): Promise<SliceObject>
    gateway: ApiGateway
    adapter(): Adapter
    front(network?: ReadonlyMap<string, Address>): Promise<SliceFront>
  }

  /** A Service `web` with these slices, in its own namespace. */
  async function make(slices: Record<string, SliceSpec>, service: object = {}, kubernetes = clusters.edge): Promise<Made> {
    const { metadata } = (await kubernetes.ask('POST', '/api/v1/namespaces', {
      metadata: { generateName: 'own-' },
    })) as SliceObject
    const namespace = metadata.name
    await makeService(kubernetes, namespace, slices, service)
    const gateway = await startApiGateway(kubernetes, 'sluice')
    onTestFinished(() => gateway.close())
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
    const read = async (name: string): Promise<SliceObject> => (await kubernetes.ask('GET', `${path}/${name}`)) as SliceObject
    return {
      namespace,
      read,
      async edit(name, change) {
        const slice = await read(name)
        change(slice)
        return (await kubernetes.ask('PUT', `${path}/${name}`, slice)) as SliceObject
      },
      gateway,
      adapter: () => open({ namespace, kubeconfig: written(kubernetes.kubeconfig('sluice', gateway.url)) }),
      async front(network = new Map()) {
        const front = await startSliceFront({ kubernetes, namespace, service: 'web', network })
        onTestFinished(() => front.close())
        return front
      },
    }
  }
  async function makeService(
    kubernetes: KubernetesProcess,
    namespace: string,
    slices: Record<string, SliceSpec>,
    service: object,
  ): Promise<void> {
    const spec = { ports: [{ port: 80 }], ...service }
    await kubernetes.ask('POST', `/api/v1/namespaces/${namespace}/services`, { metadata: { name: 'web' }, spec })
    for (const [name, { labels, annotations, ...rest }] of Object.entries(slices)) {
      const all = { 'kubernetes.io/service-name': 'web', ...labels }
      const slice = { metadata: { name, labels: all, annotations }, ...V4, ...rest }
      await kubernetes.ask('POST', `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`, slice)
    }
  }
  let files = 0
  function written(text: string): string {
    const file = join(folder, `kubeconfig-${(files += 1)}`)
    writeFileSync(file, text, { mode: 0o600 })
    return file
  }
  function open(options: object, name = 'edge'): Adapter {
    const parsed = endpointslice.options.parse({ service: 'web', settle: '0s', ...options })
    const adapter = endpointslice.create(parsed, { name, folder })
    adapters.push(adapter)
    return adapter
  }
  async function targetsOf(adapter: Adapter, address: string, others: Address[] = []): Promise<Target[]> {
    const endpoint = { uid: 'u', pod: 'web-0', address, port: 8080, others }
    const [resolution] = await adapter.resolve([endpoint], effectCall([]))
    if (!resolution!.found) throw new Error(resolution!.reason)
    return resolution!.targets
  }
  const targetOf = async (adapter: Adapter, address: string): Promise<Target> => (await targetsOf(adapter, address))[0]!

  /** The slice without the fields that the API server sets at each write. */
  function content({ metadata, ...rest }: SliceObject): object {
    const { resourceVersion: _1, generation: _2, managedFields: _3, ...own } = metadata as Record<string, unknown>
    return { metadata: own, ...rest }
  }

  test('a drain writes ready false and the mark; a restore leaves the slice as it was, whatever stood there', async () => {
    const endpoints = [
      { addresses: ['10.0.0.1'] },
      { addresses: ['10.0.0.2'], conditions: { ready: true, serving: true, terminating: false }, zone: 'a', nodeName: 'n' },
      { addresses: ['10.0.0.3'], conditions: { serving: false }, hints: { forZones: [{ name: 'b' }] }, hostname: 'web-2' },
    ]
    const made = await make({ 'web-1': { annotations: { team: 'x' }, labels: { tier: 'y' }, endpoints } })
    const before = await made.read('web-1')
    const adapter = made.adapter()
    const targets = await Promise.all([1, 2, 3].map((last) => targetOf(adapter, `10.0.0.${last}`)))
    const priors = await adapter.snapshot(targets, effectCall([]))
    await adapter.drain(targets, effectCall(targets))
    const drained = await made.read('web-1')
    expect(drained.endpoints).toEqual([
      { ...endpoints[0], conditions: { ready: false } },
      { ...endpoints[1], conditions: { ready: false, serving: true, terminating: false } },
      { ...endpoints[2], conditions: { ready: false, serving: false } },
    ])
    expect(drained.metadata.annotations).toEqual({ team: 'x', [MARK]: '10.0.0.1,10.0.0.2,10.0.0.3' })
    for (const target of targets) assertApplied(await restoreOne(adapter, target, priors.get(target.id)!.prior))
    expect(content(await made.read('web-1'))).toEqual(content(before))
    expect((await made.read('web-1')).metadata.resourceVersion).not.toBe(before.metadata.resourceVersion)
  })

  test('a pod with an address in a slice of IPv4 and in one of IPv6 is drained in both', async () => {
    const made = await make({
      'web-v4': { endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }] },
      'web-v6': { addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1'] }, { addresses: ['fd00::2'] }] },
    })
    const adapter = made.adapter()
    const targets = await targetsOf(adapter, '10.0.0.1', [{ address: 'fd00:0::1', port: 8080 }])
    expect(targets.map(({ id }) => id)).toEqual(['10.0.0.1:8080', '[fd00::1]:8080'])
    const priors = await adapter.snapshot(targets, effectCall([]))
    await adapter.drain(targets, effectCall(targets))
    const conditions = async (): Promise<unknown[]> =>
      [...(await made.read('web-v4')).endpoints, ...(await made.read('web-v6')).endpoints].map((one) => one.conditions)
    expect(await conditions()).toEqual([{ ready: false }, {}, { ready: false }, {}])
    const back = targets.map((target) => ({ target, prior: priors.get(target.id)!.prior }))
    await adapter.restore(back, effectCall(targets))
    expect(await conditions()).toEqual([{}, {}, {}, {}])
  })

  test('an address in two slices is one target: out where it is out in both, and put back in each as it was', async () => {
    const made = await make({
      'web-1': { endpoints: [{ addresses: ['10.0.0.1'] }] },
      'web-2': { endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }] },
    })
    const adapter = made.adapter()
    const target = await targetOf(adapter, '10.0.0.1')
    const { prior } = await snapshotOne(adapter, target)
    assertApplied(await drainOne(adapter, target))
    const both = async (): Promise<unknown[]> =>
      [(await made.read('web-1')).endpoints[0]!, (await made.read('web-2')).endpoints[0]!].map(({ conditions }) => conditions)
    expect(await both()).toEqual([{ ready: false }, { ready: false }])
    await made.edit('web-2', ({ endpoints }) => (endpoints[0]!.conditions = { ready: true }))
    expect((await inspectOne(adapter, target)).admin).toBe('in')
    assertApplied(await drainOne(adapter, target))
    assertApplied(await restoreOne(adapter, target, prior))
    expect(await both()).toEqual([{}, { ready: true }])
  })

  test('a batch is one write a slice; what a slice is refused for is said of its pods alone', async () => {
    const made = await make({
      'web-1': { endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }] },
      'web-2': { endpoints: [{ addresses: ['10.0.0.3'] }] },
    })
    const adapter = made.adapter()
    const targets = await Promise.all([1, 2, 3].map((last) => targetOf(adapter, `10.0.0.${last}`)))
    const counts: number[] = []
    made.gateway.onWrite = async (count) => {
      counts.push(count)
      if (count === 2) await made.edit('web-2', ({ metadata }) => (metadata.annotations = { by: 'an operator' }))
    }
    const results = await adapter.drain(targets, effectCall(targets))
    expect(counts).toEqual([1, 2])
    for (const target of targets.slice(0, 2)) assertApplied(results.get(target.id))
    assertFailed(results.get(targets[2]!.id), 'conflict')
    expect(await made.read('web-2')).toMatchObject({
      metadata: { annotations: { by: 'an operator' } },
      endpoints: [{ conditions: {} }],
    })
    expect((await made.read('web-1')).metadata.annotations).toEqual({ [MARK]: '10.0.0.1,10.0.0.2' })
  })

  test('a slice that is deleted between the look and the write is a conflict, and is read again', async () => {
    const made = await make({ ...slice({}), 'web-2': { endpoints: [{ addresses: ['10.0.0.2'] }] } })
    const adapter = made.adapter()
    const target = await targetOf(adapter, '10.0.0.1')
    const path = `/apis/discovery.k8s.io/v1/namespaces/${made.namespace}/endpointslices/web-1`
    made.gateway.onWrite = async () => void (await clusters.edge.ask('DELETE', path))
    expect(await drainOne(adapter, target)).toMatchObject({ error: { kind: 'conflict' } })
    expect(await drainOne(adapter, target)).toMatchObject({ error: { kind: 'not-found' } })
  })

  test('a drain that arrives after the restore which overtook it is refused', async () => {
    const made = await make({ 'web-1': { endpoints: [{ addresses: ['10.0.0.1'] }] } })
    const [first, second] = [made.adapter(), made.adapter()]
    const target = await targetOf(first, '10.0.0.1')
    const { prior } = await snapshotOne(first, target)
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    made.gateway.onWrite = (count) => (count === 1 ? held : Promise.resolve())
    assertFailed(await drainOne(first, target, { deadlineMs: 1_000 }), 'ambiguous')
    assertApplied(await drainOne(second, target))
    assertApplied(await restoreOne(second, target, prior))
    const restored = await made.read('web-1')
    expect(made.gateway.written).toEqual([200, 200])
    release()
    await waitUntil(() => Promise.resolve(made.gateway.written.length === 3), 'the late drain is answered')
    expect(made.gateway.written[2]).toBe(409)
    expect(await made.read('web-1')).toEqual(restored)
  })

  test('a mark that an operator’s own change has left behind goes with the next write', async () => {
    const made = await make({ 'web-1': { endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }] } })
    const adapter = made.adapter()
    const [first, second] = [await targetOf(adapter, '10.0.0.1'), await targetOf(adapter, '10.0.0.2')]
    assertApplied(await drainOne(adapter, first))
    await made.edit('web-1', ({ endpoints }) => (endpoints[0]!.conditions = { ready: true }))
    assertApplied(await drainOne(adapter, second))
    expect((await made.read('web-1')).metadata.annotations).toEqual({ [MARK]: '10.0.0.2' })
  })

  test('kube-proxy’s rule: a drained endpoint gets nothing where none is ready, also one that was terminating', async () => {
    const conditions = { serving: true, terminating: true }
    const made = await make({ 'web-1': { endpoints: [{ addresses: ['10.0.0.1'], conditions }, { addresses: ['10.0.0.2'] }] } })
    const front = await made.front()
    const adapter = made.adapter()
    const targets = [await targetOf(adapter, '10.0.0.1'), await targetOf(adapter, '10.0.0.2')]
    const { prior } = await snapshotOne(adapter, targets[0]!)
    for (const target of targets) assertApplied(await drainOne(adapter, target))
    await front.hasTaken(await made.read('web-1'))
    expect(front.used()).toEqual([])
    // Negative control: with only ready false, the endpoint stays a fallback.
    await front.hasTaken(
      await made.edit('web-1', ({ endpoints }) => (endpoints[0]!.conditions = { ...conditions, ready: false })),
    )
    expect(front.used()).toEqual(['10.0.0.1:8080'])
    assertApplied(await restoreOne(adapter, targets[0]!, prior))
    expect((await made.read('web-1')).endpoints[0]!.conditions).toEqual(conditions)
  })

  test('a client that keeps its connection stays on the drained pod, and a new one does not', async () => {
    const pods = await startPods(2)
    onTestFinished(() => pods.close())
    const made = await make({ 'web-1': { endpoints: [{ addresses: ['10.0.0.1'] }, { addresses: ['10.0.0.2'] }] } })
    const front = await made.front(new Map(pods.endpoints.map((pod, index) => [`10.0.0.${index + 1}:8080`, pod])))
    await front.hasTaken(await made.read('web-1'))
    const kept = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => kept.destroy())
    const request = (agent: Agent | false): Promise<string> =>
      new Promise((resolve, reject) => {
        get({ ...front.address, agent }, (answer) => {
          answer.resume().once('end', () => resolve(String(answer.headers['x-pod'])))
        }).once('error', reject)
      })
    const own = await request(kept)
    const adapter = made.adapter()
    const address = `10.0.0.${pods.endpoints.findIndex(({ uid }) => uid === own) + 1}`
    assertApplied(await drainOne(adapter, await targetOf(adapter, address)))
    await front.hasTaken(await made.read('web-1'))
    for (let sent = 0; sent < 4; sent += 1) expect([await request(kept), (await request(false)) === own]).toEqual([own, false])
  })

  test('the Service of another cluster, by its context: that of the same name here is another load balancer', async () => {
    const slices = { 'web-1': { endpoints: [{ addresses: ['10.0.0.1'] }] } }
    const made = await make(slices)
    await clusters.pods.ask('POST', '/api/v1/namespaces', { metadata: { name: made.namespace } })
    await makeService(clusters.pods, made.namespace, slices, {})
    const parts = Object.entries(clusters).map(([name, cluster]) => {
      const {
        clusters: [one],
        users: [user],
      } = JSON.parse(cluster.kubeconfig('sluice')) as Record<'clusters' | 'users', [object]>
      return {
        name,
        cluster: { ...one, name },
        user: { ...user, name },
        context: { name, context: { cluster: name, user: name } },
      }
    })
    const kubeconfig = written(
      JSON.stringify({
        'current-context': 'pods',
        clusters: parts.map(({ cluster }) => cluster),
        users: parts.map(({ user }) => user),
        contexts: parts.map(({ context }) => context),
      }),
    )
    const { namespace } = made
    const edge = open({ namespace, kubeconfig, context: 'edge' })
    // The path is relative to the folder of the config, with the current context.
    const here = open({ namespace, kubeconfig: `./${kubeconfig.slice(folder.length + 1)}` }, 'here')
    const [there, own] = [await targetOf(edge, '10.0.0.1'), await targetOf(here, '10.0.0.1')]
    expect([there.scope, own.scope]).toEqual([clusters.edge, clusters.pods].map(({ url }) => `${url} ${namespace}/web`))
    expect([edge.reaches!(there), edge.reaches!(own), here.reaches!(there)]).toEqual([true, false, false])
    assertApplied(await drainOne(edge, there))
    expect((await inspectOne(edge, there)).admin).toBe('draining')
    expect((await inspectOne(here, own)).admin).toBe('in')
  })

  const slice = (more: object): Record<string, SliceSpec> => ({ 'web-1': { endpoints: [{ addresses: ['10.0.0.1'] }], ...more } })
  const managedBy = (manager: string): Record<string, SliceSpec> =>
    slice({ labels: { 'endpointslice.kubernetes.io/managed-by': manager } })
  const refusals: [string, { slices?: Record<string, SliceSpec>; service?: object }, AdapterErrorKind, string[]][] = [
    ['a selector', { service: { selector: { app: 'web' } } }, 'fatal', ['spec.selector app=web', 'Remove the selector']],
    [
      'a mirrored slice',
      { slices: managedBy('endpointslicemirroring-controller.k8s.io') },
      'fatal',
      ['the EndpointSlice web-1', 'mirrored from the Endpoints web', 'delete the Endpoints'],
    ],
    ['a slice of the controller', { slices: managedBy('endpointslice-controller.k8s.io') }, 'fatal', ['web-1', 'Delete it']],
    [
      'ExternalName',
      { service: { type: 'ExternalName', externalName: 'example.com' } },
      'fatal',
      ['spec.type ExternalName', 'name the Service'],
    ],
    [
      'several addresses of an endpoint',
      { slices: slice({ endpoints: [{ addresses: ['10.0.0.1', '10.0.0.2'] }] }) },
      'retryable',
      ['endpoints[0].addresses 10.0.0.1, 10.0.0.2', 'Give each an endpoint of its own'],
    ],
    [
      'no slice with the label',
      { slices: slice({ labels: { 'kubernetes.io/service-name': 'wbe' } }) },
      'retryable',
      ['has no EndpointSlice', 'the label kubernetes.io/service-name: web'],
    ],
    ['no ports', { slices: slice({ ports: [] }) }, 'retryable', ['has no ports', 'Write the port']],
    ['a port without a number', { slices: slice({ ports: [{ name: 'http' }] }) }, 'retryable', ['has no ports[0].port']],
  ]
  test.each(refusals)(
    '%s is refused with the way out, and nothing is written',
    async (_, { slices = slice({}), service }, kind, words) => {
      const made = await make(slices, service)
      const before = await made.read('web-1')
      const failure = targetOf(made.adapter(), '10.0.0.1')
      await expect(failure).rejects.toMatchObject({ name: 'AdapterError', kind })
      for (const word of words) await expect(failure).rejects.toThrow(word)
      expect(await made.read('web-1')).toEqual(before)
    },
  )

  test('slices of a manager of one’s own are used, those of names and of other Services are passed over', async () => {
    const made = await make({
      ...managedBy('team.example'),
      'web-2': { addressType: 'FQDN', ports: [], endpoints: [{ addresses: ['web.example', 'www.example'] }] },
      'web-3': { labels: { 'kubernetes.io/service-name': 'api' }, endpoints: [{ addresses: ['10.0.0.2'] }] },
    })
    const adapter = made.adapter()
    expect((await targetOf(adapter, '10.0.0.1')).id).toBe('10.0.0.1:8080')
    await expect(targetOf(adapter, '10.0.0.2')).rejects.toThrow('none of the 1 entries has the address 10.0.0.2:8080')
  })

  test('a Service that is not there, and missing rights, are named: what is to be allowed, and where', async () => {
    const made = await make(slice({}))
    const { namespace } = made
    const as = (user: User): Adapter => open({ namespace, kubeconfig: written(clusters.edge.kubeconfig(user)) })
    const target = await targetOf(as('reader'), '10.0.0.1')
    const refused = await drainOne(as('reader'), target)
    assertFailed(refused, 'fatal')
    const missing = `a Role in the namespace ${namespace} has to allow update endpointslices.discovery.k8s.io`
    expect(refused).toMatchObject({ error: { message: expect.stringContaining(missing) } })
    // Control: the write works with the rights of the README, over TLS.
    assertApplied(await drainOne(as('sluice'), target))

    const unread = targetOf(as('stranger'), '10.0.0.1')
    await expect(unread).rejects.toMatchObject({ kind: 'retryable' })
    await expect(unread).rejects.toThrow(/has to allow (get services|list endpointslices\.discovery\.k8s\.io)$/)

    const lost = open({ namespace, service: 'wbe', kubeconfig: written(clusters.edge.kubeconfig('sluice')) })
    await expect(targetOf(lost, '10.0.0.1')).rejects.toThrow('services "wbe" not found')
  })
})
