/**
 * F5 BIG-IP, rebuilt from the documentation of iControl REST: pool members, their statistics, tokens, and the devices of a pair. The
 * members are in route domain 1. The code is not tested against the real product.
 */
import type { Pool, Server } from '../../../demo/load-balancer/pool.ts'
import { type ApiAnswer, type ApiRequest, type DocumentedProduct, setInPool } from './api.ts'

export const POOL = 'web'
export const PASSWORD = 'the-password-of-f5'
const POOL_PATH = `~Common~${POOL}`

export interface F5Options {
  /** The current state of this unit of the pair. */
  failoverState?(): 'active' | 'standby'
}

export interface F5 extends DocumentedProduct {
  /** Lets all tokens expire. */
  expireTokens(): void
  /** The number of successful logins. */
  logins(): number
}

interface Member {
  session: 'user-enabled' | 'user-disabled'
  isForcedOffline: boolean
}

export function createF5(pool: Pool, { failoverState = () => 'active' }: F5Options = {}): F5 {
  const members = new Map<string, Member>()
  /** The user of each token. */
  const tokens = new Map<string, string>()
  let logins = 0

  const memberOf = ({ name }: Server): Member => members.get(name) ?? { session: 'user-enabled', isForcedOffline: false }
  function put(server: Server, member: Member): void {
    members.set(server.name, member)
    setInPool(server, member.isForcedOffline ? 'out' : member.session === 'user-disabled' ? 'draining' : 'in')
  }
  function names(server: Server): { name: string; address: string; port: number } {
    const { hostname, port } = new URL(`http://${server.address}`)
    const address = `${hostname}%1`
    return { name: `${address}:${port}`, address, port: Number(port) }
  }
  function show(server: Server): object {
    const { name, address } = names(server)
    const { session, isForcedOffline } = memberOf(server)
    return {
      kind: 'tm:ltm:pool:members:membersstate',
      name,
      partition: 'Common',
      fullPath: `/Common/${name}`,
      address,
      monitor: 'default',
      ratio: 1,
      session: session === 'user-enabled' ? 'monitor-enabled' : session,
      state: isForcedOffline ? 'user-down' : server.healthy ? 'up' : 'down',
    }
  }
  function statistics(server: Server): [string, object] {
    const { name, address, port } = names(server)
    const entries = {
      addr: { description: address },
      nodeName: { description: `/Common/${address}` },
      port: { value: port },
      'serverside.curConns': { value: server.inFlight },
    }
    const self = `https://localhost/mgmt/tm/ltm/pool/${POOL_PATH}/members/~Common~${name.replace('%', '%25')}/stats`
    return [self, { nestedStats: { kind: 'tm:ltm:pool:members:membersstats', entries } }]
  }
  function refused(code: number, message: string): ApiAnswer {
    return { status: code, body: { code, message, errorStack: [] } }
  }
  function logIn({ username = '', password, loginProviderName }: Record<string, string>): ApiAnswer {
    if (password !== PASSWORD || loginProviderName !== 'tmos') return refused(401, 'Authentication failed.')
    logins += 1
    const token = `TOKEN${logins}OF${username.toUpperCase()}`
    tokens.set(token, username)
    return { status: 200, body: { username, token: { token, name: token, userName: username, timeout: 1200 } } }
  }
  function change(server: Server, { session, state }: { session?: string; state?: string }): ApiAnswer {
    const before = memberOf(server)
    if (session !== undefined && session !== 'user-enabled' && session !== 'user-disabled')
      return refused(400, `invalid property value "session":"${session}"`)
    put(server, {
      session: session ?? before.session,
      isForcedOffline: state === undefined ? before.isForcedOffline : state === 'user-down',
    })
    return { status: 200, body: show(server) }
  }

  return {
    answer({ method, path, headers, body }: ApiRequest) {
      const where = `${method} /${path.join('/')}`
      if (where === 'POST /mgmt/shared/authn/login') return logIn(body as Record<string, string>)
      const user = tokens.get(String(headers['x-f5-auth-token']))
      if (user === undefined) return refused(401, 'X-F5-Auth-Token does not exist.')
      if (where === 'GET /mgmt/tm/cm/device')
        return {
          status: 200,
          body: {
            items: [
              { name: 'here', selfDevice: 'true', failoverState: failoverState() },
              { name: 'there', selfDevice: 'false', failoverState: 'active' },
            ],
          },
        }
      const [area, , , , inPool, collection, member] = path
      if (area !== 'mgmt' || inPool !== POOL_PATH || collection !== 'members')
        return refused(404, `01020036:3: The requested Pool (${inPool}) was not found.`)
      if (member === undefined) return { status: 200, body: { items: pool.servers().map(show) } }
      if (member === 'stats') return { status: 200, body: { entries: Object.fromEntries(pool.servers().map(statistics)) } }
      const server = pool.servers().find((one) => `~Common~${names(one).name}` === member)
      if (server === undefined) return refused(404, `01020036:3: The requested Pool Member (${member}) was not found.`)
      if (method !== 'PATCH') return { status: 200, body: show(server) }
      if (user === 'guest') return refused(403, 'Access denied: role guest may not modify pool members.')
      return change(server, body as object)
    },
    stateOf(server) {
      const { session, isForcedOffline } = memberOf(server)
      return isForcedOffline ? 'out' : session === 'user-disabled' ? 'draining' : 'in'
    },
    set: (server, state) =>
      put(server, { session: state === 'in' ? 'user-enabled' : 'user-disabled', isForcedOffline: state === 'out' }),
    restart() {
      for (const server of pool.servers()) put(server, { session: 'user-enabled', isForcedOffline: false })
      tokens.clear()
    },
    expireTokens: () => tokens.clear(),
    logins: () => logins,
  }
}
