import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BY_SOURCE, makeEnvoyBed } from '../../adapters/conformance/beds/envoy.ts'
import { editEds, edsText, startEnvoy } from '../../adapters/conformance/beds/envoy-process.ts'
import { type Pods, startPods } from '../../adapters/conformance/beds/pods.ts'
import { POLL_INTERVAL, replaceFile, startTraefik } from '../../adapters/conformance/beds/traefik-process.ts'
import { runCase } from '../../adapters/conformance/conformance.ts'
import type { Adapter, EffectCall, Target } from '../../adapters/contract.ts'
import { envoy } from '../../adapters/envoy/index.ts'
import { traefik } from '../../adapters/traefik/index.ts'
import { findProduct } from './find-product.ts'
import { describeOn } from './program.ts'
import { type ServeProcess, startServe } from './serve-process.ts'

/* Products that fetch their document from `sluice adapter serve`, a process of its own. */

const LONG = { timeout: 60_000 }

/** Options of a server. The url is required, and not used by the server itself. */
const ANY = { url: 'http://127.0.0.1:1', nodes: ['bed'] }

let folder: string
let pods: Pods
const cleanUps: (() => Promise<unknown> | unknown)[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-served-'))
  pods = await startPods(3)
  cleanUps.push(() => pods.close())
})
afterEach(async () => {
  for (const clean of cleanUps.splice(0).toReversed()) await clean()
  await rm(folder, { recursive: true, force: true })
})

async function serve(loadBalancer: object, port?: number): Promise<ServeProcess> {
  const served = await startServe({ folder, loadBalancer }, port)
  cleanUps.push(() => served.stop())
  return served
}

function callOf({ id }: Target): EffectCall {
  return { deadlineMs: 10_000, assertLive: () => {}, operationIds: new Map([[id, 'f00d']]), fence: 1 }
}

async function targetOf(adapter: Adapter): Promise<Target> {
  const [found] = await adapter.resolve([pods.endpoints[0]!], { deadlineMs: 10_000, assertLive: () => {} })
  if (found?.found !== true) throw new Error(found?.reason)
  return found.targets[0]!
}

async function drain(adapter: Adapter, target: Target): Promise<unknown> {
  return (await adapter.drain([target], callOf(target))).get(target.id)
}

describeOn(await findProduct('envoy'), (program) => {
  test.each(BY_SOURCE)('envoy that asks over xDS: %s', LONG, async (name) => {
    expect(await runCase(name, ({ servers }) => makeEnvoyBed({ servers, program, asks: { serve: startServe } }))).toEqual({
      outcome: 'passed',
    })
  })

  test('a file that Envoy refuses is said, and a drain in it is in doubt; without the server Envoy goes on', LONG, async () => {
    const file = join(folder, 'eds.yaml')
    await writeFile(file, edsText(pods.endpoints))
    const options = { file, cluster: 'web', settle: '0s' }
    const served = await serve({ name: 'edge', adapter: 'envoy', port: 80, options: { ...options, server: ANY } })
    const process = await startEnvoy({ program, folder, endpoints: pods.endpoints, discoveryPort: served.port })
    cleanUps.push(() => process.stop())
    const server = { url: `http://127.0.0.1:${served.port}`, nodes: ['bed'] }
    const adapter = envoy.create(envoy.options.parse({ ...options, server }), { name: 'edge' })
    cleanUps.push(() => adapter.close())
    await vi.waitFor(() => expect(served.said()).toContain('bed has taken'), { timeout: 20_000 })
    const target = await targetOf(adapter)

    // Envoy refuses a weight of 0.
    editEds(file, 2, 'broken', (endpoint) => (endpoint.load_balancing_weight = 0))
    await vi.waitFor(() => expect(served.said()).toMatch(/bed has not taken \w+: it refuses the file/), { timeout: 20_000 })
    await expect(drain(adapter, target)).rejects.toMatchObject({
      kind: 'ambiguous',
      message: expect.stringContaining('bed of http'),
    })
    const observed = await adapter.inspect([target], callOf(target))
    expect(observed.get(target.id)?.admin).toBe('in')
    editEds(file, 2, 'mended', (endpoint) => delete endpoint.load_balancing_weight)
    expect(await drain(adapter, target)).toEqual({ outcome: 'applied' })
    expect(await process.field(pods.endpoints[0]!, 'health_flags')).toContain('draining')

    await served.stop()
    expect(await process.field(pods.endpoints[0]!, 'health_flags')).toContain('draining')
    await expect(adapter.inspect([target], callOf(target))).rejects.toThrow(server.url)
    await serve({ name: 'edge', adapter: 'envoy', port: 80, options: { ...options, server } }, served.port)
    const isOut = async (): Promise<void> =>
      expect((await adapter.inspect([target], callOf(target))).get(target.id)?.admin).toBe('draining')
    await vi.waitFor(isOut, { timeout: 20_000 })
  })

  test('an Envoy that has not asked keeps a pod from being drained, by its name', LONG, async () => {
    const file = join(folder, 'eds.yaml')
    await writeFile(file, edsText(pods.endpoints))
    const options = { file, cluster: 'web', settle: '0s' }
    const served = await serve({ name: 'edge', adapter: 'envoy', port: 80, options: { ...options, server: ANY } })
    const server = { url: `http://127.0.0.1:${served.port}`, nodes: ['elsewhere'] }
    const adapter = envoy.create(envoy.options.parse({ ...options, server }), { name: 'edge' })
    cleanUps.push(() => adapter.close())
    await expect(targetOf(adapter)).rejects.toThrow('does not know what elsewhere has taken: elsewhere has not asked')
  })
})

