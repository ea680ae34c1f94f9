/** A load balancer with an HTTP API that is started for a bed, whatever adapter is made for its API. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Adapter, Address, Endpoint } from '../../contract.ts'
import type { PartialBed } from '../bed.ts'
import { createTraffic, startPods } from './pods.ts'
import { startRestProxy } from './rest-proxy.ts'

const LIVE_PODS = 3
const FRONT_PORT = 80

type Maybe<Value> = Value | Promise<Value>

/** What a server is called, and where it listens. */
export interface BedServer extends Address {
  name: string
}

/** A load balancer that was started, as it is seen and changed without an adapter. `at` is one of its servers. */
export interface StartedLoadBalancer {
  /** Of its API, such as `http://127.0.0.1:9100`. */
  apiUrl: string
  /** Where it takes requests. */
  requestUrl: string
  state(at: BedServer): Maybe<'in' | 'draining' | 'out'>
  /** What a person does there: a drain as the adapter's, and its end. */
  drain(at: BedServer): Maybe<void>
  ready(at: BedServer): Maybe<void>
  /** Maintenance besides the drain, where there is such a thing. */
  maint?(at: BedServer): Maybe<void>
  /** Where there are weights. */
  weight?(at: BedServer): Maybe<number>
  setWeight?(at: BedServer, weight: number): Maybe<void>
  /** By its own health checks, where it has such. */
  isHealthy?(at: BedServer): Maybe<boolean>
  /** Whatever makes it forget what it forgets; ends when it serves again. */
  restart?(): Maybe<void>
  close(): Maybe<void>
}

export interface StartedBedOptions {
  servers: number
  start(options: { servers: BedServer[] }): Maybe<StartedLoadBalancer>
  /** An adapter for the API at this URL, all of whose calls the bed can break. */
  create(apiUrl: string): Adapter
  /** The same without the right to change anything. */
  powerless?(apiUrl: string): Adapter
}

export async function makeStartedBed({ servers, start, create, powerless }: StartedBedOptions): Promise<PartialBed> {
  const pods = await startPods(LIVE_PODS)
  // No case sends traffic to more than the first three.
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
