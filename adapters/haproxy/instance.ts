/** What is asked of one HAProxy process: one stats socket and one backend, which is one scope. */
import type { Socket } from 'node:net'
import { AdapterError, type Call, type EffectResult, type TargetObservation } from '../contract.ts'
import { type RuntimeSession, withRuntimeSession } from './connection.ts'
import { applyChanges, drainCommands, levelError, replyError, type Server } from './effects.ts'
import { listOldWorkers, readOldInFlight } from './old-workers.ts'
import { admission, describeServer, isRoutable, parseServersState, type ServerState } from './servers-state.ts'
import { parseInFlight, parseInfo, type ProcessInfo, type ServerCount } from './stats.ts'
import { createStickySessions } from './sticky-sessions.ts'
import { formatAddress } from '../address.ts'
import { indexByAddress, parseTargetId, whyMissing, whyShared } from './targets.ts'

/** Asking for all servers costs 0.4 KB each, asking for one costs 2 KB: a header comes with every answer. */
const STAT_HEADER_IN_ROWS = 5

export interface Instance {
  scope: string
  socket: string
  /** All servers of the backend; rejects where the socket would take no change of them, or the master's is none. */
  list(call: Call): Promise<ServerState[]>
  observe(ids: readonly string[], call: Call): Promise<Map<string, TargetObservation>>
  drain(ids: readonly string[], call: Call): Promise<Map<string, EffectResult>>
  restore(ids: readonly string[], call: Call, commands: CommandsOf): Promise<Map<string, EffectResult>>
  /** Finds the server of a target, or an error that says why there is none. */
  finder(servers: readonly ServerState[]): (id: string) => ServerState | AdapterError
  close(): void
}

type CommandsOf = (on: Server, server: ServerState, id: string) => string[] | AdapterError

export interface InstanceOptions {
  component: string
  socket: string
  /** Undefined where old workers are not counted. */
  master: string | undefined
  backend: string
}

