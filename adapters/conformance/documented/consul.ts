/**
 * Consul, rebuilt from the documentation of its HTTP API (health, catalog, agent/service). One node has all services, and the agent of that
 * node is the server of the API. The code is not tested against the real product.
 */
import type { Pool, Server } from '../../../demo/load-balancer/pool.ts'
import { type ApiAnswer, type ApiRequest, type DocumentedProduct, setInPool } from './api.ts'

export const SERVICE = 'web'
export const TOKEN = 'the-token-of-consul'
const NODE = { Node: 'node-1', Address: '127.0.0.1', Datacenter: 'dc1' }
const HAND = { in: undefined, draining: 'sluice by hand', out: 'disks are changed' }

function checkIdOf(id: string): string {
  return `_service_maintenance:${id}`
}

export function createConsul(pool: Pool): DocumentedProduct {
  /** The notes of each maintenance by service. */
  const notes = new Map<string, string>()

  function put(server: Server, reason: string | undefined): void {
    if (reason === undefined) notes.delete(server.name)
    else notes.set(server.name, reason)
    setInPool(server, reason === undefined ? 'in' : 'draining')
  }
  function check(id: string, name: string, status: string, text = ''): object {
    return { Node: NODE.Node, CheckID: id, Name: name, Status: status, Notes: text, Output: '' }
  }
  function instance(server: Server): object {
    const { name, address, healthy } = server
    const { hostname, port } = new URL(`http://${address}`)
    const reason = notes.get(name)
    return {
      Node: NODE,
      Service: {
        ID: name,
        Service: SERVICE,
        Tags: [],
        Address: hostname,
        Port: Number(port),
        Weights: { Passing: 1, Warning: 1 },
      },
      Checks: [
        check('serfHealth', 'Serf Health Status', 'passing'),
        check(`service:${name}`, 'HTTP', healthy ? 'passing' : 'critical'),
        ...(reason === undefined ? [] : [check(checkIdOf(name), 'Service Maintenance Mode', 'critical', reason)]),
      ],
    }
  }
  function maintain(id: string, query: URLSearchParams): ApiAnswer {
    const server = pool.find(id)
    if (server === undefined)
      return { status: 404, body: `Unknown service ID "${id}". Ensure that the service ID is passed, not the service name.` }
    const enable = query.get('enable')
    if (enable !== 'true' && enable !== 'false') return { status: 400, body: 'Missing value for enable' }
    put(server, enable === 'true' ? (query.get('reason') ?? '') : undefined)
    return { status: 200 }
  }
  /** Registers a check in the catalog. The catalog stores the request as it is. */
  function register({
    Node,
    Check,
  }: {
    Node?: string
    Check?: { CheckID?: string; ServiceID?: string; Status?: string; Notes?: string }
  }): ApiAnswer {
    const server = pool.find(Check?.ServiceID ?? '')
    if (Node !== NODE.Node || server === undefined) return { status: 500, body: 'the check is of no service of the node' }
    if (Check?.CheckID === checkIdOf(server.name) && Check.Status === 'critical') put(server, Check.Notes ?? '')
    return { status: 200, body: true }
  }
  function deregister({ Node, CheckID = '', ServiceID }: { Node?: string; CheckID?: string; ServiceID?: string }): ApiAnswer {
    // A request without a CheckID and a ServiceID would remove the whole node.
    if (Node !== NODE.Node || ServiceID !== undefined || CheckID === '') return { status: 500, body: 'the bed has no such thing' }
    const server = pool.servers().find(({ name }) => checkIdOf(name) === CheckID)
    if (server !== undefined) put(server, undefined)
    return { status: 200, body: true }
  }

  return {
    answer({ method, path, query, headers, body }: ApiRequest) {
      const [, area, action, ...rest] = path
      const where = `${method} ${area}/${action}`
      if (where === 'GET health/service') return { status: 200, body: rest[0] === SERVICE ? pool.servers().map(instance) : [] }
      if (headers['x-consul-token'] !== TOKEN)
        return { status: 403, body: 'Permission denied: token lacks permission service:write' }
      if (where === 'PUT agent/service' && rest[0] === 'maintenance') return maintain(rest[1] ?? '', query)
      if (where === 'PUT catalog/register') return register(body as object)
      if (where === 'PUT catalog/deregister') return deregister(body as object)
      return { status: 404, body: `Invalid URL path: ${path.join('/')}` }
    },
    stateOf({ name }) {
      const reason = notes.get(name)
      return reason === undefined ? 'in' : reason.startsWith('sluice') ? 'draining' : 'out'
    },
    set: (server, state) => put(server, HAND[state]),
    // A restart loses nothing: the agent stores a maintenance on disk, and all servers store the catalog.
    restart: () => {},
  }
}
