/**
 * The relation of targets and entries: finds the entry of a target, the targets of an endpoint, and the observation of a target. `ownScope`
 * is the scope of an entry without a scope.
 */
import { formatAddress, parseAddress } from './address.ts'
import { addressesOf, type Endpoint, type Json, type Resolution, type Target, type TargetObservation } from './contract.ts'
import type { Entry } from './entry.ts'
import type { GoneEntry } from './load-balancer-calls.ts'

/** The part of an entry that the journal stores. */
export interface Kept {
  state: Entry['state']
  prior: Json
}

/** The name and the address of an entry. A target finds its entry by both. */
interface Key {
  name: string
  address: string
}

export function idOf(entry: Entry): string {
  const address = formatAddress(entry)
  return entry.name === address ? address : `${entry.name}@${address}`
}

export function keyOf({ id }: Target): Key | undefined {
  const at = id.lastIndexOf('@')
  const parsed = parseAddress(id.slice(at + 1))
  if (at === 0 || parsed === undefined) return undefined
  const address = formatAddress(parsed)
  return { name: at === -1 ? address : id.slice(0, at), address }
}

export type Found = Entry | { missing: string; moved: boolean }

/** The entry of a target, or the reason why the list has none. An entry with another address belongs to another pod. */
export function findEntry(entries: readonly Entry[], target: Target, ownScope: string): Found {
  const key = keyOf(target)
  const named = entries.filter(({ name, scope = ownScope }) => name === key?.name && scope === target.scope)
  const found = named.find((entry) => formatAddress(entry) === key?.address)
  if (found !== undefined) return found
  const [moved] = named
  if (moved === undefined) return { missing: `there is no entry ${target.id}`, moved: false }
  return { missing: `${moved.name} has the address ${formatAddress(moved)} now, not ${key?.address}`, moved: true }
}

export function resolveEndpoint(entries: readonly Entry[], endpoint: Endpoint, ownScope: string): Resolution {
  const addresses = addressesOf(endpoint).map(formatAddress)
  const own = entries.filter((entry) => addresses.includes(formatAddress(entry)))
  if (own.length > 0) return { found: true, targets: own.map((entry) => ({ id: idOf(entry), scope: entry.scope ?? ownScope })) }
  return { found: false, reason: `none of the ${entries.length} entries has the address ${addresses.join(' or ')}` }
}

export function observe(found: Found): TargetObservation {
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

/** The entry to ask for if the list has no entry of this name at any address. */
export function goneEntries(entries: readonly Entry[], target: Target, ownScope: string): GoneEntry[] {
  const key = keyOf(target)
  const found = findEntry(entries, target, ownScope)
  if (key === undefined || !('missing' in found) || found.moved) return []
  const scope = target.scope === ownScope ? {} : { scope: target.scope }
  return [{ name: key.name, ...scope, ...parseAddress(key.address)! }]
}

export function isLoaded({ state, becomes = state }: Entry): boolean {
  return state === becomes
}

export function isIn({ state, weight }: Entry): boolean {
  return state === 'in' && weight !== 0
}

export function keptOf({ state, prior, weight }: Entry): Kept {
  return { state, prior: prior === undefined ? (weight ?? null) : prior }
}

export function isKept(prior: Json): prior is { state: Entry['state']; prior: Json } {
  if (typeof prior !== 'object' || prior === null || Array.isArray(prior)) return false
  const { state, prior: former } = prior
  return (state === 'in' || state === 'draining' || state === 'out') && former !== undefined
}
