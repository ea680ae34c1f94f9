/** Tests that need a real Traefik. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findProduct } from '../../test/products/find-product.ts'
import { describeOn } from '../../test/products/program.ts'
import { waitUntil } from '../conformance/beds/haproxy-process.ts'
import { createTraffic, type Pods, startPods } from '../conformance/beds/pods.ts'
import {
  editServers,
  replaceFile,
  startTraefik,
  type TraefikOptions as ProcessOptions,
  type TraefikProcess,
  urlOf,
  waitForServers,
} from '../conformance/beds/traefik-process.ts'
import { assertApplied, assertFailed, drainOne, inspectOne, resolveAll, restoreOne, snapshotOne } from '../conformance/steps.ts'
import type { Adapter, Target } from '../contract.ts'
import { traefik } from './index.ts'

describeOn(await findProduct('traefik'), (program) => {
  let folder: string
  let pods: Pods
  let processes: TraefikProcess[]
  let adapters: Adapter[]
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-traefik-'))
    processes = []
    adapters = []
    pods = await startPods(3)
  })
  afterEach(async () => {
    await Promise.all([...adapters.map((adapter) => adapter.close()), ...processes.map((process) => process.stop())])
    pods.close()
    rmSync(folder, { recursive: true })
  })

  async function start(options: Partial<ProcessOptions> = {}): Promise<TraefikProcess> {
    const process = await startTraefik({ program, folder, endpoints: pods.endpoints, throttle: '50ms', ...options })
    processes.push(process)
    return process
  }
  async function adapterOf({ file, api }: TraefikProcess, over: object = {}): Promise<{ adapter: Adapter; targets: Target[] }> {
    const options = traefik.options.parse({ file, service: 'web', api: [api], throttle: '50ms', ...over })
    const adapter = traefik.create(options, { name: 'edge' })
    adapters.push(adapter)
    return { adapter, targets: await resolveAll(adapter, pods.endpoints) }
  }

  test('a drain changes one line of a file with comments, and a restore gives back every byte', async () => {
    const process = await start()
    const text = readFileSync(process.file, 'utf8').replace(
      '      loadBalancer:',
      '      # The pods of web.\n      loadBalancer:',
    )
    replaceFile(process.file, `# By hand.\n${text}\n# The end.\n`)
    const before = readFileSync(process.file, 'utf8')
    const { adapter, targets } = await adapterOf(process)
    const { prior } = await snapshotOne(adapter, targets[1]!)
    assertApplied(await drainOne(adapter, targets[1]!))
    const line = `- url: http://${targets[1]!.id}`
    expect(readFileSync(process.file, 'utf8')).toBe(
      before.replace(line, `- weight: 0\n            url: http://${targets[1]!.id}`),
    )
    expect((await process.servers())[1]?.weight).toBe(0)
    assertApplied(await restoreOne(adapter, targets[1]!, prior))
    expect(readFileSync(process.file, 'utf8')).toBe(before)
    expect((await process.servers())[1]?.weight).toBeUndefined()
  })

  test('at the throttle that Traefik has by itself, a second change is answered once it is taken', async () => {
    const process = await start({ throttle: '2s' })
    const { adapter, targets } = await adapterOf(process, { throttle: '2s' })
    assertApplied(await drainOne(adapter, targets[0]!))
    assertApplied(await drainOne(adapter, targets[1]!))
    const traffic = createTraffic(process.front, pods)
    const reached = new Set<string>()
    for (let sent = 0; sent < 20; sent += 1) reached.add(await traffic.request())
    expect([...reached]).toEqual(['uid-2'])
  })

  test('a drain that is written and not taken yet reads as in rotation', async () => {
    const process = await start({ throttle: '2s' })
    const { adapter, targets } = await adapterOf(process)
    editServers(process.file, (servers) => {
      servers[2]!.weight = 2
    })
    await waitForServers(process, (servers) => servers[2]?.weight === 2)
    // The throttle delays this change for two seconds.
    editServers(process.file, (servers) => {
      servers[0]!.weight = 0
    })
    const { admin, detail } = await inspectOne(adapter, targets[0]!)
    expect(admin).toBe('in')
    expect(detail).toContain(`${process.api} has not taken that`)
    await waitUntil(async () => (await inspectOne(adapter, targets[0]!)).admin === 'draining', 'it is taken')
  })

  test('a file that Traefik refuses is no drain: the effect is in doubt, and the state tells that it is in', async () => {
    const process = await start()
    const { adapter, targets } = await adapterOf(process)
    replaceFile(
      process.file,
      readFileSync(process.file, 'utf8').replace('      service: web', '      nonsense: true\n      service: web'),
    )
    const result = await drainOne(adapter, targets[0]!)
    assertFailed(result, 'ambiguous')
    expect(String(result.outcome === 'failed' && result.error.message)).toMatch(
      /has not taken .*web\.yaml, by what it says of 127/,
    )
    expect((await inspectOne(adapter, targets[0]!)).admin).toBe('in')
  })

  /** An edit by an operator that Traefik refuses because of a misspelled field. */
  function editInVain(file: string, edit: (text: string) => string): void {
    const text = readFileSync(file, 'utf8').replace('      service: web', '      nonsense: true\n      service: web')
    replaceFile(file, edit(text))
  }

  test('URLs that are written in another way do not hide that Traefik has refused the file', async () => {
    const process = await start()
    const { adapter, targets } = await adapterOf(process)
    editInVain(process.file, (text) => text.replace(/url: http(.*)/g, 'url: HTTP$1/'))
    const result = await drainOne(adapter, targets[0]!)
    assertFailed(result, 'ambiguous')
    expect(await inspectOne(adapter, targets[0]!)).toMatchObject({
      admin: 'in',
      detail: expect.stringContaining(`${process.api} has not taken that`),
    })
    const traffic = createTraffic(process.front, pods)
    const reached = new Set<string>()
    for (let sent = 0; sent < 20; sent += 1) reached.add(await traffic.request())
    expect(reached).toContain('uid-0')
  })

  test('a server that Traefik does not show is not drained by what the file says', async () => {
    const process = await start()
    const { adapter } = await adapterOf(process)
    editInVain(process.file, (text) => text.replace(urlOf(pods.endpoints[0]!), 'http://127.0.0.9:8080'))
    const [target] = await resolveAll(adapter, [{ ...pods.endpoints[0]!, address: '127.0.0.9', port: 8080 }])
    assertFailed(await drainOne(adapter, target!), 'ambiguous')
    expect(await inspectOne(adapter, target!)).toMatchObject({
      admin: 'in',
      routable: false,
      detail: `127.0.0.9:8080: weight 0 in the file; ${process.api} does not show it`,
    })
  })

  test.each(['weight: "0"', "Weight: '0'"])('a drain by hand that is written as %s is seen, and outlives a run', async (line) => {
    const process = await start()
    const { adapter, targets } = await adapterOf(process)
    const url = `- url: ${urlOf(pods.endpoints[0]!)}`
    replaceFile(process.file, readFileSync(process.file, 'utf8').replace(url, `${url}\n            ${line}`))
    await waitForServers(process, (servers) => servers[0]?.weight === 0)
    const before = readFileSync(process.file, 'utf8')
    const { prior, inRotation } = await snapshotOne(adapter, targets[0]!)
    expect(inRotation).toBe(false)
    expect((await inspectOne(adapter, targets[0]!)).admin).toBe('draining')
    assertApplied(await drainOne(adapter, targets[0]!))
    // Another writer puts the server in rotation in the meantime.
    replaceFile(process.file, before.replace(/(eight: )["']0["']/, '$12'))
    await waitForServers(process, (servers) => servers[0]?.weight === 2)
    assertApplied(await restoreOne(adapter, targets[0]!, prior))
    expect(readFileSync(process.file, 'utf8')).toBe(before)
    expect((await process.servers())[0]?.weight).toBe(0)
  })

  test('a weight from a merge key is told with the way out', async () => {
    const process = await start()
    const url = `- url: ${urlOf(pods.endpoints[0]!)}`
    replaceFile(process.file, readFileSync(process.file, 'utf8').replace(url, `${url}\n            <<: {weight: 0}`))
    await waitForServers(process, (servers) => servers[0]?.weight === 0)
    await expect(adapterOf(process)).rejects.toThrow(
      'web.yaml cannot be used: http.services.web.loadBalancer.servers.0 has weight from a merge key (<<): write it out',
    )
  })

  test('a pod that fails its checks is down under whatever writing of its URL', async () => {
    const process = await start()
    replaceFile(process.file, readFileSync(process.file, 'utf8').replaceAll('url: http', 'url: HTTP'))
    await waitForServers(process, (servers) => servers[0]!.url.startsWith('HTTP:'))
    const { adapter, targets } = await adapterOf(process)
    pods.stop('uid-0')
    await waitUntil(() => process.isDown(pods.endpoints[0]!), 'the first pod is down')
    expect((await inspectOne(adapter, targets[0]!)).routable).toBe(false)
  })

  test('a pod that fails its checks is not routable; after each change Traefik takes it for up, until the next check', async () => {
    const process = await start({ checkEvery: '2s' })
    const { adapter, targets } = await adapterOf(process)
    const traffic = createTraffic(process.front, pods)
    pods.stop('uid-0')
    await waitUntil(() => process.isDown(pods.endpoints[0]!), 'the first pod is down')
    const { routable, detail } = await inspectOne(adapter, targets[0]!)
    expect([routable, detail]).toEqual([false, expect.stringContaining(`down by the health checks of ${process.api}`)])
    for (let sent = 0; sent < 10; sent += 1) expect(await traffic.request()).toMatch(/uid-[12]/)
    assertApplied(await drainOne(adapter, targets[1]!))
    await waitUntil(async () => (await traffic.request()) === 'status 502', 'the pod that is down gets a request')
    await waitUntil(() => process.isDown(pods.endpoints[0]!), 'it is down again')
  })

  test('while one of two is away a pod is put back in the other, which is in doubt; no pod is drained', async () => {
    const first = await start()
    const second = await start({ name: 'second', file: first.file })
    const { adapter, targets } = await adapterOf(first, { api: [first.api, second.api] })
    const { prior } = await snapshotOne(adapter, targets[0]!)
    const before = readFileSync(first.file, 'utf8')
    assertApplied(await drainOne(adapter, targets[0]!))
    await second.stop()
    for (const count of ['once', 'twice']) {
      const result = await restoreOne(adapter, targets[0]!, prior)
      assertFailed(result, 'ambiguous')
      expect(result.outcome === 'failed' && result.error.message, count).toContain(`cannot be asked: ${second.api}/api/`)
      expect(readFileSync(first.file, 'utf8')).toBe(before)
    }
    const traffic = createTraffic(first.front, pods)
    await waitUntil(async () => (await traffic.request()) === 'uid-0', 'the pod gets requests by the live one')
    assertFailed(await drainOne(adapter, targets[1]!), 'retryable')
    expect(readFileSync(first.file, 'utf8')).toBe(before)
    await expect(inspectOne(adapter, targets[0]!)).rejects.toThrow(`${second.api}/api/`)
    await second.restart()
    assertApplied(await restoreOne(adapter, targets[0]!, prior))
    expect(await inspectOne(adapter, targets[0]!)).toMatchObject({ admin: 'in', routable: true })
  })

  test('without its API, and without the service, the messages name what to look at', async () => {
    const process = await start()
    await expect(adapterOf(process, { service: 'api' })).rejects.toThrow(
      'web.yaml cannot be used: it has no http.services.api; it has web',
    )
    const { adapter, targets } = await adapterOf(process)
    await process.stop()
    await expect(inspectOne(adapter, targets[0]!)).rejects.toThrow(`${process.api}/api/http/services/web@file`)
    assertFailed(await drainOne(adapter, targets[0]!), 'retryable')
  })

  test('a temporary folder on another file system is told, with what to name in its place', async () => {
    const process = await start()
    const { adapter, targets } = await adapterOf(process, { temporaryFolder: '/dev/shm' })
    const result = await drainOne(adapter, targets[0]!)
    assertFailed(result, 'fatal')
    expect(String(result.outcome === 'failed' && result.error.message)).toContain('name a folder on the same one')
  })
})
