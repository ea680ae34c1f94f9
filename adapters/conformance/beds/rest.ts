/** A small load balancer with a REST API (demo/load-balancer) as a bed, for whatever adapter is made for its API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLoadBalancer } from '../../../demo/load-balancer/load-balancer.ts'
import type { Adapter, Endpoint } from '../../contract.ts'
import type { Bed } from '../bed.ts'
import { createTraffic, startPods } from './pods.ts'
import { startRestProxy } from './rest-proxy.ts'

const LIVE_PODS = 3
const TOKEN = 'the-token-of-the-bed'

export interface RestBedOptions {
  servers: number
  /** An adapter for the API at this address; without the token it may change nothing. */
  create(api: { url: string; tokenFile?: string }): Adapter
}

export async function makeRestBed({ servers, create: createFor }: RestBedOptions): Promise<Bed> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-http-bed-'))
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, `${TOKEN}\n`)
  const pods = await startPods(LIVE_PODS)
  // No case sends traffic to more than the first three.
  const silent = Array.from({ length: servers - LIVE_PODS }, (_, index): Endpoint => {
    return { uid: `uid-silent-${index}`, pod: `silent-${index}`, address: '127.0.0.2', port: index + 1 }
  })
  const endpoints = [...pods.endpoints, ...silent]
  const balancer = await createLoadBalancer({
    servers: endpoints.map(({ pod, address, port }) => ({ name: pod, address: `${address}:${port}` })),
    token: TOKEN,
    healthCheckEveryMs: 20,
  })
  const wire = await startRestProxy(balancer.adminUrl)
  const adapters: Adapter[] = []

  function create(api: { url: string; tokenFile?: string }): Adapter {
    const adapter = createFor(api)
    adapters.push(adapter)
    return adapter
  }
  function serverOf({ pod }: Endpoint) {
    return balancer.servers().find(({ name }) => name === pod)!
  }
  async function set({ pod }: Endpoint, change: object): Promise<void> {
    const headers = { authorization: `Bearer ${TOKEN}` }
    const { status } = await fetch(`${balancer.adminUrl}/servers/${pod}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(change),
    })
    if (status !== 200) throw new Error(`the operator was answered ${status}`)
  }
  const front = new URL(balancer.trafficUrl)

  return {
    adapter: () => create({ url: wire.url, tokenFile }),
    endpoints,
    oracle: {
      admin(endpoint) {
        const { state } = serverOf(endpoint)
        return Promise.resolve(state === 'ready' ? 'in' : state === 'drain' ? 'draining' : 'out')
      },
      weight: (endpoint) => Promise.resolve(serverOf(endpoint).weight),
    },
    operator: {
      maint: (endpoint) => set(endpoint, { state: 'maint' }),
      drain: (endpoint) => set(endpoint, { state: 'drain' }),
      ready: (endpoint) => set(endpoint, { state: 'ready' }),
      weight: (endpoint, weight) => set(endpoint, { weight }),
    },
    traffic: createTraffic({ host: front.hostname, port: front.port }, pods),
    wire,
    absent: { id: 'gone@127.0.0.1:1', scope: 'all' },
    restart: () => Promise.resolve(balancer.restart()),
    async breakHealth(endpoint) {
      pods.stop(endpoint.uid)
      while (serverOf(endpoint).healthy) await sleep(5)
    },
    powerless: () => create({ url: balancer.adminUrl }),
    fencing: false,
    async close() {
      await Promise.all(adapters.map((adapter) => adapter.close()))
      wire.close()
      pods.close()
      await balancer.close()
      rmSync(folder, { recursive: true })
    },
  }
}
