/** A bed of the in-memory load balancer. */
import { AdapterError, type Endpoint } from '../../contract.ts'
import type { Bed, WireFault } from '../bed.ts'
import { createMemoryAdapter, createMemoryBalancer, type MemoryFault, type MemoryServer } from '../memory-adapter.ts'

const faults: Record<WireFault, MemoryFault> = {
  refused: 'refused',
  'cut-before-effect': new AdapterError('memory pool', 'retryable', 'the connection broke'),
  'request-lost': 'request-lost',
  'reply-lost': 'reply-lost',
  'no-answer': 'reply-lost',
  'false-success': 'false-success',
}

export function makeMemoryBed({ servers }: { servers: number }): Promise<Bed> {
  const endpoints: Endpoint[] = Array.from({ length: servers }, (_, index) => {
    return { uid: `uid-${index}`, pod: `web-${index}`, address: `10.0.${index >> 8}.${index & 255}`, port: 80 }
  })
  const balancer = createMemoryBalancer(endpoints.map(({ pod, address, port }) => ({ name: pod, address, port })))
  let next: WireFault | undefined
  let cutCalls = 0

  function serverOf({ pod }: Endpoint): MemoryServer {
    return balancer.servers.get(`${balancer.scope}/${pod}`)!
  }
  function uidOf(server: MemoryServer | undefined): string {
    return endpoints.find(({ pod }) => pod === server?.name)?.uid ?? 'no server'
  }
  function change(edit: (server: MemoryServer) => void): (endpoint: Endpoint) => Promise<void> {
    return (endpoint) => Promise.resolve(edit(serverOf(endpoint)))
  }
  const request = () => Promise.resolve(uidOf(balancer.route()))

  return Promise.resolve({
    adapter: () =>
      createMemoryAdapter(balancer, {
        fencing: true,
        fault(call) {
          if (call.operationIds === undefined || next === undefined) return undefined
          const fault = next
          if (fault !== 'refused') next = undefined
          if (fault === 'cut-before-effect') cutCalls += 1
          return faults[fault]
        },
      }),
    endpoints,
    oracle: {
      admin(endpoint) {
        const { state } = serverOf(endpoint)
        return Promise.resolve(state === 'ready' ? 'in' : state === 'drain' ? 'draining' : 'out')
      },
      weight: (endpoint) => Promise.resolve(serverOf(endpoint).weight),
    },
    operator: {
      maint: change((server) => {
        server.state = 'maint'
      }),
      drain: change((server) => {
        server.state = 'drain'
      }),
      ready: change((server) => {
        server.state = 'ready'
      }),
      weight: (endpoint, weight) =>
        change((server) => {
          server.weight = weight
        })(endpoint),
    },
    traffic: {
      request,
      hold() {
        const server = balancer.route()!
        server.inFlight += 1
        return Promise.resolve({
          uid: uidOf(server),
          release() {
            server.inFlight -= 1
            return Promise.resolve(true)
          },
        })
      },
      keepAlive: () => Promise.resolve({ request, close: () => {} }),
    },
    wire: {
      next(fault) {
        next = fault
      },
      heal() {
        next = undefined
      },
      effectCalls: () => balancer.calls.filter(({ operationIds }) => operationIds !== undefined).length - cutCalls,
    },
    absent: { id: `${balancer.scope}/gone`, scope: balancer.scope },
    restart: () => Promise.resolve(balancer.restart()),
    breakHealth: change((server) => {
      server.healthy = false
    }),
    powerless: () =>
      createMemoryAdapter(balancer, { fault: () => new AdapterError('memory pool', 'fatal', 'no right to change the pool') }),
    fencing: true,
    close: () => Promise.resolve(),
  })
}
