/** A bed of the small load balancer with a REST API (demo/load-balancer), for any adapter of its API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLoadBalancer } from '../../../demo/load-balancer/load-balancer.ts'
import { formatAddress } from '../../address.ts'
import type { Adapter } from '../../contract.ts'
import type { PartialBed } from '../bed.ts'
import { type BedServer, makeStartedBed, type StartedLoadBalancer } from './started.ts'

const TOKEN = 'the-token-of-the-bed'

export interface RestBedOptions {
  servers: number
  /** Makes an adapter for the API at this URL. Without the token, the adapter has no permission to change anything. */
  create(api: { url: string; tokenFile?: string }): Adapter
}

export function makeRestBed({ servers: count, create }: RestBedOptions): Promise<PartialBed> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-http-bed-'))
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, `${TOKEN}\n`)

  async function start({ servers }: { servers: BedServer[] }): Promise<StartedLoadBalancer> {
    const balancer = await createLoadBalancer({
      servers: servers.map((server) => ({ name: server.name, address: formatAddress(server) })),
      token: TOKEN,
      healthCheckEveryMs: 20,
    })
    const serverOf = (at: BedServer) => balancer.servers().find(({ name }) => name === at.name)!
    async function set({ name }: BedServer, change: object): Promise<void> {
      const headers = { authorization: `Bearer ${TOKEN}` }
      const { status } = await fetch(`${balancer.adminUrl}/servers/${name}`, {
        method: 'PUT',
        headers,
        body: JSON.stringify(change),
      })
      if (status !== 200) throw new Error(`the operator was answered ${status}`)
    }
    return {
      apiUrl: balancer.adminUrl,
      requestUrl: balancer.trafficUrl,
      state(at) {
        const { state } = serverOf(at)
        return state === 'ready' ? 'in' : state === 'drain' ? 'draining' : 'out'
      },
      drain: (at) => set(at, { state: 'drain' }),
      ready: (at) => set(at, { state: 'ready' }),
      maint: (at) => set(at, { state: 'maint' }),
      weight: (at) => serverOf(at).weight,
      setWeight: (at, weight) => set(at, { weight }),
      isHealthy: (at) => serverOf(at).healthy,
      restart: () => balancer.restart(),
      async close() {
        await balancer.close()
        rmSync(folder, { recursive: true })
      },
    }
  }

  return makeStartedBed({
    servers: count,
    start,
    create: (url) => create({ url, tokenFile }),
    powerless: (url) => create({ url }),
  })
}