describeOn(await findProduct('traefik'), (program) => {
  test('traefik by its http provider: drained and put back, and a half written file is not served', LONG, async () => {
    let served: ServeProcess | undefined
    const more = { service: 'web', throttle: '100ms', settle: '0s', pollInterval: POLL_INTERVAL }
    const optionsFor = (file: string): object => ({ file, ...more })
    const process = await startTraefik({
      program,
      folder,
      endpoints: pods.endpoints,
      throttle: '100ms',
      checkEvery: 'never',
      serve: async (file) => (served = await serve({ name: 'edge', adapter: 'traefik', port: 80, options: optionsFor(file) })),
    })
    cleanUps.push(() => process.stop())
    const before = readFileSync(process.file, 'utf8')
    const options = { ...optionsFor(process.file), api: [process.api] }
    const adapter = traefik.create(traefik.options.parse(options), { name: 'edge' })
    cleanUps.push(() => adapter.close())
    const target = await targetOf(adapter)
    const weightOf = async (): Promise<number | undefined> =>
      (await process.servers()).find(({ url }) => url.endsWith(`:${pods.endpoints[0]!.port}`))?.weight

    const { prior } = (await adapter.snapshot([target], callOf(target))).get(target.id)!
    expect(await drain(adapter, target)).toEqual({ outcome: 'applied' })
    expect(await weightOf()).toBe(0)
    // Traefik itself accepts this file, and answers every request with 503.
    const drained = readFileSync(process.file, 'utf8')
    replaceFile(process.file, 'http: {services: {web: {loadBalancer: {servers: 1}}}}\n')
    await vi.waitFor(() => expect(served!.said()).toContain('servers'), { timeout: 20_000 })
    expect(await weightOf()).toBe(0)
    replaceFile(process.file, drained)
    expect((await adapter.restore([{ target, prior }], callOf(target))).get(target.id)).toEqual({ outcome: 'applied' })
    expect(await weightOf()).not.toBe(0)
    expect(readFileSync(process.file, 'utf8')).toBe(before)
  })
})

test.each([
  [['nosuch'], 'has no load balancer "nosuch": it has edge, plain, web, other'],
  [['other'], 'other is of the adapter haproxy, whose product fetches nothing'],
  [['plain'], 'plain cannot be served: its options have neither server nor admin'],
  [['web'], 'web cannot be served: its options have no pollInterval'],
  [['edge', '--listen', 'here'], '--listen here is no address: write it as ADDRESS:PORT'],
  [['edge', '--listen', '192.0.2.1:18000'], '--listen 192.0.2.1:18000 cannot be used (EADDRNOTAVAIL)'],
])('adapter serve %j is refused', async (args, why) => {
  const config = join(folder, 'sluice.yaml')
  await writeFile(
    config,
    `apiVersion: sluice.dev/v1
kind: Config
loadBalancers:
  - {name: edge, adapter: envoy, port: 80, options: {file: /nowhere/eds.yaml, cluster: web, admin: [http://127.0.0.1:1]}}
  - {name: plain, adapter: envoy, port: 80, options: {file: /nowhere/eds.yaml, cluster: web}}
  - {name: web, adapter: traefik, port: 80, options: {file: /nowhere/dynamic/web.yaml, service: web}}
  - {name: other, adapter: haproxy, port: 80, options: {socket: /nowhere/sock, backend: web}}
`,
  )
  const script = join(import.meta.dirname, '../../src/cli/sluice.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, 'adapter', 'serve', '--config', config, ...args], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  expect([status, stderr]).toEqual([2, expect.stringContaining(why)])
})

test('it ends at SIGTERM, whoever holds a connection', LONG, async () => {
  const options = { file: join(folder, 'eds.yaml'), cluster: 'web', server: ANY }
  await writeFile(options.file, edsText(pods.endpoints))
  const served = await serve({ name: 'edge', adapter: 'envoy', port: 80, options })
  const silent = connect(served.port, '127.0.0.1')
  cleanUps.push(() => silent.destroy())
  silent.on('error', () => {})
  await once(silent, 'connect')
  silent.write('POST /v3/discovery:endpoints HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n')
  expect(await served.stop()).toBe(143)
})
