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
  /** All that is to be observed: nothing of another cluster is known to be missing before each of them has told all that it has. */
  clusters: readonly string[]
  /** Pods of all namespaces are observed: an address that none of them has is of no pod. */
  allNamespaces: boolean
  /** For so long a difference is none. */
  graceMs: number
  startedAt: number
}

/** Told of what is counted beside what is told: metrics are made of it. */
export interface ObserverCounts {
  onLag?: ((of: Measured, lagMs: number) => void) | undefined
  onWrite?: ((of: Written) => void) | undefined
}

/**
 * Tells what events come to. The same events give the same: what is due between two of them is found at its own instant, whenever the next
 * one comes.
 */
export interface Observer {
  /** Events have instants that do not go back. */
  take(event: ObservedEvent): Told[]
  /** What is due until then. */
  advance(at: number): Told[]
  /** When something is due next. */
  nextAt(): number | undefined
  summary(): ObserverSummary
  /** What is so now. */
  snapshot(): ObserverSnapshot
  /** By the name of the cluster. For tests: what is known. */
  stateOf(cluster: string): ClusterState | undefined
}

export function createObserver(
  { clusters, allNamespaces, graceMs, startedAt }: ObserverOptions,
  { onLag, onWrite }: ObserverCounts = {},
): Observer {
  const deadlines = createDeadlines()
  /** By Service, and by leg. */
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
      // One that goes on, or is over, was counted when it began.
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

  /** By kind of object. */
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

/** By their keys. */
function inOrder<Value>(map: ReadonlyMap<string, Value>): Value[] {
  return [...map.keys()].sort().map((key) => map.get(key)!)
}
