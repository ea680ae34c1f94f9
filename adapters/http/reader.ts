/** Reads the entries of a load balancer, and evaluates the expressions of the config on them. */
import { AdapterError, addressesOf, type Call, type Endpoint, type Json, type Resolution, type Target } from '../contract.ts'
import { createEchoes } from '../credentials/blot-out.ts'
import { excerpt } from '../credentials/one-line.ts'
import { MissingError, parseJson } from '../http-client/answer.ts'
import type { HttpRequest } from '../http-client/http-request.ts'
import { compile, compileValue, type Expression, ExpressionError, type Place } from './expression.ts'
import type { HttpOptions } from './fields.ts'
import { nextPageSign } from './next-page.ts'
import { compileRequest, type MakeRequest, type RequestContext } from './request.ts'
import { TAKEN_AWAY } from './kept-prior.ts'
import type { Session } from './session.ts'
import { formatAddress, parseAddress } from '../address.ts'
import { formatTargetId, isShared, parseTarget, sharedTargetId, type TargetValue } from './targets.ts'

/** The current state of one target. */
export interface Reading {
  admin: 'in' | 'draining' | 'out'
  routable: boolean
  weight?: number
  inFlight: number | null
  prior: Json
  /** The current name of the entry. */
  name: string
  /** The variables of templates. */
  values: Record<string, unknown>
}

/** The entry of a target is gone, or has another address now. */
export interface Absence {
  admin: 'absent'
  moved: boolean
  /** With `moved`: another entry has the address of the target, so the pod may get requests. */
  isServed?: true
  why: string
}

/** The readings by target id. An error concerns only its own target. */
export type Readings = Map<string, Reading | Absence | AdapterError>

export interface Reader {
  resolve(endpoints: readonly Endpoint[], call: Call): Promise<Resolution[]>
  /** All readable entries of the list. Only for options with a list. */
  entries(call: Call): Promise<{ target: Target; address: string }[]>
  read(targets: readonly Target[], call: Call): Promise<Readings>
}

/** An answer, as the variables of expressions. */
type Said = Record<'body' | 'headers', unknown>

/** One entry of the list. */
interface Entry {
  id: string
  address: string
  scope: string
  values: Record<string, unknown>
}

interface Listed {
  count: number
  byAddress: ReadonlyMap<string, Entry[]>
  byId: ReadonlyMap<string, Entry[]>
  unreadable: Unreadable[]
  unreadableAt: ReadonlyMap<string | undefined, Unreadable[]>
  /** The variables for the expressions of an entry that the list lacks. */
  values: Record<string, unknown>
  /** The reason why the list is not complete. A missing entry may be on another page. */
  partial: string | undefined
}

/** An entry for which the expressions fail. */
interface Unreadable {
  /** The id and the address, if they are known. */
  id: string | undefined
  address: string | undefined
  why: string
}

/** A target to read. */
interface Wanted {
  target: TargetValue
  /** True if no other known target has this address in this scope. An entry with this address and another name is then this target. */
  isAlone: boolean
}

const ONE_SCOPE = 'all'

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'nothing'
  const keys = value instanceof Map ? [...value.keys()] : Object.keys(value)
  return keys.length === 0 ? 'an empty map' : `a map (${keys.slice(0, 5).join(', ')}${keys.length > 5 ? ', …' : ''})`
}

