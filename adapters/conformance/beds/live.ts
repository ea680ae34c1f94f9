/**
 * A bed of a load balancer with real traffic. The bed reads and changes it only through the adapter, so it trusts the reads of the adapter.
 * The bed drains only expendable targets.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Adapter, AdapterError, type Address, type Endpoint, type Target, type TargetSnapshot } from '../../contract.ts'
import { formatAddress } from '../../address.ts'
import type { MakePartialBed, PartialBed } from '../bed.ts'
import { effectCall, pause } from '../steps.ts'
import { startRestProxy } from './rest-proxy.ts'

/** The time limit from the first attempt to put a target back until it is in its former state. */
const PUT_BACK_WITHIN_MS = 20_000
const BETWEEN_TRIES_MS = 1_000

export interface LiveOptions {
  /** Servers behind the load balancer that the bed only reads. */
  targets: readonly Address[]
  /** Servers behind the load balancer that the bed may drain. */
  expendable: readonly Address[]
  /** Makes an adapter: with the URL of the load balancer itself, or with the URL of the proxy that breaks connections. */
  create(apiUrl?: string): Adapter
  /** The plain HTTP URL of the API, if the bed may break connections to it. */
  breakable?: string
  /** After this signal aborts, the bed sends only calls that put targets back. */
  stopping: AbortSignal
}

/** A target in its state before the first case. */
export interface Before {
  /** The address as `ADDRESS:PORT`. */
  address: string
  target: Target
  snapshot: TargetSnapshot
}

/** A target that is not in its former state. */
export interface Left extends Before {
  /** The reason, or the current state. */
  message: string
}

export interface LiveLoadBalancer {
  makeBed: MakePartialBed
  before: readonly Before[]
  /** Puts all expendable targets back into their former state. Gives the targets that are not. */
  putBack(): Promise<Left[]>
}

/** The reason why a load balancer cannot be tested with these targets. Nothing was changed. */
export class LiveError extends Error {
  override readonly name = 'LiveError'
  readonly component = 'conformance'
}

class Stopped extends Error {
  override readonly name = 'Stopped'
  constructor() {
    super('the test was ended')
  }
}

/** @throws LiveError, and the error of the adapter if it cannot read */
export async function openLive({ targets, expendable, create, breakable, stopping }: LiveOptions): Promise<LiveLoadBalancer> {
  const before = await withAdapter(create, (adapter) => readBefore(adapter, targets, expendable))
  const allowed = new Set(before.map(({ target }) => target.id))
  let turn = 0

  /** Refuses to change a target that is not expendable, because a case or the adapter may have a bug. */
  function guarded(adapter: Adapter): Adapter {
    function assertMay(some: readonly Target[]): void {
      const other = some.find(({ id }) => !allowed.has(id))
      if (other !== undefined) throw new Error(`${other.id} is not expendable`)
    }
    const own: Partial<Adapter> = {
      async drain(some, call) {
        assertMay(some)
        return adapter.drain(some, call)
      },
      async restore(some, call) {
        assertMay(some.map(({ target }) => target))
        return adapter.restore(some, call)
      },
    }
    // The proxy keeps the methods of a class instance, which a spread would lose.
    return new Proxy(adapter, {
      get(_, key) {
        if (stopping.aborted && key !== 'close' && key !== 'capabilities') throw new Stopped()
        const member: unknown = Reflect.get(own, key) ?? Reflect.get(adapter, key)
        return typeof member === 'function' ? member.bind(key in own ? own : adapter) : member
      },
    })
  }

  async function makeBed(): Promise<PartialBed> {
    if (stopping.aborted) throw new Stopped()
    const wire = breakable === undefined ? undefined : await startRestProxy(breakable)
    const adapters: Adapter[] = []
    const adapter = (apiUrl?: string): Adapter => {
      const made = create(apiUrl)
      adapters.push(made)
      return guarded(made)
    }
    const own = adapter()
    // The cases drain the first endpoint. Each bed begins with another expendable one.
    const endpoints = [...turned(expendable, turn++), ...targets].map(endpointOf)
    const find = ({ address, port }: Endpoint): Before => before.find((one) => one.address === formatAddress({ address, port }))!
    return {
      adapter: () => adapter(wire?.url),
      endpoints,
      oracle: {
        async admin(endpoint) {
          const [resolution] = await own.resolve([endpoint], effectCall([]))
          if (resolution?.found !== true) throw new Error(resolution?.reason ?? 'resolve gives nothing')
          const [target] = resolution.targets
          const admin = (await own.inspect([target!], effectCall([]))).get(target!.id)?.admin
          if (admin === 'in' || admin === 'draining' || admin === 'out') return admin
          throw new Error(`${target!.id} is ${admin}`)
        },
      },
      operator: {
        async drain(endpoint) {
          const { target } = find(endpoint)
          await own.drain([target], effectCall([target]))
        },
        async ready(endpoint) {
          const { target, snapshot } = find(endpoint)
          await own.restore([{ target, prior: snapshot.prior }], effectCall([target]))
        },
      },
      ...(wire === undefined ? {} : { wire }),
      readOnly: before.length === 0,
      fencing: false,
      async close() {
        await Promise.all(adapters.map((one) => one.close()))
        wire?.close()
      },
    }
  }

  return {
    makeBed,
    before,
    putBack: async () => {
      const left = await Promise.all(before.map((one) => putBackOne(create, one)))
      return left.filter((one) => one !== undefined)
    },
  }
}

