/**
 * A load balancer in memory, and its adapter. It uses no timer and no I/O: every call settles at once unless a `delay` hook holds it, so
 * that tests and simulations control the order of events.
 */
import {
  type Adapter,
  AdapterError,
  type Call,
  type Capabilities,
  type EffectCall,
  type EffectResult,
  addressesOf,
  type Endpoint,
  type Json,
  type Resolution,
  type Target,
  type TargetObservation,
  type TargetSnapshot,
} from '../contract.ts'

export type MemoryState = 'ready' | 'drain' | 'maint'

/** One server of the pool in its current state. A test may write to it, as an operator would. */
export interface MemoryServer {
  name: string
  address: string
  port: number
  state: MemoryState
  weight: number
  healthy: boolean
  inFlight: number
  /** True if the load balancer itself waits for traffic in progress. */
  emptying?: true
}

export interface MemoryServerOptions {
  name: string
  address: string
  port: number
  state?: MemoryState
  weight?: number
}

/** One call on the wire. The list of calls is in the order of arrival. */
export interface MemoryCall {
  method: 'resolve' | 'inspect' | 'snapshot' | 'drain' | 'restore'
  ids: string[]
  /** The operation ids of an effect. Absent for a read. */
  operationIds?: string[]
  fence?: number
}

/** One change of the state of a server. A repeated effect without a change adds none. */
export interface MemoryChange {
  id: string
  kind: 'drain' | 'restore'
  operationId: string
}

/**
 * The fault of a call:
 * - `refused`: the connection fails, and the call is not sent
 * - `request-lost`: the call is sent and never arrives
 * - `reply-lost`: the call is done, and its answer is lost
 * - `late`: the call gets no answer, and arrives at `deliverLate()`
 * - `false-success`: the answer reports success, but the call is not done
 * - an AdapterError: the load balancer refuses the call with this error
 */
export type MemoryFault = 'refused' | 'request-lost' | 'reply-lost' | 'late' | 'false-success' | AdapterError

export interface MemoryBalancer {
  readonly scope: string
  readonly servers: Map<string, MemoryServer>
  readonly calls: MemoryCall[]
  readonly changes: MemoryChange[]
  /** The server for the next request: routable servers take turns. Undefined if no server is routable. */
  route(): MemoryServer | undefined
  /** Loses the changes at run time, as a reload does. */
  restart(): void
  /** Lets the calls with the fault `late` arrive in order. */
  deliverLate(): void
  /** Changes a server. For the adapter only. */
  set(id: string, to: { state: MemoryState; weight?: number }, by: { kind: MemoryChange['kind']; operationId: string }): void
  holdBack(arrive: () => void): void
}

export interface MemoryAdapterOptions {
  name?: string
  capabilities?: Partial<Capabilities>
  /** The fault of a call. It is asked once per call. */
  fault?: (call: MemoryCall) => MemoryFault | undefined
  /** Holds a call. `before`: the call is connected and not sent. `after`: the call is done and not answered. */
  delay?: (moment: 'before' | 'after', call: MemoryCall) => Promise<void> | undefined
  /** Refuses an effect if its target has seen a higher fence. */
  fencing?: boolean
}

export const memoryCapabilities: Capabilities = {
  guarantee: 'G1',
  maxBatch: 100,
  inspect: 'strong',
  inFlight: 'exact',
  volatileOnReload: true,
  disruptsOthers: false,
  settleMs: 0,
}

function isRoutable(server: MemoryServer): boolean {
  return server.state === 'ready' && server.healthy && server.weight > 0
}

export function createMemoryBalancer(configured: readonly MemoryServerOptions[], scope = 'pool'): MemoryBalancer {
  const servers = new Map<string, MemoryServer>()
  const changes: MemoryChange[] = []
  let late: (() => void)[] = []
  let turn = 0

  function restart(): void {
    for (const { name, address, port, state = 'ready', weight = 1 } of configured) {
      const id = `${scope}/${name}`
      const inFlight = servers.get(id)?.inFlight ?? 0
      servers.set(id, { name, address, port, state, weight, healthy: true, inFlight })
    }
  }
  restart()

  return {
    scope,
    servers,
    calls: [],
    changes,
    restart,
    route() {
      const candidates = [...servers.values()].filter(isRoutable)
      turn += 1
      return candidates[turn % candidates.length]
    },
    deliverLate() {
      const arriving = late
      late = []
      for (const arrive of arriving) arrive()
    },
    set(id, to, by) {
      const server = servers.get(id)
      if (server === undefined) return
      const weight = to.weight ?? server.weight
      if (server.state === to.state && server.weight === weight) return
      server.state = to.state
      server.weight = weight
      changes.push({ id, ...by })
    },
    holdBack(arrive) {
      late.push(arrive)
    },
  }
}

interface MemoryPrior {
  state: MemoryState
  weight: number
}

function isPrior(prior: Json): prior is { state: MemoryState; weight: number } {
  return typeof prior === 'object' && prior !== null && 'state' in prior && 'weight' in prior
}

