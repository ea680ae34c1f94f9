import { createInterface } from 'node:readline'
import type { LoadBalancerOptions } from '../load-balancer/load-balancer.ts'
import type { Server, ServerState } from '../load-balancer/pool.ts'
import { DemoError } from '../demo-error.ts'
import type { Child, Children } from '../processes/children.ts'
import type { Balancer, BalancerOptions } from './balancer.ts'

const PATH = '/servers/${target.id}'

/**
 * What a config says of a load balancer that sluice does not know: how to ask, and what the answers mean. An entry has the
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

/** What the program says once it serves (programs/load-balancer.ts). */
export interface Listening {
  adminUrl: string
  trafficUrl: string
}

/** It can take a server out for good, too. */
export interface EmbeddedBalancer extends Balancer {
  set(server: string, state: ServerState): Promise<void>
}

/** The demo's own reverse proxy, driven through its REST API: by sluice through the adapter `http`. */
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