export function createInstance({ component, socket, master, backend }: InstanceOptions): Instance {
  // Found by trial: under the name of a load balancer there was another HAProxy, where a drain of the first was gone on with.
  const scope = `${socket}/${backend}`
  const prefixes = [scope, backend]
  const open = new Set<Socket>()
  const sticky = createStickySessions()
  let isClosed = false
  let lastSession: Promise<unknown> = Promise.resolve()

  /** One connection at a time: a stats socket takes ten unless told, and refuses what goes beyond its backlog. */
  function withSession<T>(call: Call, use: (session: RuntimeSession) => Promise<T>): Promise<T> {
    const session = lastSession.then(() => {
      if (isClosed) throw new AdapterError(component, 'retryable', 'the adapter is closed')
      return withRuntimeSession({ component, socket }, call, open, use)
    })
    lastSession = session.catch(() => {})
    return session
  }

  async function readBackend(session: RuntimeSession): Promise<{ servers: ServerState[]; info: ProcessInfo }> {
    const [state = '', about = ''] = await session.read([`show servers state ${backend}`, 'show info'])
    const info = parseInfo(about)
    if (info?.isStopping === true) {
      throw new AdapterError(component, 'retryable', `${socket} reached a worker that a reload has just replaced`)
    }
    if (state.startsWith("Can't find backend")) {
      const [backends = ''] = await session.read(['show backend'])
      const names = backends.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
      throw new AdapterError(component, 'fatal', `${socket} has no backend ${backend}; it has ${names.join(', ') || 'none'}`)
    }
    const servers = parseServersState(state)
    if (servers === undefined || info === undefined) {
      throw replyError(component, state) ?? new AdapterError(component, 'fatal', `${socket} does not answer like HAProxy`)
    }
    return { servers, info }
  }

  /** That the master is away for a moment of a reload says nothing of its socket. */
  async function assertMaster(named: string, call: Call): Promise<void> {
    try {
      await listOldWorkers({ component, socket: named }, call, open)
    } catch (error) {
      if (!(error instanceof AdapterError) || error.kind === 'fatal') throw error
    }
  }

  function finder(servers: readonly ServerState[]): (id: string) => ServerState | AdapterError {
    const byName = new Map(servers.map((server) => [server.name, server]))
    const byAddress = indexByAddress(servers)
    return (id) => {
      const key = parseTargetId(prefixes, id)
      if (key === undefined) return new AdapterError(component, 'fatal', `${id} is not an id of this adapter`)
      const [server, ...others] = byAddress.get(formatAddress(key)) ?? []
      if (server === undefined) return new AdapterError(component, 'not-found', `${backend}: ${whyMissing(byName, key)}`)
      return others.length === 0
        ? server
        : new AdapterError(component, 'conflict', whyShared(backend, socket, [server, ...others]))
    }
  }

  async function readInFlight(
    session: RuntimeSession,
    of: readonly ServerState[],
    all: number,
  ): Promise<Map<string, ServerCount>> {
    if (of.length === 0) return new Map()
    const eachAlone = of.length * STAT_HEADER_IN_ROWS < all
    // By its id: the name may be a frontend's as well, which has no servers.
    const commands = eachAlone
      ? of.map(({ backendId, id }) => `show stat ${backendId} 4 ${id}`)
      : [`show stat ${of[0]!.backendId} 4 -1`]
    const tables = await session.read(commands)
    return new Map(tables.flatMap((table) => [...parseInFlight(table, backend)]))
  }

  async function change(session: RuntimeSession, ids: readonly string[], commandsOf: CommandsOf) {
    const { servers, info } = await readBackend(session)
    const find = finder(servers)
    const changes = ids.map((id) => {
      const server = find(id)
      return { id, server, commands: server instanceof AdapterError ? server : commandsOf({ component, backend }, server, id) }
    })
    const results = await applyChanges(component, session, changes)
    const changed = changes.flatMap(({ id, server, commands }) => {
      if (server instanceof AdapterError || commands instanceof AdapterError || commands.length === 0) return []
      return results.get(id)?.outcome === 'applied' ? [server] : []
    })
    return { results, changed, servers, info }
  }

  return {
    scope,
    socket,
    finder,

    list: (call) =>
      withSession(call, async (session) => {
        const { servers } = await readBackend(session)
        // Before the first drain: one that is refused would come after its pod's intent was written.
        const [level = ''] = await session.read(['show cli level'])
        const refused = levelError(component, socket, level)
        if (refused !== undefined) throw refused
        if (master !== undefined) await assertMaster(master, call)
        return servers
      }),

    observe: (ids, call) =>
      withSession(call, async (session) => {
        const { servers, info } = await readBackend(session)
        const find = finder(servers)
        const found = ids.map((id) => [id, find(id)] as const)
        const present = found.flatMap(([, server]) => (server instanceof AdapterError ? [] : [server]))
        // Counted after the state was read: 0 in flight of a drained server then means that none is left.
        const inFlight = await readInFlight(session, present, servers.length)
        // The old workers after the new one: a worker that is replaced in between is counted once at least.
        const old = master === undefined ? undefined : await readOldInFlight({ component, socket: master }, backend, call, open)
        const names = new Set(servers.map(({ name }) => name))
        const observe = (id: string, server: ServerState | AdapterError): TargetObservation => {
          if (server instanceof AdapterError) {
            const lacking = { routable: false, inFlight: null, detail: server.message }
            if (server.kind !== 'not-found') return { ...lacking, admin: 'unknown' }
            return { ...lacking, admin: 'absent', moved: names.has(parseTargetId(prefixes, id)?.name ?? '') }
          }
          const count = inFlight.get(server.name)
          const stickyAgo = sticky.secondsSince(server, count, info.epoch)
          return {
            admin: admission(server),
            routable: isRoutable(server),
            weight: server.weight,
            inFlight:
              count === undefined ? null : Math.max(count.inFlight, stickyAgo === undefined ? 0 : 1) + (old?.(server) ?? 0),
            detail:
              stickyAgo === undefined ? describeServer(server) : `${describeServer(server)}; got a session ${stickyAgo} s ago`,
          }
        }
        return new Map(found.map(([id, server]) => [id, observe(id, server)]))
      }),

    drain: (ids, call) =>
      withSession(call, async (session) => {
        const { results, changed, servers, info } = await change(session, ids, drainCommands)
        // The drain is done, whatever becomes of this.
        const counts = await readInFlight(session, changed, servers.length).catch(() => undefined)
        for (const server of changed) sticky.drained(server, counts?.get(server.name), info.epoch)
        return results
      }),

    restore: (ids, call, commands) => withSession(call, async (session) => (await change(session, ids, commands)).results),

    close() {
      isClosed = true
      for (const connection of open) connection.destroy(new Error('the adapter was closed'))
    },
  }
}