export function createMemoryAdapter(balancer: MemoryBalancer, options: MemoryAdapterOptions = {}): Adapter {
  const component = `memory ${options.name ?? balancer.scope}`
  const fences = new Map<string, number>()
  let closed = false

  /** Sends one call. The fault of the call is decided before it leaves. */
  async function send<T>(call: Call, sent: MemoryCall, arrival: (fault: MemoryFault | undefined) => T): Promise<T> {
    const isEffect = sent.operationIds !== undefined
    const lost = (message: string) => new AdapterError(component, isEffect ? 'ambiguous' : 'retryable', message)
    if (closed) throw new AdapterError(component, 'retryable', 'the adapter is closed')
    const fault = options.fault?.(sent)
    const arrive = () => arrival(fault)
    if (fault === 'refused') throw new AdapterError(component, 'retryable', 'connection refused')
    await options.delay?.('before', sent)
    call.assertLive()
    balancer.calls.push(sent)
    if (fault instanceof AdapterError) throw fault
    if (fault === 'late') balancer.holdBack(arrive)
    if (fault === 'late' || fault === 'request-lost') throw lost('no answer within the deadline')
    const answer = arrive()
    await options.delay?.('after', sent)
    if (fault === 'reply-lost') throw lost('no answer within the deadline')
    return answer
  }

  function absent(id: string): AdapterError {
    return new AdapterError(component, 'not-found', `no server ${id}`)
  }

  async function effect(
    kind: MemoryChange['kind'],
    wanted: ReadonlyMap<string, (server: MemoryServer) => MemoryPrior | AdapterError>,
    call: EffectCall,
  ): Promise<Map<string, EffectResult>> {
    const ids = [...wanted.keys()]
    const operationId = (id: string): string => call.operationIds.get(id) ?? ''
    const sent: MemoryCall = { method: kind, ids, operationIds: ids.map(operationId), fence: call.fence }

    function applyTo(id: string, fault: MemoryFault | undefined): EffectResult {
      const server = balancer.servers.get(id)
      if (server === undefined) return { outcome: 'failed', error: absent(id) }
      const seen = fences.get(id) ?? call.fence
      if (options.fencing === true && call.fence < seen) {
        const message = `${id} has seen fence ${seen}, this call has ${call.fence}`
        return { outcome: 'failed', error: new AdapterError(component, 'conflict', message) }
      }
      const to = wanted.get(id)!(server)
      if (to instanceof AdapterError) return { outcome: 'failed', error: to }
      fences.set(id, call.fence)
      if (fault !== 'false-success') balancer.set(id, to, { kind, operationId: operationId(id) })
      return { outcome: 'applied' }
    }
    return send(call, sent, (fault) => new Map(ids.map((id) => [id, applyTo(id, fault)])))
  }

  return {
    capabilities: { ...memoryCapabilities, ...options.capabilities },

    resolve(endpoints: readonly Endpoint[], call) {
      const resolveOne = (endpoint: Endpoint): Resolution => {
        const addresses = addressesOf(endpoint)
        const isOwn = (server: MemoryServer): boolean =>
          addresses.some(({ address, port }) => server.address === address && server.port === port)
        const found = [...balancer.servers].filter(([, server]) => isOwn(server))
        if (found.length > 0) return { found: true, targets: found.map(([id]) => ({ id, scope: balancer.scope })) }
        const looked = addresses.map(({ address, port }) => `${address}:${port}`).join(' or ')
        return { found: false, reason: `${looked} is none of the ${balancer.servers.size} servers of ${balancer.scope}` }
      }
      const sent: MemoryCall = { method: 'resolve', ids: endpoints.map(({ address, port }) => `${address}:${port}`) }
      return send(call, sent, () => endpoints.map(resolveOne))
    },

    inspect(targets: readonly Target[], call) {
      const observe = (server: MemoryServer | undefined): TargetObservation => {
        if (server === undefined) return { admin: 'absent', routable: false, inFlight: null }
        const admin = server.state === 'maint' ? 'out' : server.state === 'drain' || server.weight === 0 ? 'draining' : 'in'
        const { weight, inFlight, emptying } = server
        return { admin, routable: isRoutable(server), weight, inFlight, ...(emptying && { isEmptying: true }) }
      }
      const sent: MemoryCall = { method: 'inspect', ids: targets.map(({ id }) => id) }
      return send(call, sent, () => new Map(targets.map(({ id }) => [id, observe(balancer.servers.get(id))])))
    },

    snapshot(targets: readonly Target[], call) {
      const capture = (id: string): [string, TargetSnapshot] => {
        const server = balancer.servers.get(id)
        if (server === undefined) throw absent(id)
        const { state, weight } = server
        return [id, { prior: { state, weight }, inRotation: state === 'ready' && weight > 0, weight }]
      }
      const sent: MemoryCall = { method: 'snapshot', ids: targets.map(({ id }) => id) }
      return send(call, sent, () => new Map(targets.map(({ id }) => capture(id))))
    },

    drain(targets, call) {
      const drained = (server: MemoryServer): MemoryPrior | AdapterError =>
        server.state === 'maint'
          ? new AdapterError(component, 'conflict', `${server.name} is in maintenance`)
          : { state: 'drain', weight: server.weight }
      return effect('drain', new Map(targets.map(({ id }) => [id, drained])), call)
    },

    restore(targets, call) {
      const back =
        (prior: Json) =>
        (server: MemoryServer): MemoryPrior | AdapterError => {
          if (!isPrior(prior)) return new AdapterError(component, 'fatal', 'the prior state is not one of this adapter')
          if (server.state !== 'maint' || prior.state === 'maint') return prior
          return new AdapterError(component, 'conflict', `${server.name} was put in maintenance meanwhile`)
        }
      return effect('restore', new Map(targets.map(({ target, prior }) => [target.id, back(prior)])), call)
    },

    close() {
      closed = true
      return Promise.resolve()
    },
  }
}
