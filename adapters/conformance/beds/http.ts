/** A bed of the demo load balancer with a REST API, which a config describes. */
import { http } from '../../http/index.ts'
import type { PartialBed } from '../bed.ts'
import { makeRestBed } from './rest.ts'

export interface HttpBedOptions {
  servers: number
  /** How the adapter reads a target: from the list of all targets, or with a request for each target. */
  reads: 'list' | 'one'
}

/** The part of a config that describes the load balancer of the bed. */
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
