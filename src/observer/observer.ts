import { createAddressChanges } from './address-changes.ts'
import { type ClusterObserver, createClusterObserver } from './cluster-observer.ts'
import type { ClusterState } from './cluster-state.ts'
import type { Context, Measured, Written } from './context.ts'
import { createCopies } from './copies.ts'
import { createDeadlines } from './deadlines.ts'
import { createEntries } from './entries.ts'
import type { ObservedEvent } from './events.ts'
import { createHolders } from './holders.ts'
import { createHolding } from './holding.ts'
import { createLags, type Lags } from './lags.ts'
import {
  OBSERVER_FINDING_CODES,
  type ObserverFinding,
  type ObserverFindingCode,
  type ObserverFindingOf,
  type ObserverSnapshot,
  type ObserverSummary,
  type Told,
} from './told.ts'

export interface ObserverOptions {
  /** The names of all clusters. An entry is not found to be without a pod before all of them are listed, unless its pod was seen to go. */
  clusters: readonly string[]
  /** Whether all namespaces are observed. Otherwise an address without an observed pod may have a pod in another namespace. */
  allNamespaces: boolean
  /** The time in milliseconds for which a stale address or entry is no finding. */
  graceMs: number
  /** In milliseconds since 1970. */
  startedAt: number
}

/** Callbacks for the numbers that metrics count. */
export interface ObserverCounts {
  onLag?: ((of: Measured, lagMs: number) => void) | undefined
  onWrite?: ((of: Written) => void) | undefined
}

/**
 * Makes changes and findings of events. Equal events give equal results: a finding that is due between two events has its own instant,
 * however late the next event or call comes.
 */
export interface Observer {
  /** Takes an event, whose instant must not be before that of the event before it, and returns what is told by then. */
  take(event: ObservedEvent): Told[]
  /** Returns what is told by the instant `at`, without an event. */
  advance(at: number): Told[]
  /** Returns the instant of the next deadline. */
  nextAt(): number | undefined
  summary(): ObserverSummary
  /** Returns the state at the last instant. */
  snapshot(): ObserverSnapshot
  /** Returns the known objects of the cluster with that name. For tests. */
  stateOf(cluster: string): ClusterState | undefined
}

export function createObserver(
  { clusters, allNamespaces, graceMs, startedAt }: ObserverOptions,
  { onLag, onWrite }: ObserverCounts = {},
): Observer {
  const deadlines = createDeadlines()
  /** The lags by Service, and within a Service by leg. */
  const legs = new Map<string, Map<string, { of: Measured; lags: Lags }>>()
  const times = new Map<ObserverFindingCode, number>()
  let now = startedAt
  let told: Told[] = []
  const holding = createHolding(() => now, deadlines.at)

  const context: Context = {
    now: () => now,
    later: deadlines.at,
    tell: (one) => void told.push(one),
    find(finding: ObserverFinding, about?: string) {
      holding.begin(finding, about)
      // A sweep or a backlog that is found again, at its end, was counted when it began.
      const isLong = finding.code === 'sweep' || finding.code === 'backlog'
      const isNew = !isLong || !isGoing(finding)
      if (isNew) times.set(finding.code, (times.get(finding.code) ?? 0) + 1)
      told.push({ type: 'finding', at: now, finding })
    },
    over: (code, about) => holding.end(code, about),
    written: (of) => onWrite?.(of),
    measured(of, lagMs) {
      onLag?.(of, lagMs)
      const service = keyOfService(of)
      const ofService = legs.get(service) ?? new Map<string, { of: Measured; lags: Lags }>()
      legs.set(service, ofService)
      const key = [of.leg, of.loadBalancer ?? '', of.from ?? ''].join('\0')
      const own = ofService.get(key) ?? { of, lags: createLags() }
      ofService.set(key, own)
      own.lags.add(lagMs)
    },
    forgetLags: (of) => void legs.delete(keyOfService(of)),
    graceMs,
  }

  /** The sweeps and backlogs that are under way, by cluster and kind of object. */
  const going = new Set<string>()
  function isGoing(finding: ObserverFindingOf<'sweep' | 'backlog'>): boolean {
    const key = `${finding.code} ${finding.cluster} ${finding.object}`
    const was = going.has(key)
    if (finding.isOver) going.delete(key)
    else going.add(key)
    return was
  }

  const changes = createAddressChanges(context)
  const holders = createHolders(
    context,
    (address) => entries.names(address) || [...observers.values()].some(({ state }) => state.objectsAt(address).size > 0),
    (address) => {
      entries.reviewAt(address)
      for (const one of observers.values()) one.reviewAt(address)
    },
  )
  const entries = createEntries(
    context,
    holders,
    changes,
    () => allNamespaces && [...observers.values()].every((one) => one.seesAll()),
  )
  const copies = createCopies(context, changes)
  const observers = new Map<string, ClusterObserver>(
    clusters.map((cluster) => [cluster, createClusterObserver(cluster, context, { holders, changes, entries, copies })]),
  )

  function runUntil(at: number): void {
    deadlines.run(at, (dueAt, work) => {
      now = Math.max(now, dueAt)
      work()
    })
    now = Math.max(now, at)
  }

  function tellAll(): Told[] {
    const all = told
    told = []
    return all
  }

  return {
    take(event) {
      runUntil(event.at)
      if (event.type === 'end') for (const one of observers.values()) one.end()
      else if ('loadBalancer' in event) entries.take(event)
      else observers.get(event.cluster)?.take(event)
      return tellAll()
    },
    advance(at) {
      runUntil(at)
      return tellAll()
    },
    nextAt: deadlines.nextAt,
    summary: () => ({
      startedAt,
      at: now,
      legs: inOrder(legs).flatMap((own) => inOrder(own).map(({ of, lags }) => ({ ...of, ...lags.summary() }))),
      findings: OBSERVER_FINDING_CODES.flatMap((code) => {
        const count = times.get(code)
        return count === undefined ? [] : [{ code, times: count }]
      }),
    }),
    snapshot: () => ({
      at: now,
      clusters: [...observers].map(([name, one]) => ({ name, is: one.is() })),
      loadBalancers: entries.balancers(),
      findings: holding.all(),
      backlogs: [...observers.values()].flatMap((one) => one.backlogs()),
    }),
    stateOf: (cluster) => observers.get(cluster)?.state,
  }
}

function keyOfService({ cluster, namespace, service }: Pick<Measured, 'cluster' | 'namespace' | 'service'>): string {
  return [cluster, namespace, service].join('\0')
}

/** The values in the order of their keys. */
function inOrder<Value>(map: ReadonlyMap<string, Value>): Value[] {
  return [...map.keys()].sort().map((key) => map.get(key)!)
}