/** The CEL paths of lists in an answer: lists of maps first, down to two fields deep. */
function listsIn(body: unknown, path = 'body', depth = 2): string[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || depth === 0) return []
  const named = Object.entries(body).map(([name, value]): [string, unknown] => {
    return [/^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`, value]
  })
  const own = named.filter(([, value]) => Array.isArray(value))
  const ofMaps = ([, value]: [string, unknown]): boolean => (value as unknown[]).some((one) => typeof one === 'object')
  const sorted = [...own.filter(ofMaps), ...own.filter((one) => !ofMaps(one))].map(([where]) => where)
  return [...sorted, ...named.flatMap(([where, value]) => listsIn(value, where, depth - 1))]
}

/** A key for scope and address. Two targets with equal keys may be one entry under different names. */
function placeOf({ scope, address }: TargetValue): string {
  return JSON.stringify([scope, address])
}

export interface ReaderOptions {
  component: string
  session: Session
  options: HttpOptions
  context: RequestContext
}

export function createReader({ component, session, options, context }: ReaderOptions): Reader {
  const { targets, inspect } = options
  const expression = (text: string | undefined, place: Place, field: string): Expression | undefined =>
    text === undefined ? undefined : compile(text, place, field)
  const request = (of: HttpOptions['targets']['request'], place: Place, field: string): MakeRequest | undefined =>
    of === undefined ? undefined : compileRequest(of, place, field, context)

  const listRequest = request(targets.request, 'nothing', 'targets.request')
  const idPlace = listRequest === undefined ? 'endpoint' : 'entry'
  const each = targets.each === undefined ? undefined : compileValue(targets.each, 'list', 'targets.each')
  const idOf = compile(targets.id, idPlace, 'targets.id')
  const scopeOf = expression(targets.scope, idPlace, 'targets.scope')
  const addressOf = expression(targets.address, 'entry', 'targets.address')
  const ownRequest = request(inspect?.request, 'question', 'inspect.request')
  const entryOf = inspect?.entry === undefined ? undefined : compileValue(inspect.entry, 'list', 'inspect.entry')
  const adminOf = expression(inspect?.admin, 'reading', 'inspect.admin')
  const routableOf = expression(inspect?.routable, 'reading', 'inspect.routable')
  const weightOf = expression(inspect?.weight, 'reading', 'inspect.weight')
  const inFlightOf = expression(inspect?.inFlight, 'reading', 'inspect.inFlight')
  const priorOf = expression(inspect?.prior, 'reading', 'inspect.prior')
  const alsoPlace = ownRequest === undefined ? 'nothing' : 'question'
  const alsoRequests = Object.entries(inspect?.also ?? {}).map(([name, one]): [string, MakeRequest] => [
    name,
    compileRequest(one, alsoPlace, `inspect.also.${name}`, context),
  ])
  const isTakenAway = inspect?.missing === 'draining'

  /** The secrets of the requests, to find them in answers. */
  const echoes = createEchoes()

  /** The value as text for a message, without secrets and shortened. */
  function shown(value: Json): string {
    return excerpt(JSON.stringify(value), echoes.secrets)
  }

  function textOf(value: Json, field: string): string {
    if ((typeof value === 'string' || typeof value === 'number') && value !== '') return String(value)
    throw new ExpressionError(`${field} gives ${shown(value)}, which is no text`)
  }

  function count(value: Json | undefined, field: string): number | null {
    if (value === undefined || value === null) return null
    if (typeof value === 'number' && value >= 0) return value
    throw new ExpressionError(`${field} gives ${shown(value)}, which is no number from 0 up`)
  }

  /** Refuses a value that contains a secret. sluice names, compares and stores the value, so it cannot hide the secret in it. */
  function withoutEcho<T extends Json>(value: T, field: string): T {
    if (!echoes.in(typeof value === 'string' ? value : JSON.stringify(value))) return value
    throw new ExpressionError(`${field} gives ${shown(value)}, which has a secret in it that the load balancer was sent`)
  }

  async function ask(made: HttpRequest, call: Call): Promise<Said> {
    echoes.listenFor(made.secrets)
    const answer = await session.send(made, call, { isWrite: false })
    echoes.listenFor(session.secrets())
    return {
      body: parseJson(component, answer, echoes.secrets),
      headers: answer.headers,
    }
  }

  function understand(entry: unknown, answer: Said): Entry {
    const values = { ...answer, entry }
    const id = withoutEcho(textOf(idOf(values), 'targets.id'), 'targets.id')
    const written = withoutEcho(textOf(addressOf!(values), 'targets.address'), 'targets.address')
    const address = parseAddress(written)
    if (address === undefined) throw new ExpressionError(`targets.address gives ${shown(written)}, which is no host:port`)
    const scope = scopeOf === undefined ? ONE_SCOPE : withoutEcho(textOf(scopeOf(values), 'targets.scope'), 'targets.scope')
    return { id, address: formatAddress(address), scope, values }
  }

  function idIfAny(values: Record<string, unknown>): string | undefined {
    try {
      return textOf(idOf(values), 'targets.id')
    } catch {
      return undefined
    }
  }

  function addressIfAny(values: Record<string, unknown>): string | undefined {
    try {
      const address = parseAddress(textOf(addressOf!(values), 'targets.address'))
      return address && formatAddress(address)
    } catch {
      return undefined
    }
  }

  /** The message for an answer without a list. It includes the path of a list in the answer, if there is one. */
  function noList(found: unknown, body: unknown): string {
    const written = targets.each === undefined ? 'the answer to targets.request' : `targets.each: ${targets.each}`
    const lists = listsIn(body)
    const way =
      lists.length === 0 ? 'name the list of entries with targets.each' : `name it with targets.each, such as ${lists[0]}`
    return excerpt(`${written} is ${kindOf(found)}, not a list; ${way}`, echoes.secrets)
  }

  /** Reads the list. `missing` is the kind of the error if the list does not exist. */
  async function list(call: Call, missing: 'fatal' | 'retryable'): Promise<Listed> {
    let answer: Said
    try {
      answer = await ask(listRequest!({}), call)
    } catch (error) {
      if (!(error instanceof MissingError)) throw error
      const kind = error.kind === 'not-found' ? missing : error.kind
      throw new AdapterError(component, kind, `targets.request: ${error.message}`, { cause: error })
    }
    // Go writes an empty list as null. If a missing entry counts as drained, null is an error, because it does not prove an empty list.
    const found = (each === undefined ? answer.body : each(answer)) ?? (isTakenAway ? null : [])
    if (!Array.isArray(found)) throw new ExpressionError(noList(found, answer.body))
    const sign = nextPageSign(answer)
    const partial =
      sign === undefined
        ? undefined
        : `the answer to targets.request is not the whole list: another page follows (${sign}), and pages are not followed; ask for all ` +
          'entries at once, such as with ?limit=1000 in targets.request.path'
    const entries: Entry[] = []
    const unreadable: Unreadable[] = []
    for (const entry of found) {
      try {
        entries.push(understand(entry, answer))
      } catch (error) {
        if (!(error instanceof ExpressionError)) throw error
        const values = { ...answer, entry }
        unreadable.push({ id: idIfAny(values), address: addressIfAny(values), why: error.message })
      }
    }
    return {
      count: entries.length,
      byAddress: Map.groupBy(entries, (entry) => entry.address),
      byId: Map.groupBy(entries, (entry) => entry.id),
      unreadable,
      unreadableAt: Map.groupBy(unreadable, ({ address }) => address),
      values: { ...answer, entry: null },
      partial: partial && excerpt(partial, echoes.secrets),
    }
  }

  function targetOf({ id, address, scope }: Entry, { byAddress }: Listed): Target {
    const inScope = byAddress.get(address)!.filter((one) => one.scope === scope)
    return { id: inScope.length > 1 ? sharedTargetId(id, address) : `${id}@${address}`, scope }
  }

  function resolveOne(endpoint: Endpoint, listed: Listed): Resolution {
    const { count: total, byAddress, byId, unreadable, unreadableAt } = listed
    const addresses = addressesOf(endpoint).map(formatAddress)
    // The pod may get requests through an unreadable entry, so the pod is not resolved.
    for (const one of addresses) {
      const [odd] = unreadableAt.get(one) ?? []
      if (odd !== undefined)
        return { found: false, reason: `an entry with the address ${one} could not be read: ${odd.why}`, isThere: true }
    }
    const own = addresses.flatMap((one) => byAddress.get(one) ?? [])
    for (const { id } of own) {
      const namesakes = byId.get(id)!
      if (namesakes.length > 1) {
        const where = namesakes.map((entry) => entry.address).join(' and ')
        const reason = `targets.id gives ${shown(id)} for ${where}: one call could not tell them apart`
        return { found: false, reason, isThere: true }
      }
    }
    if (own.length > 0) return { found: true, targets: own.map((entry) => targetOf(entry, listed)) }
    const more = unreadable.length === 0 ? '' : `; ${unreadable.length} more could not be read, such as: ${unreadable[0]!.why}`
    return { found: false, reason: `none of ${total} entries has the address ${addresses.join(' or ')}${more}` }
  }

  function resolveByItself({ address, port, pod }: Endpoint): Resolution {
    const values = { endpoint: { address, port: BigInt(port), pod } }
    const scope = scopeOf === undefined ? ONE_SCOPE : textOf(scopeOf(values), 'targets.scope')
    return { found: true, targets: [{ id: formatTargetId(textOf(idOf(values), 'targets.id'), { address, port }), scope }] }
  }

  /**
   * Sends the requests of `inspect.also`. They follow the entries, so that their counts are not older than the drain that the entries show.
   */
  async function askAlso(values: Record<string, unknown>, call: Call): Promise<Record<string, unknown>> {
    const asked = alsoRequests.map(async ([name, make]): Promise<[string, unknown]> => {
      try {
        return [name, (await ask(make(values), call)).body]
      } catch (error) {
        // The error gives no information about the entry.
        if (!(error instanceof MissingError)) throw error
        throw new AdapterError(component, 'retryable', `inspect.also.${name}: ${error.message}`, { cause: error })
      }
    })
    return { also: Object.fromEntries(await Promise.all(asked)) }
  }

  /** The reading of an entry that its drain has removed. Its prior state only marks that it was removed. */
  function takenAway(target: TargetValue, answer: Record<string, unknown>): Reading {
    const values = { ...answer, target }
    const inFlight = count(inFlightOf?.(values), 'inspect.inFlight')
    return { admin: 'draining', routable: false, inFlight, prior: TAKEN_AWAY, name: target.id, values }
  }

  function interpret(target: TargetValue, answer: Record<string, unknown>): Reading {
    const values = { ...answer, target }
    const admin = adminOf!(values)
    if (admin !== 'in' && admin !== 'draining' && admin !== 'out') {
      throw new ExpressionError(`inspect.admin gives ${shown(admin)}, which is none of in, draining, out`)
    }
    const weight = count(weightOf?.(values), 'inspect.weight')
    const inFlight = count(inFlightOf?.(values), 'inspect.inFlight')
    const isHealthy = routableOf === undefined || routableOf(values)
    if (typeof isHealthy !== 'boolean')
      throw new ExpressionError(`inspect.routable gives ${shown(isHealthy)}, which is neither true nor false`)
    // An entry with weight 0 gets no new requests, whatever its state.
    const effective = admin === 'in' && weight === 0 ? 'draining' : admin
    return {
      admin: effective,
      routable: effective === 'in' && isHealthy,
      ...(weight === null ? {} : { weight }),
      inFlight,
      prior: withoutEcho(priorOf!(values), 'inspect.prior'),
      name: target.id,
      values,
    }
  }

  /**
   * The absence of a target whose name has another address now. If another entry has the address of the target, the pod may get requests
   * there, so the target does not count as out.
   */
  function movedTo(target: TargetValue, entry: Entry, { byAddress, unreadableAt }: Listed): Absence {
    const why = `${target.id} has the address ${entry.address} now, not ${target.address}`
    const [other] = byAddress.get(target.address) ?? []
    const isServed = other !== undefined || unreadableAt.has(target.address)
    if (!isServed) return { admin: 'absent', moved: true, why }
    return { admin: 'absent', moved: true, isServed, why: `${why}, which ${other?.id ?? 'one that cannot be read'} has` }
  }

  /**
   * The entry of a target by its name, or else by its address, because a reload of a load balancer may give entries new names. Undefined if
   * the entry is gone. An address counts only if no other target has it: the drain of one entry must not count for the other.
   */
  function entryFor({ target, isAlone }: Wanted, { byId, byAddress, unreadable, partial }: Listed): Entry | undefined {
    const [entry, second] = byId.get(target.id) ?? []
    if (second !== undefined) throw new ExpressionError(`targets.id gives ${shown(target.id)} for more than one entry`)
    if (entry !== undefined) return entry
    // The target is gone only if no unreadable entry can be the target.
    const hidden = unreadable.find(({ id, address }) => id === undefined || id === target.id || address === target.address)
    if (hidden !== undefined) throw new ExpressionError(hidden.why)
    const [renamed, another] = (byAddress.get(target.address) ?? []).filter(({ scope }) => scope === target.scope)
    if (another !== undefined) {
      const why = `there is no entry ${target.id} any more, and ${renamed!.id} and ${another.id} have its address`
      throw new AdapterError(component, 'retryable', why)
    }
    if (renamed === undefined && partial !== undefined) throw new AdapterError(component, 'retryable', partial)
    if (renamed !== undefined && !isAlone) {
      const why = `there is no entry ${target.id} any more, and ${renamed.id}, which has its address, may be another of the same pod`
      throw new AdapterError(component, 'retryable', why)
    }
    return renamed
  }

  function gone({ id }: TargetValue): Absence {
    return { admin: 'absent', moved: false, why: `there is no entry ${id} any more` }
  }

  function find(wanted: Wanted, listed: Listed, also: Record<string, unknown>): Reading | Absence {
    const { target } = wanted
    const entry = entryFor(wanted, listed)
    if (entry === undefined) return isTakenAway ? takenAway(target, { ...listed.values, ...also }) : gone(target)
    if (entry.address !== target.address) return movedTo(target, entry, listed)
    return interpret({ ...target, id: entry.id }, { ...entry.values, ...also })
  }

  /** The entry in the answer to its own request, or the error if the API reports no entry. */
  async function askForOne(target: TargetValue, call: Call): Promise<Entry | MissingError> {
    let answer: Said
    try {
      answer = await ask(ownRequest!({ target }), call)
    } catch (error) {
      if (error instanceof MissingError) return error
      throw error
    }
    const own = entryOf === undefined ? answer.body : entryOf(answer)
    const { id, address, scope } = target
    if (addressOf === undefined) return { id, address, scope, values: { ...answer, entry: own } }
    const entry = understand(own, answer)
    if (entry.id !== id) throw new ExpressionError(`inspect.request is answered with ${shown(entry.id)}, not ${id}`)
    return entry
  }

  /**
   * Reads one target with its own request. An absence counts only if the list confirms it, because a single 404 may come from a gateway.
   */
  async function readOne(wanted: Wanted, left: () => Call, listNow: () => Promise<Listed>): Promise<Reading | Absence> {
    const { target } = wanted
    const own = await askForOne(target, left())
    const also = async (of: TargetValue): Promise<Record<string, unknown>> => askAlso({ target: of }, left())
    if (!(own instanceof MissingError))
      return own.address === target.address
        ? interpret(target, { ...own.values, ...(await also(target)) })
        : movedTo(target, own, await listNow())
    if (listRequest === undefined) {
      if (own.kind === 'not-found') return { admin: 'absent', moved: false, why: own.message }
      throw own
    }
    const listed = await listNow()
    const entry = entryFor(wanted, listed)
    if (entry === undefined) return gone(target)
    if (entry.address !== target.address) return movedTo(target, entry, listed)
    const present = { ...target, id: entry.id }
    const again = entry.id === target.id ? own : await askForOne(present, left())
    if (!(again instanceof MissingError) && again.address === target.address)
      return interpret(present, { ...again.values, ...(await also(present)) })
    const why = again instanceof MissingError ? again.message : `${again.id} has the address ${again.address} now`
    throw new AdapterError(component, 'retryable', `${why}, while the list has ${entry.id} at ${entry.address}`)
  }

  /** The reading of one target, with its errors as the result of that target. */
  async function settle(id: string, reading: () => Reading | Absence | Promise<Reading | Absence>): Promise<Readings> {
    try {
      return new Map([[id, await reading()]])
    } catch (error) {
      if (error instanceof ExpressionError)
        return new Map([[id, new AdapterError(component, 'fatal', error.message, { cause: error })]])
      if (error instanceof AdapterError) return new Map([[id, error]])
      throw error
    }
  }

  async function wholeList(call: Call): Promise<Listed> {
    const listed = await list(call, 'fatal')
    // The list must be complete even for found pods, because another entry of a pod may be on another page.
    if (listed.partial !== undefined) throw new AdapterError(component, 'fatal', listed.partial)
    return listed
  }

  return {
    async resolve(endpoints, call) {
      if (listRequest === undefined) return endpoints.map(resolveByItself)
      const listed = await wholeList(call)
      return endpoints.map((endpoint) => resolveOne(endpoint, listed))
    },

    async entries(call) {
      const listed = await wholeList(call)
      return [...listed.byId.values()].flat().map((entry) => ({ target: targetOf(entry, listed), address: entry.address }))
    },

    async read(wanted, call) {
      const parsed = wanted.map((target) => ({ id: target.id, target: parseTarget(target) }))
      const byPlace = Map.groupBy(parsed, ({ target }) => target && placeOf(target))
      // Two targets of one read must never match one entry.
      const isAlone = (id: string, target: TargetValue): boolean =>
        !isShared(id) && byPlace.get(placeOf(target))!.every((one) => one.target!.id === target.id)
      const endsAt = performance.now() + call.deadlineMs
      const left = (): Call => ({ ...call, deadlineMs: endsAt - performance.now() })
      let listing: Promise<Listed> | undefined
      const listNow = (): Promise<Listed> => (listing ??= list(left(), 'retryable'))
      const listed = ownRequest === undefined ? await listNow() : undefined
      const also = listed === undefined ? {} : await askAlso({}, left())
      const readings = await Promise.all(
        parsed.map(({ id, target }) =>
          settle(id, () => {
            if (target === undefined) throw new AdapterError(component, 'fatal', `${id} is not an id of this adapter`)
            const one = { target, isAlone: isAlone(id, target) }
            return listed === undefined ? readOne(one, left, listNow) : find(one, listed, also)
          }),
        ),
      )
      return new Map(readings.flatMap((reading) => [...reading]))
    },
  }
}
