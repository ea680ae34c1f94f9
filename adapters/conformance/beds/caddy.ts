/** A bed of a real Caddy, through the preset. */
import type { Adapter, AdapterDefinition, Endpoint } from '../../contract.ts'
import { loadAdapter } from '../../registry.ts'
import type { Bed } from '../bed.ts'
import { HANDLER, startCaddy } from './caddy-process.ts'
import { createTraffic, startPods } from './pods.ts'
import { startRestProxy } from './rest-proxy.ts'

const LIVE_PODS = 3

export async function makeCaddyBed({ servers, program }: { servers: number; program: string }): Promise<Bed> {
  const caddy: AdapterDefinition = await loadAdapter('caddy')
  const pods = await startPods(LIVE_PODS)
  // The cases send traffic only to the first three endpoints.
  const silent = Array.from({ length: servers - LIVE_PODS }, (_, index): Endpoint => {
    return { uid: `uid-silent-${index}`, pod: `silent-${index}`, address: '127.0.0.2', port: index + 1 }
  })
  const endpoints = [...pods.endpoints, ...silent]
  const process = await startCaddy(program, endpoints)
  const wire = await startRestProxy(process.adminUrl)
  const adapters: Adapter[] = []

  function create(options: Record<string, unknown>): Adapter {
    const adapter = caddy.create(caddy.options.parse({ handler: `id/${HANDLER}`, ...options }), { name: 'edge' })
    adapters.push(adapter)
    return adapter
  }
  function dialOf({ address, port }: Endpoint): string {
    return `${address}:${port}`
  }

  return {
    adapter: () => create({ url: wire.url, host: process.adminHost }),
    endpoints,
    oracle: {
      async admin(endpoint) {
        return (await process.upstreams()).some(({ dial }) => dial === dialOf(endpoint)) ? 'in' : 'draining'
      },
    },
    operator: {
      async drain(endpoint) {
        await process.setUpstreams((await process.upstreams()).filter(({ dial }) => dial !== dialOf(endpoint)))
      },
      async ready(endpoint) {
        const others = (await process.upstreams()).filter(({ dial }) => dial !== dialOf(endpoint))
        await process.setUpstreams([...others, { dial: dialOf(endpoint) }])
      },
    },
    traffic: createTraffic(process.front, pods),
    wire,
    restart: () => process.restart(),
    // The admin API refuses any Host header but its own.
    powerless: () => create({ url: wire.url, host: 'elsewhere:2019' }),
    fencing: false,
    async close() {
      await Promise.all(adapters.map((adapter) => adapter.close()))
      wire.close()
      pods.close()
      await process.stop()
    },
  }
}
