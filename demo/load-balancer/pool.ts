/** The servers of a load balancer, and the choice between them. The state is in memory: a restart forgets all settings. */

export type ServerState = 'ready' | 'drain' | 'maint'

/** A server as the admin API shows it. */
export interface Server {
  name: string
  /** `host:port` */
  address: string
  state: ServerState
  weight: number
  /** The requests that the server has been given and has not answered in full. */
  inFlight: number
  /** False while its health checks fail. Always true without health checks. */
  healthy: boolean
}

export interface ServerOptions {
  name: string
  address: string
  /** A weight from 0 to 256. The default is 100. */
  weight?: number
}

/** The settings that the admin API may change. */
export type ServerChange = Partial<Pick<Server, 'state' | 'weight'>>

export interface Pool {
  servers(): readonly Server[]
  find(name: string): Server | undefined
  /** Returns the next server: round robin by weight over the ready and healthy servers; undefined where there is none. */
  next(): Server | undefined
  /** Resets all servers to their configuration. Requests in flight stay. */
  forget(): void
}

const WEIGHT = 100

export function createPool(configured: readonly ServerOptions[]): Pool {
  const byName = new Map(
    configured.map(({ name, address, weight = WEIGHT }): [string, Server] => [
      name,
      { name, address, state: 'ready', weight, inFlight: 0, healthy: true },
    ]),
  )
  /**
   * In each turn every server gains its weight, and the server with the most credit pays the sum: the choice is as even as the weights
   * allow.
   */
  const credit = new Map<Server, number>()

  return {
    servers: () => [...byName.values()],
    find: (name) => byName.get(name),
    next() {
      const routable = [...byName.values()].filter(({ state, weight, healthy }) => state === 'ready' && weight > 0 && healthy)
      let chosen: Server | undefined
      let total = 0
      for (const server of routable) {
        total += server.weight
        const own = (credit.get(server) ?? 0) + server.weight
        credit.set(server, own)
        if (chosen === undefined || own > credit.get(chosen)!) chosen = server
      }
      if (chosen !== undefined) credit.set(chosen, credit.get(chosen)! - total)
      return chosen
    },
    forget() {
      for (const { name, weight = WEIGHT } of configured) Object.assign(byName.get(name)!, { state: 'ready', weight })
    },
  }
}