function endpointOf({ address, port }: Address): Endpoint {
  const name = formatAddress({ address, port })
  return { uid: name, pod: name, address, port }
}

function turned<Item>(items: readonly Item[], by: number): Item[] {
  const at = items.length === 0 ? 0 : by % items.length
  return [...items.slice(at), ...items.slice(0, at)]
}

async function withAdapter<Value>(create: () => Adapter, use: (adapter: Adapter) => Promise<Value>): Promise<Value> {
  const adapter = create()
  try {
    return await use(adapter)
  } finally {
    await adapter.close()
  }
}

async function readBefore(adapter: Adapter, targets: readonly Address[], expendable: readonly Address[]): Promise<Before[]> {
  const all = [...expendable, ...targets].map(endpointOf)
  if (all.length === 0) return []
  const found = (await adapter.resolve(all, effectCall([]))).map((resolution, index) => {
    const address = all[index]!.pod
    if (!resolution.found) throw new LiveError(`${address} is not behind this load balancer: ${resolution.reason}`)
    const [target, ...others] = resolution.targets
    if (others.length > 0) {
      const ids = resolution.targets.map(({ id }) => id).join(', ')
      throw new LiveError(`${address} has ${resolution.targets.length} entries (${ids}), and the cases are about one`)
    }
    return { address, target: target! }
  })
  const some = found.slice(0, expendable.length)
  if (some.length === 0) return []
  const snapshots = await adapter.snapshot(
    some.map(({ target }) => target),
    effectCall([]),
  )
  return some.map(({ address, target }) => {
    const snapshot = snapshots.get(target.id)
    if (snapshot === undefined) throw new LiveError(`the adapter gives no snapshot of ${address}`)
    if (!snapshot.inRotation) throw new LiveError(`${address} is not in rotation: a drain of it would show nothing`)
    return { address, target, snapshot }
  })
}

async function putBackOne(create: () => Adapter, before: Before): Promise<Left | undefined> {
  const giveUpAt = performance.now() + PUT_BACK_WITHIN_MS
  for (;;) {
    const problem = await tryToPutBack(create, before).catch((error: unknown) => error as Error)
    if (problem === undefined) return undefined
    const isHopeless = problem instanceof AdapterError && problem.kind === 'fatal'
    if (isHopeless || performance.now() > giveUpAt) return { ...before, message: problem.message }
    await pause(BETWEEN_TRIES_MS)
  }
}

/** Gives the reason why the target is not in its former state. Undefined if it is. */
function tryToPutBack(create: () => Adapter, { target, snapshot: { prior } }: Before): Promise<Error | undefined> {
  return withAdapter(create, async (adapter) => {
    const isAsBefore = async (): Promise<boolean> =>
      isDeepStrictEqual((await adapter.snapshot([target], effectCall([]))).get(target.id)?.prior, prior)
    if (await isAsBefore()) return undefined
    const result = (await adapter.restore([{ target, prior }], effectCall([target]))).get(target.id)
    if (result?.outcome === 'failed') return result.error
    if (adapter.capabilities.inspect === 'eventual') await pause(adapter.capabilities.settleMs)
    if (await isAsBefore()) return undefined
    const { detail } = (await adapter.inspect([target], effectCall([]))).get(target.id) ?? {}
    return new Error(detail ?? 'the restore has not put it back')
  })
}
