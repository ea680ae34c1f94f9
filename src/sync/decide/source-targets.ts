import type { SourceContent, SourceView, SyncedService, WantedEndpoint } from '../model.ts'
import type { OwnSlice } from '../own-slice.ts'
import type { SyncProblem } from '../problems.ts'
import { portsKey } from './ports-key.ts'

/** What the copies of a source are to be. `keep`: as they are. */
export type Target = { readonly is: 'set'; readonly content: SourceContent } | { readonly is: 'keep' }

export interface Targets {
  readonly of: ReadonlyMap<string, Target>
  readonly problems: readonly SyncProblem[]
  /** The instant at which time alone changes the answer. */
  readonly nextAt?: number
}

const NOTHING: SourceContent = { endpoints: [] }

/** Copies are removed only where it is known that they are gone, or where the rule of the Service says so for a source that is away. */
export function sourceTargets(service: SyncedService, views: ReadonlyMap<string, SourceView>, now: number): Targets {
  const of = new Map<string, Target>()
  const problems: SyncProblem[] = []
  const instants: number[] = []
  const { away, replacedAfterMs } = service
  const readyElsewhere = readyOf([...views.values()].flatMap((view) => (view.is === 'known' ? view.endpoints : [])))

  function whileAway(source: string, view: SourceView & { is: 'away' }): Target {
    problems.push({ code: 'source-away', source, because: view.because })
    const restored: Target = view.last === undefined ? { is: 'keep' } : { is: 'set', content: view.last }
    if (away.is === 'keep') return restored
    const endsAt = view.sinceAt + away.afterMs
    if (now < endsAt) {
      instants.push(endsAt)
      return restored
    }
    if (readyElsewhere < away.floor) {
      problems.push({ code: 'kept-for-floor', source, ready: readyElsewhere, floor: away.floor })
      // Copies that are removed do not come back before the source does.
      return { is: 'keep' }
    }
    problems.push({ code: 'source-expired', source })
    return { is: 'set', content: NOTHING }
  }

  function whileReplaced(source: string, { sinceAt, now: content }: SourceView & { is: 'replaced' }): Target {
    const endsAt = sinceAt + replacedAfterMs
    if (readyOf(content.endpoints) > 0 || now >= endsAt) return { is: 'set', content }
    problems.push({ code: 'source-replaced', source })
    instants.push(endsAt)
    return { is: 'keep' }
  }

  for (const source of service.sources) {
    const view: SourceView = views.get(source) ?? { is: 'listing' }
    switch (view.is) {
      case 'listing':
        of.set(source, { is: 'keep' })
        break
      case 'known':
        of.set(source, { is: 'set', content: view })
        break
      case 'without':
        problems.push({ code: 'source-without', source, lacks: view.lacks })
        of.set(source, { is: 'set', content: NOTHING })
        break
      case 'away':
        of.set(source, whileAway(source, view))
        break
      case 'replaced':
        of.set(source, whileReplaced(source, view))
    }
  }
  return { of, problems, ...(instants.length === 0 ? {} : { nextAt: Math.min(...instants) }) }
}

export function readyOf(endpoints: readonly WantedEndpoint[]): number {
  return endpoints.filter(({ conditions }) => conditions.ready).length
}

/** The most addresses that a problem lists. */
const MOST_LISTED = 10

export interface Deduplicated {
  /** The endpoints of each source whose target is set. */
  readonly of: ReadonlyMap<string, readonly WantedEndpoint[]>
  readonly problems: readonly SyncProblem[]
}

/** Leaves out the addresses that an earlier source of the Service has. Addresses of two clusters that overlap lead to one of them only. */
export function withoutTwins(
  service: SyncedService,
  targets: ReadonlyMap<string, Target>,
  slices: readonly OwnSlice[],
): Deduplicated {
  const first = new Map<string, string>()
  const of = new Map<string, readonly WantedEndpoint[]>()
  const problems: SyncProblem[] = []
  for (const source of service.sources) {
    const target = targets.get(source)
    if (target === undefined) continue
    const addresses =
      target.is === 'set'
        ? target.content.endpoints
        : slices
            .filter((one) => one.source === source)
            .flatMap(({ addressType, copies }) => copies.map(({ address }) => ({ addressType, address })))
    const twins: { address: string; earlier: string }[] = []
    for (const one of addresses) {
      const key = keyOf(one)
      const earlier = first.get(key)
      if (earlier === undefined) first.set(key, source)
      else if (earlier !== source) twins.push({ address: one.address, earlier })
    }
    for (const [earlier, some] of Map.groupBy(twins, (one) => one.earlier)) {
      const listed = [...new Set(some.map(({ address }) => address))].sort()
      problems.push({
        code: 'addresses-twice',
        source,
        first: earlier,
        addresses: listed.slice(0, MOST_LISTED),
        count: listed.length,
      })
    }
    if (target.is !== 'set') continue
    const { endpoints } = target.content
    of.set(source, merged(twins.length === 0 ? endpoints : endpoints.filter((one) => first.get(keyOf(one)) === source)))
  }
  return { of, problems }
}

function keyOf({ addressType, address }: { addressType: string; address: string }): string {
  return `${addressType} ${address}`
}

/** An endpoint that a controller moves between slices stands in two of them for a moment. The one that is ready counts. */
function merged(endpoints: readonly WantedEndpoint[]): WantedEndpoint[] {
  const byKey = new Map<string, WantedEndpoint>()
  for (const endpoint of endpoints) {
    const key = `${keyOf(endpoint)} ${portsKey(endpoint.ports)}`
    const known = byKey.get(key)
    if (known === undefined || isBetter(endpoint, known)) byKey.set(key, endpoint)
  }
  return [...byKey.values()]
}

/** A pod under upgrade is out wherever it stands. */
function isBetter(one: WantedEndpoint, other: WantedEndpoint): boolean {
  if (one.isUpgrading !== other.isUpgrading) return one.isUpgrading === true
  return one.conditions.ready && !other.conditions.ready
}
