/**
 * An adapter of little code, for a load balancer that can be set and read back: its author says what entries there are, and how
 * some of them are drained and restored. All else of the contract follows from the list.
 */
import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { formatAddress, parseAddress } from './address.ts'
import { entriesProblem, type Entry, resultKey } from './entry.ts'
import { assertCapabilities, assertCode } from './check-definition.ts'
import {
  type Adapter,
  type AdapterContext,
  type AdapterDefinition,
  AdapterError,
  addressesOf,
  type Call,
  type Capabilities,
  CONTRACT_VERSION,
  type EffectCall,
  type EffectResult,
  type Endpoint,
  type Json,
  type ProductServer,
  type Resolution,
  type Target,
  type TargetObservation,
  type TargetSnapshot,
} from './contract.ts'

export { type Entry, resultKey } from './entry.ts'

/** An entry with what it was before it was drained. */
export interface Former {
  entry: Entry
  state: Entry['state']
  prior: Json
}

/** The signal is aborted when the call has lived too long, and when the adapter is closed. */
export type ListCall = Call & {
  signal: AbortSignal
  /** Those that are asked for; absent: all. A list may have others. */
  scopes?: readonly string[]
  /**
   * A restore rests on this list. It goes on without an instance that cannot be asked how it has taken what was written before: what
   * such an instance may not have loaded is an entry that is not as it `becomes`.
   */
  beforeRestore?: true
}
/** An entry that was there, by its target. */
export type GoneEntry = Pick<Entry, 'name' | 'scope' | 'address' | 'port'>
export type ChangeCall = EffectCall & {
  signal: AbortSignal
  /** The id of the operation on this entry: the same for every try of the same change, whoever tries. */
  operationOf(entry: Entry): string
}

/** The results of a change by the entry's name and scope: see `resultKey`. Absent: all of them are done. */
export type ChangeResults = ReadonlyMap<string, EffectResult>

export interface LoadBalancerCalls {
  /** All scopes that the options name, where they can name others: a pod that was drained in another one is refused. */
  scopes?: readonly string[]
  /** All entries, read now. An error that is no AdapterError, or `ambiguous`, counts as `retryable`. */
  list(call: ListCall): Promise<readonly Entry[]>
  /**
   * For a load balancer whose drain takes the entry away. Asked, right after the list, for entries that are not in it: gives those that
   * it says itself that it does not have, as `draining`.
   */
  missing?(gone: readonly GoneEntry[], call: ListCall): Promise<readonly Entry[]>
  /**
   * Takes these out, of one scope, and at most `maxBatch` of them. None is out already, and none is in maintenance. `call.assertLive` is
   * to be asked right before the bytes leave. An error that is no AdapterError counts as `ambiguous`.
   */
  drain(entries: readonly Entry[], call: ChangeCall): Promise<ChangeResults | void>
  /** Puts these back as they were. The same holds as for `drain`. */
  restore(formers: readonly Former[], call: ChangeCall): Promise<ChangeResults | void>
  close?(): Promise<void> | void
}

type MustSay = 'inFlight' | 'settleMs' | 'volatileOnReload'
/** Nobody knows these but the author. The others have a default: G1, one target a call, read back at once, no jobs. */
export type DefinedCapabilities = Pick<Capabilities, MustSay> & Partial<Omit<Capabilities, MustSay>>

export interface AdapterCode<Options> {
  name: string
  /** One sentence for lists. */
  summary: string
  /** Unknown keys must be refused (`z.strictObject`). */
  options: z.ZodType<Options>
  capabilities: DefinedCapabilities | ((options: Options) => DefinedCapabilities)
  /** As in AdapterDefinition. */
  prepare?(options: Options, context: AdapterContext): void
  /** Opens no connection yet. `component` begins each error: adapter and load balancer, such as `nginx edge`. */
  open(options: Options, context: OpenContext): LoadBalancerCalls
  /** See AdapterDefinition. */
  serve?(options: Options, context: OpenContext): ProductServer
}

export type OpenContext = Required<AdapterContext> & { component: string }

