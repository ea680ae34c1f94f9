/** The places of an address and port in the slices of a Service. There is usually one; each place has its own conditions. */
import { formatAddress } from '../address.ts'
import type { Json } from '../contract.ts'
import type { Entry } from '../define-adapter.ts'
import { annotationsWith, markedOf } from './mark.ts'
import { isOfNames, portsOf, type Slice, type SliceEndpoint } from './slices.ts'

export interface Place {
  slice: Slice
  /** The index in `endpoints` of the slice. */
  index: number
  endpoint: SliceEndpoint
  isMarked: boolean
}

/** The conditions that a drain changes. Null: the condition is not set. */
export interface Admitted {
  ready: boolean | null
  serving: boolean | null
}

/** The change of one place. */
export interface PlaceChange {
  place: Place
  to: Admitted
  isMarked: boolean
}

/** The places by `address:port`, in the order of the names of the slices. */
export function placesOf(slices: readonly Slice[]): Map<string, Place[]> {
  const all = new Map<string, Place[]>()
  for (const slice of slices.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    if (isOfNames(slice)) continue
    const marked = markedOf(slice)
    const ports = portsOf(slice)
    for (const [index, endpoint] of (slice.endpoints ?? []).entries()) {
      const address = endpoint.addresses[0]!
      for (const port of ports) {
        const key = formatAddress({ address, port })
        all.set(key, [...(all.get(key) ?? []), { slice, index, endpoint, isMarked: marked.has(address) }])
      }
    }
  }
  return all
}

export function admittedOf({ endpoint }: Place): Admitted {
  return { ready: endpoint.conditions?.ready ?? null, serving: endpoint.conditions?.serving ?? null }
}

/** True if kube-proxy treats the endpoint as ready. A condition that is not set counts as true. */
function isReady(place: Place): boolean {
  return admittedOf(place).ready !== false
}

export function stateOf(places: readonly Place[]): Entry['state'] {
  if (places.some(isReady)) return 'in'
  return places.some(({ isMarked }) => isMarked) ? 'draining' : 'out'
}

/** The prior state of the places. If all places have equal conditions, the list has one item. */
export function priorOf(places: readonly Place[]): Json {
  const all = places.map((place): Json => ({ ...admittedOf(place) }))
  const texts = new Set(all.map((one) => JSON.stringify(one)))
  return texts.size === 1 ? all.slice(0, 1) : all
}

/** The changes of a drain: each ready place becomes not ready. Places that an operator has taken out stay. */
export function drained(places: readonly Place[]): PlaceChange[] {
  return places.filter(isReady).map((place) => {
    const { serving } = admittedOf(place)
    // kube-proxy uses serving and terminating endpoints if no endpoint is ready.
    const isFallback = place.endpoint.conditions?.terminating === true
    return { place, to: { ready: false, serving: isFallback ? false : serving }, isMarked: true }
  })
}

/** The changes of a restore. Places that an operator has taken out in the meantime stay. */
export function restored(places: readonly Place[], state: Entry['state'], prior: Json): PlaceChange[] {
  const former = Array.isArray(prior) ? prior.map(admittedFrom) : []
  return places.flatMap((place, index): PlaceChange[] => {
    if (!isReady(place) && !place.isMarked) return []
    const to = (former.length === places.length ? former[index] : former[0]) ?? { ready: null, serving: null }
    return [{ place, to, isMarked: state === 'draining' }]
  })
}

function admittedFrom(value: Json): Admitted {
  const { ready = null, serving = null } = typeof value === 'object' && !Array.isArray(value) && value !== null ? value : {}
  return { ready: typeof ready === 'boolean' ? ready : null, serving: typeof serving === 'boolean' ? serving : null }
}

/** The slice with these changes. All other fields stay. */
export function changedSlice(slice: Slice, changes: readonly PlaceChange[]): Slice {
  const marked = new Set(markedOf(slice))
  const endpoints = [...(slice.endpoints ?? [])]
  for (const { place, to, isMarked } of changes) {
    const { endpoint, index } = place
    const { ready: _ready, serving: _serving, ...others } = endpoint.conditions ?? {}
    const set = Object.entries(to).filter(([, value]) => value !== null)
    endpoints[index] = { ...endpoint, conditions: { ...others, ...Object.fromEntries(set) } }
    if (isMarked) marked.add(endpoint.addresses[0]!)
    else marked.delete(endpoint.addresses[0]!)
  }
  // Removes marks of endpoints that are gone or ready again. Otherwise, a later change by an operator would look like a drain of sluice.
  const isOut = new Set(endpoints.flatMap(({ addresses, conditions }) => (conditions?.ready === false ? addresses : [])))
  for (const address of marked) if (!isOut.has(address)) marked.delete(address)
  const { annotations: _annotations, ...metadata } = slice.metadata
  const annotations = annotationsWith(slice, marked)
  return { ...slice, metadata: { ...metadata, ...(annotations === undefined ? {} : { annotations }) }, endpoints }
}
