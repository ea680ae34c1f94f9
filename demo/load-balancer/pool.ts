/** The servers of a load balancer, and whose turn it is. In memory: a restart forgets what was set. */

export type ServerState = 'ready' | 'drain' | 'maint'

/** A server as the admin API shows it. */
export interface Server {
  name: string
  /** `host:port` */
  address: string
  state: ServerState
  weight: number
  /** Requests that it has been given and not yet answered in full. */
  inFlight: number
  /** False while its health checks fail; always true where there are none. */
  healthy: boolean
}

export interface ServerOptions {
  name: string
  address: string
  /** From 0 to 256; 100 unless told. */
  weight?: number
}

/** What the admin API may set. */
export type ServerChange = Partial<Pick<Server, 'state' | 'weight'>>

export interface Pool {
  servers(): readonly Server[]
  find(name: string): Server | undefined
  /** Whose turn it is: round robin by weight over those that are ready and healthy; undefined where there is none. */
  next(): Server | undefined
  /** All as they were configured; what is in flight stays. */
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
  /** Each turn all gain their weight, and the one that has most pays the sum: as even as the weights allow. */
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
