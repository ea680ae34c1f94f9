import {
  addressesOf,
  type Adapter,
  AdapterError,
  type AdapterErrorKind,
  type Call,
  type Capabilities,
  type EffectCall,
  type EffectResult,
  type Json,
  type Target,
  type TargetObservation,
  type TargetSnapshot,
} from '../../../adapters/contract.ts'
import type { LoadBalancer, Reading, Throttled } from '../../../sim/load-balancer/balancer.ts'
import type { Admin } from '../../../sim/load-balancer/entry.ts'
import type { Wire } from '../../../sim/load-balancer/wire.ts'
import { WireError } from '../../../sim/load-balancer/wire.ts'
import type { Refusal, WriteEntry, WriteResult } from '../../../sim/load-balancer/write.ts'

export interface SimulatedAdapterOptions {
  balancer: LoadBalancer
  wire: Wire
  /** The process that sends, for the history. */
  process: string
}

const KINDS: Record<Refusal, AdapterErrorKind> = {
  absent: 'not-found',
  maintenance: 'conflict',
  fence: 'conflict',
  version: 'conflict',
  busy: 'retryable',
  forbidden: 'fatal',
}

/** A text in every record. It stands for a name or a text of an API, and the API server compares texts in their escaped form. */
const ODD_TEXT = 'R&D <\u2028>'

interface Prior {
  admin: Admin
  weight: number
}

