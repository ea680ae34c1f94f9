/** The load balancer with a REST API, described in a config like any other. */
import { http } from '../../http/index.ts'
import type { PartialBed } from '../bed.ts'
import { makeRestBed } from './rest.ts'

export interface HttpBedOptions {
  servers: number
  /** How a target is read: from the list of all, or by a request of its own. */
  reads: 'list' | 'one'
}

/** What a config says of the bed’s load balancer. */
function describeBalancer(reads: HttpBedOptions['reads']): Record<string, unknown> {
  const path = '/servers/${target.id}'
  return {
    targets: { request: { path: '/servers' }, each: 'body.servers', id: 'entry.name', address: 'entry.address' },
    inspect: {
      ...(reads === 'one' ? { request: { path } } : {}),
      admin: 'entry.state == "ready" ? "in" : entry.state == "drain" ? "draining" : "out"',
      routable: 'entry.healthy',
      weight: 'entry.weight',
      inFlight: 'entry.inFlight',
      prior: '{"state": entry.state, "weight": entry.weight}',
    },
    drain: { method: 'PUT', path, body: { state: 'drain' }, expect: [200] },
    restore: { method: 'PUT', path, body: { state: '${prior.state}', weight: '${prior.weight}' }, expect: [200] },
    capabilities: { volatileOnReload: true },
  }
}

export function makeHttpBed({ servers, reads }: HttpBedOptions): Promise<PartialBed> {
  return makeRestBed({
    servers,
    create({ url, tokenFile }) {
      const auth = tokenFile === undefined ? {} : { auth: { bearer: { file: tokenFile } } }
      return http.create(http.options.parse({ ...describeBalancer(reads), url, ...auth }), { name: 'edge' })
    },
  })
}
