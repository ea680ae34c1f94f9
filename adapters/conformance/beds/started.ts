/** A bed of any load balancer with an HTTP API that a function starts, for any adapter of that API. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Adapter, Address, Endpoint } from '../../contract.ts'
import type { PartialBed } from '../bed.ts'
import { createTraffic, startPods } from './pods.ts'
import { startRestProxy } from './rest-proxy.ts'

const LIVE_PODS = 3
const FRONT_PORT = 80

type Maybe<Value> = Value | Promise<Value>

/** The name and the address of a server. */
export interface BedServer extends Address {
  name: string
}

/** A started load balancer, with its state and its changes without an adapter. `at` is one of its servers. */
export interface StartedLoadBalancer {
  /** The URL of the API, such as `http://127.0.0.1:9100`. */
  apiUrl: string
  /** The URL for requests of clients. */
  requestUrl: string
  state(at: BedServer): Maybe<'in' | 'draining' | 'out'>
  /** Drains the server as an operator does, in the way of the adapter; `ready` ends it. */
  drain(at: BedServer): Maybe<void>
  ready(at: BedServer): Maybe<void>
  /** Puts the server into maintenance. Absent if the load balancer has no maintenance besides the drain. */
  maint?(at: BedServer): Maybe<void>
  /** The weight of the server. Absent if the load balancer has no weights. */
  weight?(at: BedServer): Maybe<number>
  setWeight?(at: BedServer, weight: number): Maybe<void>
  /** The result of the health checks of the load balancer. Absent if it has none. */
  isHealthy?(at: BedServer): Maybe<boolean>
  /** Restarts the load balancer, so that it loses its changes at run time. Ends when it serves again. */
  restart?(): Maybe<void>
  close(): Maybe<void>
}

export interface StartedBedOptions {
  servers: number
  start(options: { servers: BedServer[] }): Maybe<StartedLoadBalancer>
  /** Makes an adapter for the API at this URL. The bed can break all its calls. */
  create(apiUrl: string): Adapter
  /** Makes such an adapter without permission to change anything. */
  powerless?(apiUrl: string): Adapter
}

export async function makeStartedBed({ servers, start, create, powerless }: StartedBedOptions): Promise<PartialBed> {
  const pods = await startPods(LIVE_PODS)
  // The cases send traffic only to the first three endpoints.
  const silent = Array.from({ length: servers - LIVE_PODS }, (_, index): Endpoint => {
    return { uid: `uid-silent-${index}`, pod: `silent-${index}`, address: '127.0.0.2', port: index + 1 }
  })
  const endpoints = [...pods.endpoints, ...silent]
  const at = ({ pod, address, port }: Endpoint): BedServer => ({ name: pod, address, port })
  let balancer: StartedLoadBalancer
  try {
    balancer = await start({ servers: endpoints.map(at) })
  } catch (error) {
    pods.close()
    throw error
  }
  const wire = await startRestProxy(balancer.apiUrl)
  const front = new URL(balancer.requestUrl)
  const adapters: Adapter[] = []
  const made = (adapter: Adapter): Adapter => {
    adapters.push(adapter)
    return adapter
  }
  return {
    adapter: () => made(create(wire.url)),
    endpoints,
    oracle: {
      admin: async (endpoint) => balancer.state(at(endpoint)),
      ...(balancer.weight === undefined ? {} : { weight: async (endpoint) => balancer.weight!(at(endpoint)) }),
    },
    operator: {
      drain: async (endpoint) => balancer.drain(at(endpoint)),
      ready: async (endpoint) => balancer.ready(at(endpoint)),
      ...(balancer.maint === undefined ? {} : { maint: async (endpoint) => balancer.maint!(at(endpoint)) }),
      ...(balancer.setWeight === undefined
        ? {}
        : { weight: async (endpoint, weight) => balancer.setWeight!(at(endpoint), weight) }),
    },
    traffic: createTraffic({ host: front.hostname, port: front.port || FRONT_PORT }, pods),
    wire,
    absent: { id: 'gone@127.0.0.1:1', scope: 'all' },
    ...(balancer.restart === undefined ? {} : { restart: async () => balancer.restart!() }),
    ...(balancer.isHealthy === undefined
      ? {}
      : {
          async breakHealth(endpoint) {
            pods.stop(endpoint.uid)
            while (await balancer.isHealthy!(at(endpoint))) await sleep(5)
          },
        }),
    ...(powerless === undefined ? {} : { powerless: () => made(powerless(balancer.apiUrl)) }),
    fencing: false,
    async close() {
      await Promise.all(adapters.map((adapter) => adapter.close()))
      wire.close()
      pods.close()
      await balancer.close()
    },
  }
}