/** Creates the adapter of a simulated load balancer of any level. */
export function createSimulatedAdapter({ balancer, wire, process }: SimulatedAdapterOptions): Adapter {
  const { level, options } = balancer
  const component = `simulated ${balancer.name}`
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => {})
  let closed = false

  const capabilities: Capabilities = {
    guarantee: level,
    maxBatch: options.batchMax ?? 100,
    inspect: level === 'G0' ? 'none' : (options.staleMs ?? 0) > 0 ? 'eventual' : 'strong',
    inFlight: level === 'G0' || options.countsRequests === false ? 'none' : 'exact',
    ...(options.jobMs === undefined ? {} : { longestJobMs: options.jobMs }),
    volatileOnReload: options.volatile ?? false,
    disruptsOthers: false,
    // A stale read-back is waited out too, until it counts the last requests.
    settleMs: (options.traffic?.lagMs ?? 0) + (options.staleMs ?? 0),
  }

  /** Makes one call on the wire. A call without an answer is in doubt only where it may have changed an entry. */
  async function send<T>(name: string, call: Call, arrive: (leftAt: number) => T | Throttled): Promise<T> {
    if (closed) throw new AdapterError(component, 'retryable', 'the adapter is closed')
    try {
      let leftAt = 0
      function leave(): void {
        call.assertLive()
        leftAt = options.clock.now()
      }
      const sent = wire.call({ name, deadlineMs: call.deadlineMs, leave, arrive: () => arrive(leftAt) })
      const answer = await Promise.race([sent, ended.promise])
      if (!isThrottled(answer)) return answer
      throw new AdapterError(component, 'throttled', 'too many calls', { retryAfterMs: answer.throttledMs })
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      const inDoubt = error.bytesLeft && (name === 'drain' || name === 'restore')
      throw new AdapterError(component, inDoubt ? 'ambiguous' : 'retryable', error.message, { cause: error })
    }
  }

  function failed(kind: AdapterErrorKind, message: string): EffectResult {
    return { outcome: 'failed', error: new AdapterError(component, kind, message) }
  }

  function absent(id: string): AdapterError {
    return new AdapterError(component, 'not-found', `no server ${id}`)
  }

  /** Reads the entries of targets. An entry that has another address by now belongs to another pod. */
  async function read(
    name: string,
    targets: readonly Target[],
    call: Call,
  ): Promise<{ find: (target: Target) => { here?: Reading; moved: boolean } }> {
    const wanted = targets.map(parse)
    const { entries } = await send(name, call, () => balancer.read(wanted.map((one) => one.name)))
    function find(target: Target): { here?: Reading; moved: boolean } {
      const { name: entry, address, port } = parse(target)
      const reading = entries.get(entry)
      if (reading === undefined) return { moved: false }
      return reading.address === address && reading.port === port ? { here: reading, moved: false } : { moved: true }
    }
    return { find }
  }

  async function effect(
    kind: 'drain' | 'restore',
    wanted: readonly { target: Target; prior?: Prior }[],
    call: EffectCall,
  ): Promise<Map<string, EffectResult>> {
    const targets = wanted.map(({ target }) => target)
    // The write rests on a read right before it. Both share the deadline of the call.
    const half = { ...call, deadlineMs: call.deadlineMs / 2, assertLive: () => {} }
    const known = level === 'G3' ? await read('versions', targets, half) : undefined
    const entries = wanted.map(({ target, prior }): WriteEntry => {
      const version = known?.find(target).here?.version
      return {
        ...parse(target),
        operation: call.operationIds.get(target.id) ?? '',
        ...(prior === undefined ? {} : { prior: { admin: prior.admin, weight: prior.weight } }),
        ...(version === undefined ? {} : { version }),
      }
    })
    const outgoing = known ? { ...call, deadlineMs: half.deadlineMs } : call
    const results = await send(kind, outgoing, (leftAt) =>
      balancer.write({ by: process, kind, fence: call.fence, leftAt, entries }),
    )
    return new Map(targets.map((target) => [target.id, resultOf(results.get(parse(target).name), target.id)]))
  }

  function resultOf(result: WriteResult | undefined, id: string): EffectResult {
    if (result === undefined) return { outcome: 'failed', error: absent(id) }
    return result.outcome === 'refused' ? failed(KINDS[result.why], result.message) : result
  }

  return {
    capabilities,

    async resolve(endpoints, call) {
      const servers = await send('resolve', call, () => balancer.list())
      return endpoints.map((endpoint) => {
        const addresses = addressesOf(endpoint)
        const targets = servers
          .filter((server) => addresses.some(({ address, port }) => server.address === address && server.port === port))
          .map(({ name, address, port }) => ({ id: `${name}@${address}:${port}`, scope: balancer.name }))
        if (targets.length > 0) return { found: true, targets }
        const looked = addresses.map(({ address, port }) => `${address}:${port}`).join(' or ')
        return { found: false, reason: `${looked} is none of the ${servers.length} servers of ${balancer.name}` }
      })
    },

    async inspect(targets, call) {
      if (level === 'G0')
        return new Map(
          targets.map(({ id }): [string, TargetObservation] => [id, { admin: 'unknown', routable: false, inFlight: null }]),
        )
      const { find } = await read('inspect', targets, call)
      return new Map(
        targets.map((target): [string, TargetObservation] => {
          const { here, moved } = find(target)
          if (here === undefined)
            return [target.id, { admin: 'absent', routable: false, inFlight: null, ...(moved ? { moved } : {}) }]
          const { admin, weight, routable, inFlight } = here
          const seen = admin === 'maint' ? 'out' : admin === 'drain' || weight === 0 ? 'draining' : 'in'
          return [target.id, { admin: seen, routable, weight, inFlight }]
        }),
      )
    },

    async snapshot(targets, call) {
      // G0 cannot be read: each target counts as in rotation, as configured.
      if (level === 'G0') return new Map(targets.map(({ id }) => [id, { prior: null, inRotation: true }]))
      const { find } = await read('snapshot', targets, call)
      return new Map(
        targets.map((target): [string, TargetSnapshot] => {
          const { here } = find(target)
          if (here === undefined) throw absent(target.id)
          const { admin, weight } = here
          return [target.id, { prior: { admin, weight, note: ODD_TEXT }, inRotation: admin === 'ready' && weight > 0, weight }]
        }),
      )
    },

    drain: (targets, call) =>
      effect(
        'drain',
        targets.map((target) => ({ target })),
        call,
      ),

    async restore(wanted, call) {
      const results = new Map<string, EffectResult>()
      const good: { target: Target; prior?: Prior }[] = []
      for (const { target, prior } of wanted) {
        if (level === 'G0') good.push({ target })
        else if (isPrior(prior)) good.push({ target, prior })
        else results.set(target.id, failed('fatal', 'the prior state is not one of this adapter'))
      }
      return good.length === 0 ? results : new Map([...results, ...(await effect('restore', good, call))])
    },

    entryOf: (target) => parse(target).name,

    close() {
      closed = true
      ended.reject(new WireError('the adapter was closed', { bytesLeft: true }))
      return Promise.resolve()
    },
  }
}

/** Splits a target ID, `NAME@ADDRESS:PORT`. An entry of this name with another address is not the target. */
function parse({ id }: Target): { name: string; address: string; port: number } {
  const [name = '', where = ''] = id.split('@')
  const [address = '', port] = where.split(':')
  return { name, address, port: Number(port) }
}

function isPrior(prior: Json): prior is { admin: Admin; weight: number } {
  return typeof prior === 'object' && prior !== null && 'admin' in prior && 'weight' in prior
}

function isThrottled(answer: unknown): answer is Throttled {
  return typeof answer === 'object' && answer !== null && 'throttledMs' in answer
}
