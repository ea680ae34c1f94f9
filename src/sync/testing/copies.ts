import type { SourceContent, SyncedService, WantedEndpoint } from '../model.ts'
import { type OwnSlice, ownSlice } from '../own-slice.ts'
import { decideService, type Decision, type Question } from '../decide/decide-service.ts'

/** Services, endpoints and slices for tests of decisions. */

export const READY = { ready: true, serving: true, terminating: false }
export const NOT_READY = { ready: false, serving: false, terminating: false }
export const HTTP = [{ name: 'http', port: 80, protocol: 'TCP' }]

export function synced(options: Partial<SyncedService> = {}): SyncedService {
  return {
    namespace: 'shop',
    name: 'web',
    sources: ['east', 'west'],
    create: false,
    away: { is: 'keep' },
    replacedAfterMs: 600_000,
    ...options,
  }
}

export function endpoint(address: string, options: Partial<WantedEndpoint> = {}): WantedEndpoint {
  return {
    addressType: address.includes(':') ? 'IPv6' : 'IPv4',
    address,
    ports: HTTP,
    conditions: READY,
    ...options,
  }
}

/** Endpoints 10.CLUSTER.x.y, from `first` on. */
export function endpoints(cluster: number, count: number, first = 0): WantedEndpoint[] {
  return Array.from({ length: count }, (_, index) => {
    const number = first + index
    return endpoint(`10.${cluster}.${number >> 8}.${number & 255}`)
  })
}

export function known(some: readonly WantedEndpoint[]): { is: 'known' } & SourceContent {
  return { is: 'known', endpoints: some, service: { ports: [{ name: 'http', port: 80, protocol: 'TCP' }], isHeadless: false } }
}

export const SERVICE = { uid: 'service-uid', ports: [{ name: 'http' }], isBeingDeleted: false }

export function question(options: Partial<Question> = {}): Question {
  return {
    service: synced(),
    access: { is: 'present', service: SERVICE },
    views: new Map(),
    uids: new Map(),
    slices: [],
    isTaken: () => false,
    isAltered: () => false,
    now: 1_000_000,
    ...options,
  }
}

let versions = 0

/** The slices after the writes of a decision. */
export function applied(slices: readonly OwnSlice[], { writes }: Decision): OwnSlice[] {
  const byName = new Map(slices.map((slice) => [slice.name, slice]))
  for (const { effect, name, body, former } of writes) {
    if (effect === 'delete') byName.delete(name)
    else {
      versions += 1
      const { metadata } = body as { metadata: object }
      const uid = former?.uid ?? `uid-${versions}`
      byName.set(name, ownSlice({ ...body, metadata: { ...metadata, uid, resourceVersion: String(versions) } }))
    }
  }
  return [...byName.values()]
}

/** Decides, applies, and repeats the question about the result. */
export function settled(asked: Question): { slices: OwnSlice[]; decision: Decision; again: Decision } {
  const decision = decideService(asked)
  const slices = applied(asked.slices, decision)
  return { slices, decision, again: decideService({ ...asked, slices }) }
}

/** The copies as texts, such as `east 10.1.0.0 ready`. */
export function shown(slices: readonly OwnSlice[]): string[] {
  return slices
    .flatMap(({ source, copies }) =>
      copies.map(({ address, conditions }) => `${source} ${address} ${conditions.ready ? 'ready' : 'not ready'}`),
    )
    .sort()
}
