import { isDeepStrictEqual } from 'node:util'
import {
  type Adapter,
  type AdapterDefinition,
  AdapterError,
  type Call,
  type Capabilities,
  type EffectCall,
  type EffectResult,
  type GuaranteeLevel,
  type Json,
  type ListedEntry,
  type Target,
  type TargetObservation,
  type UnversionedDocument,
} from '../contract.ts'
import { parseAddress } from '../address.ts'
import { parseDuration } from '../../src/config/duration.ts'
import { excerpt } from '../credentials/one-line.ts'
import { SecretError } from '../credentials/secret.ts'
import { authorization } from '../http-client/authorization.ts'
import { createClient, withoutSlash } from '../http-client/client.ts'
import type { HttpRequest } from '../http-client/http-request.ts'
import { ExpressionError } from './expression.ts'
import { type HttpOptions, requestsOf } from './fields.ts'
import { keepPrior, readKept, wasTakenAway } from './kept-prior.ts'
import { httpOptions } from './options.ts'
import { createReader, type Absence, type Reading } from './reader.ts'
import { compileEffect } from './effect.ts'
import { headerMakers } from './request.ts'
import { createSession } from './session.ts'
import { entryOf, parseTarget } from './targets.ts'

export const http: AdapterDefinition<HttpOptions> = {
  name: 'http',
  summary: 'Any load balancer with a REST API, described in the config.',
  options: httpOptions,
  example: {
    url: 'http://127.0.0.1:9000',
    targets: { request: { path: '/servers' }, id: 'entry.name', address: 'entry.address' },
    inspect: { admin: 'entry.drained ? "draining" : "in"', prior: 'entry.drained' },
    drain: { method: 'PUT', path: '/servers/${target.id}', body: { drained: true } },
    restore: { method: 'PUT', path: '/servers/${target.id}', body: { drained: '${prior}' } },
  },
  document: documentOf,
  create: (options, { name }) => createHttpAdapter(options, `http ${name}`),
}

/** The document that the options write. One URL of an API has one document, as far as sluice can know. */
export function documentOf({ url, capabilities }: HttpOptions): UnversionedDocument | undefined {
  if (!capabilities.wholeDocument || capabilities.idempotency === 'cas') return undefined
  return { identity: withoutSlash(new URL(url).href) }
}

const LEVELS: Record<HttpOptions['capabilities']['idempotency'], GuaranteeLevel> = {
  'absolute-set': 'G1',
  'client-token': 'G2',
  cas: 'G3',
}

/** The default of the maximum duration of a job. */
const LONGEST_JOB = '30s'
/** The status for a change that the API does later. */
const ACCEPTED = 202

function milliseconds(text: string): number {
  const parsed = parseDuration(text)
  return parsed.ok ? parsed.ms : 0
}

/** The capabilities that the config claims. A capability that the config leaves out gets the cautious value. */
function capabilitiesOf({ inspect, drain, restore, capabilities }: HttpOptions): Capabilities {
  const { idempotency, volatileOnReload, disruptsOthers, settle, longestJob } = capabilities
  const expectsJob = [drain, restore].flatMap(requestsOf).some(({ expect }) => expect?.includes(ACCEPTED))
  const mayBeJob = inspect !== undefined && (longestJob !== undefined || expectsJob)
  return {
    guarantee: inspect === undefined ? 'G0' : LEVELS[idempotency],
    maxBatch: 1,
    inspect: inspect === undefined ? 'none' : capabilities.inspect,
    inFlight: inspect?.inFlight === undefined ? 'none' : capabilities.inFlight,
    volatileOnReload,
    disruptsOthers,
    settleMs: milliseconds(settle),
    ...(mayBeJob ? { longestJobMs: milliseconds(longestJob ?? LONGEST_JOB) } : {}),
  }
}

