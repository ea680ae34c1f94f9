/** An upgrade behind each HAProxy: pods of the demo, real requests, and a reload while a pod is out. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { startHaproxy } from '../../adapters/conformance/beds/haproxy-process.ts'
import { CONTAINER, imageOf, NAMESPACE, WORKLOAD } from '../../demo/cluster/manifests.ts'
import { hasAddressPerPod, startCluster } from '../../demo/cluster/start.ts'
import { createChildren } from '../../demo/processes/children.ts'
import { freePort } from '../../demo/processes/free-port.ts'
import { startTraffic } from '../../demo/traffic/start.ts'
import { startEffectLog } from '../embedded/effect-log.ts'
import { describeOnEachHaproxy } from '../haproxy/versions.ts'
import { ROOT } from './running-demo.ts'

const SLUICE = join(ROOT, 'src/cli/sluice.ts')
const DRAINED = / (w\d) \S+ \d 8 /
/** A busy machine takes long to start processes. */
const PATIENCE = { timeout: 120_000, interval: 10 }
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

await describeOnEachHaproxy((program) => {
  test.skipIf(!hasAddressPerPod)('a reload while a pod is out: no request fails, one drain and one restore a pod', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-haproxy-upgrade-'))
    cleanups.push(() => rmSync(folder, { recursive: true }))
    const children = createChildren()
    cleanups.push(() => children.end())
    const cluster = await startCluster(children, { pods: 3, folder })
    const isReady = async (): Promise<boolean> => {
      const pods = await Promise.all(cluster.pods.map((pod) => cluster.api.read(pod)))
      return pods.every((pod) => pod.isReady)
    }
    await expect.poll(isReady, PATIENCE).toBe(true)

    const stateFile = join(folder, 'state')
    writeFileSync(stateFile, '')
    const port = await freePort()
    const haproxy = await startHaproxy({
      program,
      endpoints: cluster.pods.map((pod) => ({ uid: pod, pod, address: cluster.endpointOf(pod).host, port: cluster.port })),
      checked: 0,
      moreLines: [
        // A request that fails must be seen to fail.
        'retries 0',
        // As deployments keep a drain over a reload.
        'load-server-state-from-file local',
        `server-state-file-name ${stateFile}`,
        'frontend people',
        `bind 127.0.0.1:${port}`,
        'default_backend web',
      ],
    })
    cleanups.push(() => haproxy.stop())
    const socket = join(folder, 'haproxy.sock')
    const log = await startEffectLog(haproxy.adminSocket, socket)
    cleanups.push(() => log.stop())
    const options = { socket, master: haproxy.masterSocket, backend: 'web' }
    const edge = { name: 'edge', adapter: 'haproxy', port: cluster.port, options }
    const config = join(folder, 'sluice.yaml')
    writeFileSync(config, JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge] }))

    // A reload closes connections that are kept, which is their clients' business.
    const load = { ratePerSecond: 100, heldShare: 0.1, holdMs: 300, freshShare: 1, timeoutMs: 10_000 }
    const traffic = startTraffic(children, { ...load, url: `http://127.0.0.1:${port}` })
    await traffic.begun
    const where = ['-n', NAMESPACE, '--kubeconfig', cluster.kubeconfig, '--config', config]
    const command = [process.execPath, SLUICE, 'upgrade', `statefulset/${WORKLOAD}`, `${CONTAINER}=${imageOf(2)}`, ...where]
    const sluice = children.runOnLeash(command)
    let output = ''
    sluice.process.stdout!.on('data', (text: Buffer) => (output += text.toString()))
    let isOver = false
    void sluice.exit.then(() => (isOver = true))

    const states = (): Promise<string> => haproxy.ask('show servers state web')
    await expect.poll(async () => isOver || DRAINED.test(await states()), PATIENCE).toBe(true)
    const [, out] = DRAINED.exec(await states()) ?? []
    expect(out, `${output}${sluice.complaints()}`).toBeDefined()
    writeFileSync(stateFile, `${await states()}\n`)
    await haproxy.reload()
    expect(DRAINED.exec(await states())?.[1], 'it is out behind the new worker').toBe(out)

    expect(await sluice.exit, `${output}${sluice.complaints()}`).toBe(0)
    const { requests, failures } = await traffic.stop()
    expect(failures).toEqual([])
    expect(requests).toBeGreaterThan(100)
    const byServer = Map.groupBy(log.effects, ({ server }) => server)
    const once = ['drain', 'ready']
    expect(Object.fromEntries(Array.from(byServer, ([server, own]) => [server, own.map(({ to }) => to)]))).toEqual({
      w0: once,
      w1: once,
      w2: once,
    })
    for (const pod of cluster.pods) expect(await cluster.api.read(pod)).toMatchObject({ image: imageOf(2), isReady: true })
  })
})
