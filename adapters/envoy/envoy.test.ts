/** Tests that need a real Envoy. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findProduct } from '../../test/products/find-product.ts'
import { describeOn } from '../../test/products/program.ts'
import { editEds, type EnvoyProcess, type EnvoyOptions as ProcessOptions, startEnvoy } from '../conformance/beds/envoy-process.ts'
import { waitUntil } from '../conformance/beds/haproxy-process.ts'
import { createTraffic, type Pods, startPods } from '../conformance/beds/pods.ts'
import {
  assertApplied,
  assertFailed,
  drainOne,
  effectCall,
  inspectOne,
  resolveAll,
  restoreOne,
  snapshotOne,
} from '../conformance/steps.ts'
import type { Adapter, Target } from '../contract.ts'
import { envoy } from './index.ts'

describeOn(await findProduct('envoy'), (program) => {
  let folder: string
  let pods: Pods
  let processes: EnvoyProcess[]
  let adapters: Adapter[]
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-envoy-'))
    processes = []
    adapters = []
    pods = await startPods(3)
  })
  afterEach(async () => {
    await Promise.all([...adapters.map((adapter) => adapter.close()), ...processes.map((process) => process.stop())])
    pods.close()
    rmSync(folder, { recursive: true })
  })

  async function start(options: Partial<ProcessOptions> = {}): Promise<EnvoyProcess> {
    const process = await startEnvoy({ program, folder, endpoints: pods.endpoints, ...options })
    processes.push(process)
    return process
  }
  async function adapterOf(admin: string[], over: object = {}): Promise<{ adapter: Adapter; targets: Target[] }> {
    const options = envoy.options.parse({ file: join(folder, 'eds.yaml'), cluster: 'web', admin, ...over })
    const adapter = envoy.create(options, { name: 'edge' })
    adapters.push(adapter)
    return { adapter, targets: await resolveAll(adapter, pods.endpoints) }
  }
  const eds = (): string => readFileSync(join(folder, 'eds.yaml'), 'utf8')

  test('a drain changes two lines of a file with comments, and a restore gives it back but for its version', async () => {
    const lines = pods.endpoints.map(({ address, port }, index) => {
      const socket = `{endpoint: {address: {socket_address: {address: ${address}, port_value: ${port}}}}}`
      return `          - ${socket.replace('{endpoint', '{load_balancing_weight: 7, endpoint')} # pod ${index}`
    })
    const type = 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment'
    const head = [
      '# By hand.',
      'version_info: mine',
      'resources:',
      `  - "@type": ${type}`,
      '    cluster_name: web',
      '    endpoints:',
    ]
    const text = [...head, '      - lb_endpoints:', ...lines, ''].join('\n')
    writeFileSync(join(folder, 'eds.yaml'), text)
    const process = await start({ file: join(folder, 'eds.yaml') })
    const { adapter, targets } = await adapterOf([process.admin])
    const { prior } = await snapshotOne(adapter, targets[1]!)
    assertApplied(await drainOne(adapter, targets[1]!))
    const operation = `sluice-operation-${targets[1]!.id}`
    const drained = text
      .replace('mine', JSON.stringify(operation))
      .replace(lines[1]!, lines[1]!.replace('{load', '{health_status: DRAINING, load'))
    expect(eds()).toBe(drained)
    expect(await process.ask('/stats?filter=version_text')).toContain(`cluster.web.version_text: "${operation}"`)
    assertApplied(await restoreOne(adapter, targets[1]!, prior))
    expect(eds()).toBe(text.replace('mine', JSON.stringify(operation)))
  })

  test('the drain that would put Envoy into panic is refused: it would send requests to all, drained or not', async () => {
    const process = await start()
    const { adapter, targets } = await adapterOf([process.admin])
    assertApplied(await drainOne(adapter, targets[0]!))
    assertApplied(await drainOne(adapter, targets[1]!))
    const before = eds()
    const refused = await drainOne(adapter, targets[2]!)
    assertFailed(refused, 'retryable')
    expect(String(refused.outcome === 'failed' && refused.error.message)).toContain('set healthy_panic_threshold to 0')
    expect(eds()).toBe(before)
  })

  test('an Envoy in panic shows a drained endpoint as in rotation, which it is', async () => {
    const process = await start()
    const { adapter, targets } = await adapterOf([process.admin])
    assertApplied(await drainOne(adapter, targets[0]!))
    expect(await inspectOne(adapter, targets[0]!)).toMatchObject({ admin: 'draining', routable: false })
    for (const index of [1, 2])
      editEds(process.file, index, `operator-${index}`, (endpoint) => {
        endpoint.health_status = 'UNHEALTHY'
      })
    await waitUntil(async () => (await process.ask('/stats?filter=version_text')).includes('operator-2'), 'Envoy has the file')
    const traffic = createTraffic({ socketPath: process.front }, pods)
    await waitUntil(async () => (await traffic.request()) === 'uid-0', 'the drained one gets a request')
    const { admin, detail } = await inspectOne(adapter, targets[0]!)
    expect(admin).toBe('in')
    expect(detail).toContain('too few healthy hosts')
  })

  test('with the threshold at 0 all of them can be drained, and none gets a request', async () => {
    const process = await start({ panicThreshold: 0 })
    const { adapter, targets } = await adapterOf([process.admin])
    assertApplied((await adapter.drain(targets, effectCall(targets))).get(targets[2]!.id))
    const traffic = createTraffic({ socketPath: process.front }, pods)
    expect(await traffic.request()).toBe('status 503')
  })

  test('a file that Envoy refuses is no drain: the effect is in doubt, and the state tells that it is in', async () => {
    const process = await start()
    const { adapter, targets } = await adapterOf([process.admin])
    editEds(process.file, 1, 'operator-1', (endpoint) => {
      endpoint.load_balancing_weight = 0
    })
    const result = await drainOne(adapter, targets[0]!)
    assertFailed(result, 'ambiguous')
    expect(String(result.outcome === 'failed' && result.error.message)).toMatch(
      /has not taken .*eds\.yaml, by what it says of 127/,
    )
    const { admin, routable, detail } = await inspectOne(adapter, targets[0]!)
    expect([admin, routable]).toEqual(['in', true])
    expect(detail).toContain('has not taken that')
    expect(await process.ask('/stats?filter=update_rejected')).toMatch(/cluster\.web\.update_rejected: [1-9]/)
  })

  test('of two that read the file, both have to be out; what is in flight is the sum', async () => {
    const [first, second] = [await start({ name: 'a' }), await start({ name: 'b', file: join(folder, 'eds.yaml') })]
    const { adapter, targets } = await adapterOf([first.admin, second.admin])
    const held = await createTraffic({ socketPath: second.front }, pods).hold()
    const target = targets[pods.endpoints.findIndex(({ uid }) => uid === held.uid)]!
    assertApplied(await drainOne(adapter, target))
    for (const { field } of processes)
      expect(await field(pods.endpoints[targets.indexOf(target)]!, 'health_flags')).toContain('draining')
    expect(await inspectOne(adapter, target)).toMatchObject({ admin: 'draining', inFlight: 1 })
    expect(await held.release()).toBe(true)
  })

  test('while one of two is away a pod is put back in the other, which is in doubt; no pod is drained', async () => {
    const [first, second] = [await start({ name: 'a' }), await start({ name: 'b', file: join(folder, 'eds.yaml') })]
    const { adapter, targets } = await adapterOf([first.admin, second.admin])
    const { prior } = await snapshotOne(adapter, targets[0]!)
    assertApplied(await drainOne(adapter, targets[0]!))
    await second.stop()
    // The second restore finds the file unchanged. It is still unknown whether the stopped Envoy has loaded the file.
    for (const count of ['once', 'twice']) {
      const result = await restoreOne(adapter, targets[0]!, prior)
      assertFailed(result, 'ambiguous')
      expect(result.outcome === 'failed' && result.error.message, count).toContain(`cannot be asked: ${second.admin}/clusters`)
      expect(eds()).not.toContain('DRAINING')
    }
    const traffic = createTraffic({ socketPath: first.front }, pods)
    await waitUntil(async () => (await traffic.request()) === 'uid-0', 'the pod gets requests by the live one')
    const before = eds()
    assertFailed(await drainOne(adapter, targets[1]!), 'retryable')
    expect(eds()).toBe(before)
    await expect(inspectOne(adapter, targets[0]!)).rejects.toThrow(`${second.admin}/clusters`)
    await second.restart()
    assertApplied(await restoreOne(adapter, targets[0]!, prior))
    expect(await inspectOne(adapter, targets[0]!)).toMatchObject({ admin: 'in', routable: true })
  })

  test('one that takes the connection and answers nothing leaves the time that a restore needs', async () => {
    const process = await start()
    const { adapter, targets } = await adapterOf([process.admin])
    const { prior } = await snapshotOne(adapter, targets[0]!)
    assertApplied(await drainOne(adapter, targets[0]!))
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    try {
      const admin = [process.admin, `http://127.0.0.1:${(silent.address() as AddressInfo).port}`]
      const both = envoy.create(envoy.options.parse({ file: process.file, cluster: 'web', admin }), { name: 'edge' })
      adapters.push(both)
      assertFailed(await restoreOne(both, targets[0]!, prior, { deadlineMs: 4_000 }), 'ambiguous')
    } finally {
      silent.close()
    }
    expect(eds()).not.toContain('DRAINING')
    expect(await inspectOne(adapter, targets[0]!)).toMatchObject({ admin: 'in', routable: true })
  })

  test('one that reads another file has not taken the drain', async () => {
    const other = join(folder, 'other.yaml')
    const first = await start({ name: 'a' })
    writeFileSync(other, eds())
    const second = await start({ name: 'b', file: other })
    const { adapter, targets } = await adapterOf([first.admin, second.admin])
    const result = await drainOne(adapter, targets[0]!)
    assertFailed(result, 'ambiguous')
    expect(String(result.outcome === 'failed' && result.error.message)).toContain(second.admin)
    expect((await inspectOne(adapter, targets[0]!)).admin).toBe('in')
  })

  test('an Envoy that is away, and one without the cluster, are told by their address', async () => {
    const process = await start()
    const { adapter, targets } = await adapterOf([process.admin])
    await process.stop()
    await expect(inspectOne(adapter, targets[0]!)).rejects.toThrow(`${process.admin}/clusters`)
    assertFailed(await drainOne(adapter, targets[0]!), 'retryable')
    writeFileSync(join(folder, 'eds.yaml'), eds().replace('cluster_name: web', 'cluster_name: api'))
    await process.restart()
    await expect(adapterOf([process.admin])).rejects.toThrow('eds.yaml cannot be used: it has no cluster web; it has api')
    await expect(adapterOf([process.admin], { cluster: 'api' })).rejects.toThrow(
      'has no cluster with the endpoints of api; it has web',
    )
  })
})