/** Node's timers know no longer one. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

const DEFAULTS: Omit<Capabilities, MustSay> = { guarantee: 'G1', maxBatch: 1, inspect: 'strong', disruptsOthers: false }

export function defineAdapter<Options>(code: AdapterCode<Options>): AdapterDefinition<Options> {
  assertCode(code)
  const { name: kind, summary, options: schema, capabilities, prepare, open, serve } = code
  const contextOf = ({ name, folder = process.cwd() }: AdapterContext): OpenContext => ({
    name,
    folder,
    component: `${kind} ${name}`,
  })
  return {
    name: kind,
    summary,
    options: schema,
    contract: CONTRACT_VERSION,
    ...(prepare && { prepare }),
    create(options, context) {
      const opened = contextOf(context)
      const said = typeof capabilities === 'function' ? capabilities(options) : capabilities
      assertCapabilities(kind, said)
      return createAdapter(opened.component, { ...DEFAULTS, ...said }, open(options, opened))
    },
    ...(serve && { serve: (options, context) => serve(options, contextOf(context)) }),
  }
}

/** Kept in the journal. */
interface Kept {
  state: Entry['state']
  prior: Json
}

/** The name and the address of an entry, by which its target finds it. */
interface Key {
  name: string
  address: string
}

function createAdapter(component: string, capabilities: Capabilities, calls: LoadBalancerCalls): Adapter {
  const closing = new AbortController()

  const failed = (kind: AdapterError['kind'], message: string, cause?: unknown): AdapterError =>
    new AdapterError(component, kind, message, { cause })

  /** The work of one call, until its end of life or that of the adapter: what it does after that is no answer any more. */
  async function withinLife<Value>(
    { deadlineMs }: Call,
    kind: 'retryable' | 'ambiguous',
    work: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value> {
    if (closing.signal.aborted) throw failed('retryable', 'the adapter is closed')
    const late = AbortSignal.timeout(Math.min(Math.max(0, Math.ceil(deadlineMs)), LONGEST_TIMER_MS))
    const signal = AbortSignal.any([late, closing.signal])
    const { promise: over, reject } = Promise.withResolvers<never>()
    const end = (): void =>
      reject(failed(kind, late.aborted ? `no answer within ${Math.round(deadlineMs)} ms` : 'the adapter was closed'))
    signal.addEventListener('abort', end)
    try {
      return await Promise.race([over, work(signal)])
    } finally {
      signal.removeEventListener('abort', end)
    }
  }

  /** All entries, or those of the scopes of some targets. */
  async function list(
    call: Call,
    targets?: readonly Target[],
    how: Pick<ListCall, 'beforeRestore'> = {},
  ): Promise<readonly Entry[]> {
    const liveness = watched(call)
    try {
      const scopes = targets && { scopes: [...new Set(targets.map(({ scope }) => scope))] }
      const sending = { ...call, assertLive: liveness.assertLive, ...scopes, ...how }
      const entries: unknown = await withinLife(call, 'retryable', async (signal) => {
        const listed = checked(await calls.list({ ...sending, signal }))
        const gone = (targets ?? []).flatMap((target) => goneOf(listed, target))
        if (calls.missing === undefined || gone.length === 0) return listed
        return checked([...listed, ...(await calls.missing(gone, { ...sending, signal }))])
      })
      return entries as readonly Entry[]
    } catch (error) {
      liveness.rethrow()
      // Nothing has changed by a read, whatever became of it.
      const isKnown = error instanceof AdapterError && error.kind !== 'ambiguous'
      throw isKnown ? error : failed('retryable', error instanceof AdapterError ? bare(error) : messageOf(error), error)
    }
  }

  function checked(entries: unknown): readonly Entry[] {
    const problem = entriesProblem(entries)
    if (problem !== undefined) throw failed('fatal', `list of the adapter gives what is no entry: ${problem}`)
    return entries as readonly Entry[]
  }

  /** As what to ask for a target that is not in the list, under whatever address. */
  function goneOf(entries: readonly Entry[], target: Target): GoneEntry[] {
    const key = keyOf(target)
    const found = find(entries, target)
    if (key === undefined || !('missing' in found) || found.moved) return []
    const scope = target.scope === component ? {} : { scope: target.scope }
    return [{ name: key.name, ...scope, ...parseAddress(key.address)! }]
  }

  /** Without the component, which begins the message already. */
  function bare({ message }: AdapterError): string {
    return message.startsWith(`${component}: `) ? message.slice(component.length + 2) : message
  }

  function idOf(entry: Entry): string {
    const address = formatAddress(entry)
    return entry.name === address ? address : `${entry.name}@${address}`
  }

  function keyOf({ id }: Target): Key | undefined {
    const at = id.lastIndexOf('@')
    const parsed = parseAddress(id.slice(at + 1))
    if (at === 0 || parsed === undefined) return undefined
    const address = formatAddress(parsed)
    return { name: at === -1 ? address : id.slice(0, at), address }
  }

  /** Its entry, or why there is none: an entry that has another address by now is another pod's. */
  function find(entries: readonly Entry[], target: Target): Entry | { missing: string; moved: boolean } {
    const key = keyOf(target)
    const named = entries.filter(({ name, scope = component }) => name === key?.name && scope === target.scope)
    const found = named.find((entry) => formatAddress(entry) === key?.address)
    if (found !== undefined) return found
    const [moved] = named
    if (moved === undefined) return { missing: `there is no entry ${target.id}`, moved: false }
    return { missing: `${moved.name} has the address ${formatAddress(moved)} now, not ${key?.address}`, moved: true }
  }

  function resolve(entries: readonly Entry[], endpoint: Endpoint): Resolution {
    const addresses = addressesOf(endpoint).map(formatAddress)
    const own = entries.filter((entry) => addresses.includes(formatAddress(entry)))
    if (own.length > 0)
      return { found: true, targets: own.map((entry) => ({ id: idOf(entry), scope: entry.scope ?? component })) }
    return { found: false, reason: `none of the ${entries.length} entries has the address ${addresses.join(' or ')}` }
  }

  function observe(found: ReturnType<typeof find>): TargetObservation {
    if ('missing' in found) return { admin: 'absent', moved: found.moved, routable: false, inFlight: null, detail: found.missing }
    const { name, state, weight, inFlight = null, emptying = false, routable = true, detail } = found
    const words = [
      state,
      ...(weight === undefined ? [] : [`weight ${weight}`]),
      ...(routable ? [] : ['not routable']),
      ...(emptying ? ['not empty yet'] : []),
    ]
    return {
      admin: isIn(found) ? 'in' : state === 'out' ? 'out' : 'draining',
      routable: routable && isIn(found),
      inFlight,
      ...(emptying && state === 'draining' ? { isEmptying: true } : {}),
      ...(weight === undefined ? {} : { weight }),
      detail: detail ?? `${name}: ${words.join(', ')}`,
    }
  }

  async function change(
    wanted: readonly { target: Target; former?: Kept }[],
    call: EffectCall,
    send: (some: Former[], call: ChangeCall) => Promise<ChangeResults | void>,
    how?: Pick<ListCall, 'beforeRestore'>,
  ): Promise<Map<string, EffectResult>> {
    const endsAt = performance.now() + call.deadlineMs
    const entries = await list(
      call,
      wanted.map(({ target }) => target),
      how,
    )
    const results = new Map<string, EffectResult>()
    const some: Former[] = []
    const ids = new Map<string, string>()
    for (const { target, former } of wanted) {
      const entry = find(entries, target)
      if ('missing' in entry) {
        results.set(target.id, { outcome: 'failed', error: failed('not-found', entry.missing) })
        continue
      }
      const to = former ?? { state: 'draining', prior: null }
      const isDone =
        isLoaded(entry) && (former === undefined ? entry.state === 'draining' : isDeepStrictEqual(keptOf(entry), former))
      if (isDone) results.set(target.id, { outcome: 'applied' })
      else if (entry.state === 'out') results.set(target.id, { outcome: 'failed', error: inMaintenance(entry) })
      else {
        some.push({ entry, state: to.state, prior: to.prior })
        ids.set(resultKey(entry), target.id)
      }
    }
    if (some.length === 0) return results
    const said = await sent({ ...call, deadlineMs: endsAt - performance.now() }, some, send)
    for (const [key, id] of ids) results.set(id, said?.get(key) ?? { outcome: 'applied' })
    return results
  }

  /** All that is no AdapterError may have been done. */
  async function sent(
    call: EffectCall,
    some: Former[],
    send: (some: Former[], call: ChangeCall) => Promise<ChangeResults | void>,
  ): Promise<ChangeResults | undefined> {
    const { assertLive, rethrow } = watched(call)
    const operationOf = (entry: Entry): string => call.operationIds.get(idOf(entry)) ?? ''
    assertLive()
    try {
      const said: unknown = await withinLife(call, 'ambiguous', (signal) =>
        send(some, { ...call, assertLive, signal, operationOf }),
      )
      return resultsFor(some, said ?? undefined)
    } catch (error) {
      rethrow()
      throw error instanceof AdapterError ? error : failed(isUnsent(error) ? 'retryable' : 'ambiguous', messageOf(error), error)
    }
  }

  /** An answer that is not about each entry, and about no other, says nothing of any. */
  function resultsFor(some: readonly Former[], said: unknown): ChangeResults | undefined {
    if (said === undefined) return undefined
    const asked = some.map(({ entry }) => resultKey(entry))
    const isRight = said instanceof Map && said.size === asked.length && asked.every((key) => said.has(key))
    if (isRight) return said as ChangeResults
    throw failed(
      'ambiguous',
      'the adapter gives results that are not those of the entries: give each by its resultKey, or nothing',
    )
  }

  function inMaintenance({ name }: Entry): AdapterError {
    return failed('conflict', `${name} is out by somebody else's doing, which neither a drain nor a restore ends`)
  }

  return {
    capabilities,
    async resolve(endpoints, call) {
      const entries = await list(call)
      return endpoints.map((endpoint) => resolve(entries, endpoint))
    },
    async inspect(targets, call) {
      const entries = await list(call, targets)
      return new Map(targets.map((target) => [target.id, observe(find(entries, target))]))
    },
    async snapshot(targets, call) {
      const entries = await list(call, targets)
      return new Map(
        targets.map((target): [string, TargetSnapshot] => {
          const found = find(entries, target)
          if ('missing' in found) throw failed('not-found', found.missing)
          const { weight } = found
          const kept = keptOf(found) as unknown as Json
          return [target.id, { prior: kept, inRotation: isIn(found), ...(weight === undefined ? {} : { weight }) }]
        }),
      )
    },
    drain: (targets, call) =>
      change(
        targets.map((target) => ({ target })),
        call,
        (some, sending) =>
          calls.drain(
            some.map(({ entry }) => entry),
            sending,
          ),
      ),
    async restore(wanted, call) {
      const unknown = wanted.filter(({ prior }) => !isKept(prior))
      const known = wanted.flatMap(({ target, prior }) => (isKept(prior) ? [{ target, former: prior }] : []))
      const results = await change(known, call, (some, sending) => calls.restore(some, sending), { beforeRestore: true })
      for (const { target } of unknown)
        results.set(target.id, {
          outcome: 'failed',
          error: failed('fatal', `the prior state of ${target.id} is none of this adapter`),
        })
      return results
    },
    ...(calls.scopes === undefined ? {} : { reaches: ({ scope }: Target) => calls.scopes!.includes(scope) }),
    entryOf: (target) => keyOf(target)?.name ?? target.id,
    async close() {
      closing.abort()
      await calls.close?.()
    },
  }
}

/** What the caller's own check throws goes out as it is, whatever the adapter makes of it. */
function watched(call: Call): { assertLive(): void; rethrow(): void } {
  let halt: { error: unknown } | undefined
  return {
    assertLive() {
      try {
        call.assertLive()
      } catch (error) {
        halt = { error }
        throw error
      }
    },
    rethrow() {
      if (halt !== undefined) throw halt.error
    },
  }
}

function isLoaded({ state, becomes = state }: Entry): boolean {
  return state === becomes
}

function isIn({ state, weight }: Entry): boolean {
  return state === 'in' && weight !== 0
}

function keptOf({ state, prior, weight }: Entry): Kept {
  return { state, prior: prior === undefined ? (weight ?? null) : prior }
}

function isKept(prior: Json): prior is { state: Entry['state']; prior: Json } {
  if (typeof prior !== 'object' || prior === null || Array.isArray(prior)) return false
  const { state, prior: former } = prior
  return (state === 'in' || state === 'draining' || state === 'out') && former !== undefined
}

/** Where a connection is made, by the names of the system. */
const CONNECTING = new Set(['connect', 'getaddrinfo'])

/** No byte has left: by the error, or by what caused it, no connection was made. */
export function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, syscall = '' } = error as NodeJS.ErrnoException
  return code === 'UND_ERR_CONNECT_TIMEOUT' || CONNECTING.has(syscall) || isUnsent(error.cause)
}

/** With its cause: `fetch failed` alone says nothing. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${messageOf(error.cause)}` : error.message
}
