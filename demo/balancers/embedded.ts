import { createInterface } from 'node:readline'
import type { LoadBalancerOptions } from '../load-balancer/load-balancer.ts'
import type { Server, ServerState } from '../load-balancer/pool.ts'
import { DemoError } from '../demo-error.ts'
import type { Child, Children } from '../processes/children.ts'
import type { Balancer, BalancerOptions } from './balancer.ts'

const PATH = '/servers/${target.id}'

/**
 * The description of an unknown load balancer for the config of sluice: the requests, and the meaning of the answers. An entry has the
 * name of its pod.
 */
const REST_API = {
  targets: { id: 'endpoint.pod' },
  inspect: {
    request: { path: PATH },
    admin: 'entry.state == "ready" ? "in" : entry.state == "drain" ? "draining" : "out"',
    routable: 'entry.healthy',
    weight: 'entry.weight',
    inFlight: 'entry.inFlight',
    prior: '{"state": entry.state, "weight": entry.weight}',
  },
  drain: { method: 'PUT', path: PATH, body: { state: 'drain' } },
  restore: { method: 'PUT', path: PATH, body: { state: '${prior.state}', weight: '${prior.weight}' } },
  capabilities: { volatileOnReload: true },
}

/**
 * The description of a load balancer that follows endpoints. The drain and the restore change nothing: sluice waits until the load balancer
 * has followed.
 */
const FOLLOWING_REST_API = {
  ...REST_API,
  inspect: { ...REST_API.inspect, admin: 'entry.state == "ready" ? "in" : "draining"', prior: '{"name": entry.name}' },
  drain: { method: 'PUT', path: PATH, body: {} },
  restore: { method: 'PUT', path: PATH, body: {} },
}

/** The message of the program once it serves (programs/load-balancer.ts). */
export interface Listening {
  adminUrl: string
  trafficUrl: string
}

/** A balancer that can also take a server out for good. */
export interface EmbeddedBalancer extends Balancer {
  /** In place of `config`, where a program has the load balancer follow endpoints. */
  followingConfig: Record<string, unknown>
  set(server: string, state: ServerState): Promise<void>
}

/** Starts the demo's own reverse proxy, with its REST API. Sluice uses the API through the adapter `http`. */
export async function startEmbedded(children: Children, { pods, port }: BalancerOptions): Promise<EmbeddedBalancer> {
  const options: LoadBalancerOptions = { servers: pods }
  const child = children.run('load-balancer', { OPTIONS: JSON.stringify(options) })
  const { adminUrl, trafficUrl } = await firstLine(child)

  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    try {
      return await fetch(`${adminUrl}${path}`, init)
    } catch {
      throw new DemoError('the load balancer of the demo does not answer any more')
    }
  }

  async function set(pod: string, state: ServerState): Promise<void> {
    const body = JSON.stringify({ state })
    const { ok, status } = await ask(`/servers/${pod}`, { method: 'PUT', body })
    if (!ok) throw new Error(`demo: the load balancer answered ${status} to ${body} for ${pod}`)
  }

  return {
    title: 'a small reverse proxy',
    url: trafficUrl,
    config: { name: 'edge', adapter: 'http', port, options: { url: adminUrl, ...REST_API } },
    followingConfig: { name: 'edge', adapter: 'http', port, options: { url: adminUrl, ...FOLLOWING_REST_API } },
    async look() {
      const { servers } = (await (await ask('/servers')).json()) as { servers: Server[] }
      return new Map(servers.map(({ name, state }) => [name, state === 'ready']))
    },
    set,
    drain: (pod) => set(pod, 'drain'),
    restore: (pod) => set(pod, 'ready'),
  }
}

async function firstLine({ process, complaints }: Child): Promise<Listening> {
  for await (const line of createInterface({ input: process.stdout! })) return JSON.parse(line) as Listening
  throw new DemoError(`the load balancer of the demo did not start: ${complaints()}`)
}
