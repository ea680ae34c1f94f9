import type { EndpointPort } from '../../endpoints/objects.ts'
import type { WantedEndpoint } from '../model.ts'
import { type Copy, isSameCopy, type OwnSlice } from '../own-slice.ts'
import { portsKey } from './ports-key.ts'

/** The most endpoints of a slice, as the controllers of Kubernetes have it. */
export const MOST_ENDPOINTS = 100
/** A slice with at most so many endpoints is emptied into another slice when it has to be written anyway. */
const SPARSE = MOST_ENDPOINTS / 4

/** What becomes of a slice. A slice whose `copies` are empty is deleted. */
export interface PackedSlice {
  /** Absent for a new slice. */
  readonly slice?: OwnSlice
  readonly addressType: string
  readonly ports: readonly EndpointPort[]
  readonly copies: readonly Copy[]
  readonly isChanged: boolean
}

interface Bin {
  slice?: OwnSlice
  copies: Copy[]
  isChanged: boolean
}

/**
 * Distributes the endpoints of one source over its slices, with as few writes as possible. An endpoint stays in its slice. A new endpoint
 * goes into a slice that is written anyway, then into the fullest slice that has room for all that are left, then into new slices. A slice
 * that is written anyway is emptied into another one where that costs no write, or where it is sparse.
 */
export function packSlices(slices: readonly OwnSlice[], wanted: readonly WantedEndpoint[]): PackedSlice[] {
  const slicesOf = Map.groupBy(slices, ({ addressType, portsKey: key }) => `${addressType} ${key}`)
  const wantedOf = Map.groupBy(wanted, ({ addressType, ports }) => `${addressType} ${portsKey(ports)}`)
  const groups = [...new Set([...slicesOf.keys(), ...wantedOf.keys()])].sort()
  return groups.flatMap((group) => packGroup(slicesOf.get(group) ?? [], wantedOf.get(group) ?? []))
}

function packGroup(slices: readonly OwnSlice[], wanted: readonly WantedEndpoint[]): PackedSlice[] {
  const missing = new Map(wanted.map((endpoint) => [endpoint.address, copyOf(endpoint)]))
  const bins = slices.toSorted(byName).map((slice) => claim(slice, missing))
  const rest = [...missing.values()].sort((one, other) => (one.address < other.address ? -1 : 1))
  place(bins, rest)
  compact(bins)
  const { addressType, ports } = wanted[0] ?? slices[0]!
  return bins.map(({ slice, copies, isChanged }) => ({
    ...(slice === undefined ? {} : { slice }),
    addressType,
    ports: wanted[0] === undefined ? ports : ports.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    copies,
    isChanged,
  }))
}

/** Keeps the endpoints of a slice that are wanted, in their order, and takes them off the missing ones. */
function claim(slice: OwnSlice, missing: Map<string, Copy>): Bin {
  const copies: Copy[] = []
  let isChanged = slice.hasMore
  for (const held of slice.copies) {
    const copy = missing.get(held.address)
    if (copy === undefined || copies.length === MOST_ENDPOINTS) {
      isChanged = true
      continue
    }
    missing.delete(held.address)
    copies.push(copy)
    isChanged ||= !isSameCopy(held, copy)
  }
  // An empty slice has no use.
  return { slice, copies, isChanged: isChanged || copies.length === 0 }
}

function place(bins: Bin[], rest: Copy[]): void {
  const written = bins.filter(({ isChanged }) => isChanged)
  for (const bin of [...written.filter(hasCopies).sort(byFullest), ...written.filter((one) => !hasCopies(one))]) fill(bin, rest)
  while (rest.length > 0) {
    const [fitting] = bins.filter((bin) => !bin.isChanged && room(bin) >= rest.length).sort(byFullest)
    if (fitting === undefined) bins.push({ copies: rest.splice(0, MOST_ENDPOINTS), isChanged: true })
    else fill(fitting, rest)
  }
}

/** A slice that is written anyway, and whose endpoints have room elsewhere, is deleted instead. */
function compact(bins: readonly Bin[]): void {
  const written = bins.filter((bin) => bin.isChanged && hasCopies(bin)).sort((one, other) => byFullest(other, one))
  for (const bin of written) {
    if (bin.slice === undefined) continue
    const size = bin.copies.length
    const others = bins.filter((other) => other !== bin && hasCopies(other) && room(other) >= size).sort(byFullest)
    const into = others.find(({ isChanged }) => isChanged) ?? (size <= SPARSE ? others[0] : undefined)
    if (into !== undefined) fill(into, bin.copies)
  }
}

function fill(bin: Bin, rest: Copy[]): void {
  if (rest.length === 0 || room(bin) <= 0) return
  bin.copies.push(...rest.splice(0, room(bin)))
  bin.isChanged = true
}

function room({ copies }: Bin): number {
  return MOST_ENDPOINTS - copies.length
}

function hasCopies({ copies }: Bin): boolean {
  return copies.length > 0
}

function byFullest(one: Bin, other: Bin): number {
  return other.copies.length - one.copies.length || byName(one.slice, other.slice)
}

function byName(one: OwnSlice | undefined, other: OwnSlice | undefined): number {
  return (one?.name ?? '') < (other?.name ?? '') ? -1 : 1
}

function copyOf({ address, conditions, hostname, zone }: WantedEndpoint): Copy {
  return {
    address,
    conditions,
    ...(hostname === undefined ? {} : { hostname }),
    ...(zone === undefined ? {} : { zone }),
  }
}
