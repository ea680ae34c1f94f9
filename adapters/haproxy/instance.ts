/** One scope of the adapter: one HAProxy process with one stats socket, and one backend. */
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

/**
 * The cost of a header in rows. A reply with all servers needs 0.4 KB per server, and a reply for one server needs 2 KB, because each reply
 * has a header.
 */
const STAT_HEADER_IN_ROWS = 5

export interface Instance {
  scope: string
  socket: string
  /** Reads all servers of the backend. Rejects if the socket does not allow changes, or if the master socket is not one of a master. */
  list(call: Call): Promise<ServerState[]>
  observe(ids: readonly string[], call: Call): Promise<Map<string, TargetObservation>>
  drain(ids: readonly string[], call: Call): Promise<Map<string, EffectResult>>
  restore(ids: readonly string[], call: Call, commands: CommandsOf): Promise<Map<string, EffectResult>>
  /** Gives a function that finds the server of a target, or an error with the reason why there is none. */
  finder(servers: readonly ServerState[]): (id: string) => ServerState | AdapterError
  close(): void
}

type CommandsOf = (on: Server, server: ServerState, id: string) => string[] | AdapterError

export interface InstanceOptions {
  component: string
  socket: string
  /** The master socket. Undefined: old workers are not counted. */
  master: string | undefined
  backend: string
}

export function createInstance({ component, socket, master, backend }: InstanceOptions): Instance {
  // The scope includes the socket, because another HAProxy may get the same name in the config later.
  const scope = `${socket}/${backend}`
  const prefixes = [scope, backend]
  const open = new Set<Socket>()
  const sticky = createStickySessions()
  let isClosed = false
  let lastSession: Promise<unknown> = Promise.resolve()

  /** Uses one connection at a time, because a stats socket has a limit of ten connections by default. */
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

  /** Checks the master socket. A master that is away for a moment during a reload is no error. */
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
    // The query uses the id of the backend, because a frontend without servers may have the same name.
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
        // The check runs before the first drain, because the journal has the intent of the pod by the time of a drain.
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
        // The count follows the state. A count of 0 for a drained server then proves that no request is left.
        const inFlight = await readInFlight(session, present, servers.length)
        // The count of the old workers follows that of the new one, so that a worker that a reload replaces in between is counted at least
        // once.
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
        // The drain is done, so an error of this count does not matter.
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
