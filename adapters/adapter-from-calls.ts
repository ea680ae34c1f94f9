/** Makes an adapter from the calls of a load balancer. Each member of the adapter reads the list of entries first. */
import { isDeepStrictEqual } from 'node:util'
import {
  type Adapter,
  AdapterError,
  type Call,
  type Capabilities,
  type EffectCall,
  type EffectResult,
  type Json,
  type Target,
  type TargetSnapshot,
} from './contract.ts'
import { entriesProblem, type Entry, resultKey } from './entry.ts'
import type { ChangeCall, ChangeResults, Former, ListCall, LoadBalancerCalls } from './load-balancer-calls.ts'
import {
  findEntry,
  goneEntries,
  idOf,
  isIn,
  isKept,
  isLoaded,
  type Kept,
  keptOf,
  keyOf,
  observe,
  resolveEndpoint,
} from './target-entry.ts'
import { isUnsent } from './unsent.ts'

/** The maximum delay of a timer in Node. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** `component` starts each error message. It is also the scope of an entry without a scope. */
export function adapterFromCalls(component: string, capabilities: Capabilities, calls: LoadBalancerCalls): Adapter {
  const closing = new AbortController()

  const failed = (kind: AdapterError['kind'], message: string, cause?: unknown): AdapterError =>
    new AdapterError(component, kind, message, { cause })

  /** Runs one call until its deadline or until the adapter closes. A later result does not count. */
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

  /** Reads all entries, or the entries in the scopes of some targets. */
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
        const gone = (targets ?? []).flatMap((target) => goneEntries(listed, target, component))
        if (calls.missing === undefined || gone.length === 0) return listed
        return checked([...listed, ...(await calls.missing(gone, { ...sending, signal }))])
      })
      return entries as readonly Entry[]
    } catch (error) {
      liveness.rethrow()
      // A read changes nothing, so its outcome is never ambiguous.
      const isKnown = error instanceof AdapterError && error.kind !== 'ambiguous'
      throw isKnown ? error : failed('retryable', error instanceof AdapterError ? bare(error) : messageOf(error), error)
    }
  }

  function checked(entries: unknown): readonly Entry[] {
    const problem = entriesProblem(entries)
    if (problem !== undefined) throw failed('fatal', `list of the adapter gives what is no entry: ${problem}`)
    return entries as readonly Entry[]
  }

  /** The message without the component, which starts the new message already. */
  function bare({ message }: AdapterError): string {
    return message.startsWith(`${component}: `) ? message.slice(component.length + 2) : message
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
      const entry = findEntry(entries, target, component)
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

  /** Sends a change. Any error that is not an AdapterError leaves the outcome in doubt. */
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

  /** Checks that the results are exactly those of the entries. Any other set of results proves nothing. */
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
      return endpoints.map((endpoint) => resolveEndpoint(entries, endpoint, component))
    },
    async inspect(targets, call) {
      const entries = await list(call, targets)
      return new Map(targets.map((target) => [target.id, observe(findEntry(entries, target, component))]))
    },
    async snapshot(targets, call) {
      const entries = await list(call, targets)
      return new Map(
        targets.map((target): [string, TargetSnapshot] => {
          const found = findEntry(entries, target, component)
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
    ...(calls.healthChecks && {
      healthChecks: (call: Call) => withinLife(call, 'retryable', (signal) => calls.healthChecks!({ ...call, signal })),
    }),
    async entries(call) {
      const all = await list(call)
      return all.map((entry) => ({
        id: idOf(entry),
        address: entry.address,
        port: entry.port,
        admin: isIn(entry) ? 'in' : entry.state === 'out' ? 'out' : 'draining',
      }))
    },
    ...(calls.scopes === undefined ? {} : { reaches: ({ scope }: Target) => calls.scopes!.includes(scope) }),
    entryOf: (target) => keyOf(target)?.name ?? target.id,
    async close() {
      closing.abort()
      await calls.close?.()
    },
  }
}

/** Passes an error of the caller's own check on unchanged, even if the adapter wraps it. */
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

/** The message with its causes, because `fetch failed` alone does not help the operator. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${messageOf(error.cause)}` : error.message
}
