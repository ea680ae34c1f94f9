import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { Adapter } from '../../adapters/contract.ts'
import type { Config, ConfiguredLock } from '../config/config.ts'
import { systemClock, systemRandom } from '../ports/system.ts'
import type { Cluster } from './cluster.ts'
import { connectLocks } from './connect-locks.ts'

const CONFIG = { file: 'sluice.yaml' } as Config
const LOCK: ConfiguredLock = { namespace: 'release', document: 'pool' }

async function serve(name: string): Promise<string> {
  const server = createServer((_, response) =>
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ name })),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A kubeconfig with one context, `hub`. */
function kubeconfigOf(url: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-locks-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'kubeconfig')
  const named = { clusters: [{ name: 'hub', cluster: { server: url } }], users: [{ name: 'ci', user: {} }] }
  const contexts = [{ name: 'hub', context: { cluster: 'hub', user: 'ci' } }]
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...named, contexts }))
  return file
}

async function connected(locks: readonly (ConfiguredLock | undefined)[], cluster: Partial<Cluster> = {}) {
  const made = locks.map((lock, index) => ({
    name: `lb-${index}`,
    adapter: {} as Adapter,
    adapterName: 'stub',
    port: 80,
    drainTurn: 0,
    ...(lock && { lock }),
  }))
  const own = { client: {}, namespace: 'shop', close: async () => {}, ...cluster } as Cluster
  const ports = { cluster: own, clock: systemClock, random: systemRandom }
  const { loadBalancers, close } = await connectLocks(CONFIG, made, ports)
  onTestFinished(close)
  return { own, locks: loadBalancers.map(({ lock }) => lock) }
}

test('a lock is in the cluster of the run, unless it names another one', async () => {
  const [own, hub] = await Promise.all([serve('of the run'), serve('of the lock')])
  const kubeconfig = kubeconfigOf(hub)
  const made = await connected([undefined, LOCK, { ...LOCK, context: 'hub' }, { ...LOCK, kubeconfig, context: 'hub' }], {
    kubeconfig: kubeconfigOf(own),
  })
  const [none, same, byContext, byFile] = made.locks
  expect(none).toBe(undefined)
  expect(same!.client).toBe(made.own.client)
  // A context without a kubeconfig refers to the file of the run.
  await expect(byContext!.client.get('/version')).resolves.toEqual({ name: 'of the run' })
  await expect(byFile!.client.get('/version')).resolves.toEqual({ name: 'of the lock' })
})

test('locks of one cluster share a connection', async () => {
  const kubeconfig = kubeconfigOf(await serve('hub'))
  const { locks } = await connected([LOCK, LOCK].map((lock) => ({ ...lock, kubeconfig, context: 'hub' })))
  expect(locks[0]!.client).toBe(locks[1]!.client)
})

test('a cluster that the kubeconfig does not have is an error of the config, at its place', async () => {
  const kubeconfig = kubeconfigOf('http://127.0.0.1:1')
  await expect(connected([undefined, { ...LOCK, kubeconfig, context: 'hubb' }])).rejects.toMatchObject({
    name: 'ConfigError',
    message: expect.stringContaining('loadBalancers[1].lock: cannot be used: ') as string,
  })
})
