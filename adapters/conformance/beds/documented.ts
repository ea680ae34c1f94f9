/** A bed of a product that is rebuilt from its documentation: its admin API controls a small load balancer that serves the traffic. */
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startHealthChecks } from '../../../demo/load-balancer/health.ts'
import { createPool } from '../../../demo/load-balancer/pool.ts'
import { createProxy } from '../../../demo/load-balancer/proxy.ts'
import type { Adapter, Endpoint, Target } from '../../contract.ts'
import type { Bed } from '../bed.ts'
import { type MakeProduct, serveApi } from '../documented/api.ts'
import { createTraffic, startPods } from './pods.ts'
import { startRestProxy } from './rest-proxy.ts'

const LIVE_PODS = 3

export interface DocumentedBedOptions {
  servers: number
  product: MakeProduct
  create(url: string, endpoints: readonly Endpoint[]): Adapter
  /** An adapter without permission to change anything. Absent if the product does not check permissions. */
  createPowerless?(url: string): Adapter
  /** The id of a target that has left. Absent if a drain removes the target. */
  absent?: Target
  /** True if the product has no maintenance state for operators. */
  hasNoMaint?: boolean
  /** True if the product makes no health checks, or the adapter does not read them. */
  hasNoHealth?: boolean
  /** Whether a request changes something. The wire counts and breaks these requests. */
  isEffect(head: string): boolean
}

export async function makeDocumentedBed(options: DocumentedBedOptions): Promise<Bed> {
  const { servers, product: makeProduct, create, createPowerless, absent, hasNoMaint, hasNoHealth, isEffect } = options
  const pods = await startPods(LIVE_PODS)
  // The cases send traffic only to the first three endpoints.
  const silent = Array.from({ length: servers - LIVE_PODS }, (_, index): Endpoint => {
    return { uid: `uid-silent-${index}`, pod: `silent-${index}`, address: '127.0.0.2', port: index + 1 }
  })
  const endpoints = [...pods.endpoints, ...silent]
  const pool = createPool(endpoints.map(({ pod, address, port }) => ({ name: pod, address: `${address}:${port}` })))
  const product = makeProduct(pool)
  const api = await serveApi(product)
  const front = createProxy(pool)
  front.listen(0, '127.0.0.1')
  await new Promise((resolve) => front.once('listening', resolve))
  const stopHealthChecks = startHealthChecks(pool, 20)
  const wire = await startRestProxy(api.url, { isEffect })
  const adapters: Adapter[] = []

  function made(adapter: Adapter): Adapter {
    adapters.push(adapter)
    return adapter
  }
  const serverOf = ({ pod }: Endpoint) => pool.find(pod)!
  const set = (state: 'in' | 'draining' | 'out') => (endpoint: Endpoint) =>
    Promise.resolve(product.set(serverOf(endpoint), state))

  return {
    adapter: () => made(create(wire.url, endpoints)),
    endpoints,
    oracle: { admin: (endpoint) => Promise.resolve(product.stateOf(serverOf(endpoint))) },
    operator: { drain: set('draining'), ready: set('in'), ...(hasNoMaint ? {} : { maint: set('out') }) },
    traffic: createTraffic({ host: '127.0.0.1', port: (front.address() as AddressInfo).port }, pods),
    wire,
    ...(absent && { absent }),
    restart: () => Promise.resolve(product.restart()),
    ...(hasNoHealth
      ? {}
      : {
          async breakHealth(endpoint: Endpoint) {
            pods.stop(endpoint.uid)
            while (serverOf(endpoint).healthy) await sleep(5)
          },
        }),
    ...(createPowerless === undefined ? {} : { powerless: () => made(createPowerless(wire.url)) }),
    fencing: false,
    async close() {
      stopHealthChecks()
      await Promise.all(adapters.map((adapter) => adapter.close()))
      wire.close()
      pods.close()
      for (const server of [api.server, front]) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}
