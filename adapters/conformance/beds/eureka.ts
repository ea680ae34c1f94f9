/** A bed of a real Eureka, through the preset. The clients of the bed fetch the instances and take turns between them. */
import type { Adapter, Endpoint } from '../../contract.ts'
import { loadAdapter } from '../../registry.ts'
import type { Bed, HeldRequest } from '../bed.ts'
import type { EurekaProcess } from './eureka-process.ts'
import { createTraffic, startPods } from './pods.ts'
import { startRestProxy } from './rest-proxy.ts'

const LIVE_PODS = 3
let beds = 0

/** Makes a bed. Many beds share one server, so each bed has its own application. */
export async function makeEurekaBed({ servers, eureka }: { servers: number; eureka: EurekaProcess }): Promise<Bed> {
  const preset = await loadAdapter('eureka')
  beds += 1
  const app = `WEB${beds}`
  const pods = await startPods(LIVE_PODS)
  const silent = Array.from({ length: servers - LIVE_PODS }, (_, index): Endpoint => {
    return { uid: `uid-silent-${index}`, pod: `silent-${index}`, address: '127.0.0.2', port: index + 1 }
  })
  const endpoints = [...pods.endpoints, ...silent]
  const idOf = ({ address, port }: Endpoint): string => `${address}:${app.toLowerCase()}:${port}`
  const registerAll = async (): Promise<void> => {
    for (const endpoint of endpoints) await eureka.register(app, { id: idOf(endpoint), ...endpoint })
  }
  await registerAll()
  const wire = await startRestProxy(eureka.url)
  const adapters: Adapter[] = []
  let turn = 0

  function create(): Adapter {
    const options = { url: `${wire.url}/eureka`, app, capabilities: { settle: '100ms' } }
    const adapter = preset.create(preset.options.parse(options), { name: 'edge' })
    adapters.push(adapter)
    return adapter
  }
  /** The next instance for a request, as a client with its own load balancing chooses it. */
  async function next(): Promise<ReturnType<typeof createTraffic>> {
    const up = (await eureka.instances(app)).filter(({ status }) => status === 'UP')
    const chosen = up[(turn += 1) % up.length]
    if (chosen === undefined) throw new Error('no instance is up')
    return createTraffic({ host: chosen.ipAddr, port: chosen.port.$ }, pods)
  }

  return {
    adapter: create,
    endpoints,
    oracle: {
      async admin(endpoint) {
        const { overriddenStatus, status } = await eureka.instance(app, idOf(endpoint))
        if (overriddenStatus === 'OUT_OF_SERVICE') return 'draining'
        return overriddenStatus === 'DOWN' ? 'out' : status === 'UP' ? 'in' : 'out'
      },
    },
    operator: {
      maint: (endpoint) => eureka.override(app, idOf(endpoint), 'DOWN'),
      drain: (endpoint) => eureka.override(app, idOf(endpoint), 'OUT_OF_SERVICE'),
      ready: (endpoint) => eureka.override(app, idOf(endpoint), undefined),
    },
    traffic: {
      request: async () => (await next()).request(),
      hold: async (): Promise<HeldRequest> => (await next()).hold(),
    },
    wire,
    absent: { id: 'gone@127.0.0.1:1', scope: 'all' },
    async restart() {
      await eureka.restart()
      // The instances register again, as real instances do.
      await registerAll()
    },
    fencing: false,
    async close() {
      await Promise.all(adapters.map((adapter) => adapter.close()))
      wire.close()
      pods.close()
    },
  }
}