/** Makes the adapter. `component` starts each error message: adapter and load balancer, such as `http edge`. */
export function createHttpAdapter(options: HttpOptions, component: string): Adapter {
  const capabilities = capabilitiesOf(options)
  const { auth, allowPlainHttp, login } = options
  const authMakers = auth === undefined ? [] : [() => authorization(auth)]
  const context = {
    allowPlainHttp,
    hasLogin: login !== undefined,
    common: [...authMakers, ...headerMakers(options.headers ?? {}, 'nothing', 'headers')],
  }
  const client = createClient(component, { ...options, keepAlive: options.inspect !== undefined })
  const session = createSession({ component, client, options, context })
  const reader = createReader({ component, session, options, context })
  const drainRequest = compileEffect(options, 'drain', context)
  const restoreRequest = compileEffect(options, 'restore', context)

  function typed(error: unknown): AdapterError {
    if (error instanceof AdapterError) return error
    if (error instanceof ExpressionError || error instanceof SecretError) {
      return new AdapterError(component, 'fatal', error.message, { cause: error })
    }
    throw error
  }

  /**
   * Makes a failure before a restore retryable, because it may be temporary: an unexpected answer, or an empty secret file during its
   * update. The deadline of the restore ends the attempts.
   */
  function passing(error: AdapterError): AdapterError {
    const { kind, cause } = error
    if (kind !== 'fatal' || !(cause instanceof ExpressionError || cause instanceof SecretError)) return error
    return new AdapterError(component, 'retryable', cause.message, { cause })
  }

  async function reading<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw typed(error)
    }
  }

  /** Reads the target before an effect. Throws the error of the target. */
  async function readOne(target: Target, call: EffectCall): Promise<Reading> {
    const found = (await reader.read([target], call)).get(target.id)!
    if (found instanceof AdapterError) throw found
    if (found.admin === 'absent') throw absent(found)
    return found
  }

  function absent({ why }: Absence): AdapterError {
    return new AdapterError(component, 'not-found', why)
  }

  function maintenance({ id }: Target, what: string): AdapterError {
    return new AdapterError(component, 'conflict', `${id} is out by somebody else’s doing, which a ${what} would end`)
  }

  /**
   * Whether to send an effect. With versions, even an effect without a change is sent: it makes a new version, so that the load balancer
   * refuses an earlier call that arrives late.
   */
  function mustSend(isDone: boolean): boolean {
    return !isDone || options.capabilities.idempotency === 'cas'
  }

  /** Sends one effect. The write depends on the state that is read right before it. Both share the time of the call. */
  async function effect(
    effectOf: 'drain' | 'restore',
    { target, prior: kept }: { target: Target; prior?: Json },
    call: EffectCall,
    endsAt: number,
  ): Promise<EffectResult> {
    const { prior, wasOut } = readKept(kept)
    const takesOut = effectOf === 'drain' || wasTakenAway(prior)
    const left = (): EffectCall => ({ ...call, deadlineMs: endsAt - performance.now() })
    const values: Record<string, unknown> = {
      target: parseTarget(target),
      operation: { id: call.operationIds.get(target.id) ?? '', fence: BigInt(call.fence) },
      ...(prior === undefined ? {} : { prior }),
    }
    if (values['target'] === undefined) throw new AdapterError(component, 'fatal', `${target.id} is not an id of this adapter`)
    if (capabilities.inspect !== 'none') {
      const now = await readOne(target, left())
      const isPrior = isDeepStrictEqual(now.prior, prior)
      if (now.admin === 'out') {
        if (effectOf === 'restore' && isPrior && wasOut) return { outcome: 'applied' }
        throw maintenance(target, effectOf)
      }
      // An inspect.prior expression may give equal values in rotation, in a drain and in maintenance, so `admin` and `wasOut` decide.
      const isDone = takesOut ? now.admin === 'draining' : isPrior && now.admin === 'in' && !wasOut
      if (!mustSend(isDone) || (wasTakenAway(prior) && isDone)) return { outcome: 'applied' }
      // The values include the target, because the entry may have another name now.
      Object.assign(values, now.values)
    }
    const request = (takesOut ? drainRequest : restoreFor)(values)
    const answer = await session.send(request, left(), { isWrite: true })
    // Without reads, the answer is the only information, so the effect counts as applied.
    if (answer.status !== ACCEPTED || capabilities.inspect === 'none') return { outcome: 'applied' }
    return { outcome: 'pending', job: excerpt(answer.headers['location'] ?? 'answered 202', request.secrets) }
  }

  /** Builds the request of a restore. The error tells the solution if an older config recorded a prior state of another shape. */
  function restoreFor(values: Record<string, unknown>): HttpRequest {
    try {
      return restoreRequest(values)
    } catch (error) {
      const { prior } = values
      if (!(error instanceof ExpressionError) || !error.message.includes('No such key') || prior === undefined) throw error
      const shape =
        typeof prior === 'object' && prior !== null ? `a map (${Object.keys(prior).join(', ')})` : JSON.stringify(prior)
      const way = `the recorded prior is ${shape}; write an expression that fits it too, such as prior.?field.orValue("…")`
      throw new ExpressionError(`${error.message}; ${way}`, { cause: error })
    }
  }

  /** The problem of the drain or the restore of a target in its current state. Builds the requests and sends none. */
  function rehearseOne(values: Record<string, unknown>, kept: Json): AdapterError | undefined {
    const { prior } = readKept(kept)
    try {
      drainRequest(values)
      if (!wasTakenAway(prior)) restoreFor({ ...values, prior })
      return undefined
    } catch (error) {
      return typed(error)
    }
  }

  /** Sends the effects in order, because a load balancer takes one write at a time. */
  async function effects(
    effectOf: 'drain' | 'restore',
    wanted: readonly { target: Target; prior?: Json }[],
    call: EffectCall,
  ): Promise<Map<string, EffectResult>> {
    const results = new Map<string, EffectResult>()
    const endsAt = performance.now() + call.deadlineMs
    for (const one of wanted) {
      try {
        results.set(one.target.id, await effect(effectOf, one, call, endsAt))
      } catch (error) {
        const failure = effectOf === 'restore' ? passing(typed(error)) : typed(error)
        results.set(one.target.id, { outcome: 'failed', error: failure })
      }
    }
    return results
  }

  /** Lists the entries. Reads their state only if the list includes it, not with a request for each entry. */
  async function listEntries(call: Call): Promise<ListedEntry[]> {
    const listed = await reader.entries(call)
    const targets = listed.map(({ target }) => target)
    const isInList = options.inspect !== undefined && options.inspect.request === undefined
    const readings = isInList ? await reader.read(targets, call) : undefined
    return listed.map(({ target: { id }, address }) => {
      const now = readings?.get(id)
      const isRead = now !== undefined && !(now instanceof AdapterError) && now.admin !== 'absent'
      return { id, ...parseAddress(address)!, ...(isRead ? { admin: now.admin } : {}) }
    })
  }

  function observe(found: Reading | Absence | AdapterError): TargetObservation {
    if (found instanceof AdapterError) return { admin: 'unknown', routable: false, inFlight: null, detail: found.message }
    if (found.admin === 'absent') {
      return { admin: 'absent', moved: found.moved, routable: found.isServed ?? false, inFlight: null, detail: found.why }
    }
    const { admin, routable, weight, inFlight, name } = found
    const words = [
      admin,
      ...(weight === undefined ? [] : [`weight ${weight}`]),
      ...(admin === 'in' && !routable ? ['not healthy'] : []),
    ]
    return {
      admin,
      routable,
      ...(weight === undefined ? {} : { weight }),
      inFlight,
      detail: `${name}: ${words.join(', ')}`,
    }
  }

  return {
    capabilities,

    resolve: (endpoints, call) => reading(() => reader.resolve(endpoints, call)),

    async inspect(targets, call) {
      if (capabilities.inspect === 'none') {
        return new Map(targets.map(({ id }) => [id, { admin: 'unknown', routable: false, inFlight: null }]))
      }
      const found = await reading(() => reader.read(targets, call))
      // An observation cannot carry the time to wait, so the error is thrown.
      for (const one of found.values()) if (one instanceof AdapterError && one.kind === 'throttled') throw one
      return new Map([...found].map(([id, one]) => [id, observe(one)]))
    },

    async snapshot(targets, call) {
      // Without reads, the target counts as in rotation with its configured state.
      if (capabilities.inspect === 'none') return new Map(targets.map(({ id }) => [id, { prior: null, inRotation: true }]))
      const found = await reading(() => reader.read(targets, call))
      return new Map(
        [...found].map(([id, one]) => {
          if (one instanceof AdapterError) throw one
          if (one.admin === 'absent') throw absent(one)
          const { prior, admin, weight } = one
          const kept = keepPrior(prior, admin === 'out')
          return [id, { prior: kept, inRotation: admin === 'in', ...(weight === undefined ? {} : { weight }) }]
        }),
      )
    },

    async rehearse(wanted, call) {
      const operation = { id: 'rehearsal', fence: 0n }
      const targets = wanted.map(({ target }) => target)
      const isBlind = capabilities.inspect === 'none'
      const readings = isBlind ? undefined : await reading(() => reader.read(targets, call))
      const wrong = new Map<string, AdapterError>()
      for (const { target, prior } of wanted) {
        const now = readings?.get(target.id)
        // A target that cannot be read or is gone gives no information about its requests.
        if (!isBlind && (now === undefined || now instanceof AdapterError || now.admin === 'absent')) continue
        const read = now !== undefined && 'values' in now ? now.values : { target: parseTarget(target) }
        const error = rehearseOne({ ...read, operation }, prior)
        if (error !== undefined) wrong.set(target.id, error)
      }
      return wrong
    },

    drain: (targets, call) =>
      effects(
        'drain',
        targets.map((target) => ({ target })),
        call,
      ),

    restore: (wanted, call) => effects('restore', wanted, call),

    ...(options.targets.request && { entries: (call: Call) => reading(() => listEntries(call)) }),

    entryOf: ({ id }) => entryOf(id),

    close() {
      client.close()
      return Promise.resolve()
    },
  }
}
