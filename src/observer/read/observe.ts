import type { LoadBalancer } from '../../engine/request.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { ObservedEvent } from '../events.ts'
import { createObserver, type ObserverCounts } from '../observer.ts'
import type { LeaseChange, ObserverSnapshot, ObserverSummary, Told } from '../told.ts'
import { createBound } from '../../kube/bound.ts'
import { createInstants } from './clock.ts'
import { type ObservedCluster, observeCluster } from './observe-cluster.ts'
import { pollLoadBalancer } from './poll-load-balancers.ts'

/** The state of an observation that goes on, at the instant of the call. */
export interface Look {
  snapshot(): ObserverSnapshot
  summary(): ObserverSummary
}

export interface ObservePorts extends ObserverCounts {
  clusters: readonly ObservedCluster[]
  allNamespaces: boolean
  loadBalancers: readonly LoadBalancer[]
  clock: Clock
  random: Random
  graceMs: number
  pollMs: number
  /** Ends the observation. */
  signal: AbortSignal
  onStart?(startedAt: number, look: Look): void
  /** Leases are watched where this is present. */
  onLease?: ((change: LeaseChange) => void) | undefined
  /** Called with each event, before `onTold` has its results. */
  onEvent?(event: ObservedEvent): void
  onTold(told: Told): void
  /** Called every `everyMs` with a summary of the observation until then. */
  summary?: { everyMs: number; onSummary(summary: ObserverSummary): void }
}

/** The number of clusters that are opened and listed at once. */
const OPENED_AT_ONCE = 8

/** Observes until the signal, and resolves with a summary. Rejects where the first try to open fails for all clusters. */
export async function observeClusters(ports: ObservePorts): Promise<ObserverSummary> {
  const { clusters, allNamespaces, loadBalancers, clock, random, graceMs, pollMs, onEvent, onTold, onLease, summary } = ports
  const ending = new AbortController()
  const signal = AbortSignal.any([ports.signal, ending.signal])
  const instant = createInstants(clock)
  const startedAt = instant()
  const { onLag, onWrite } = ports
  const names = clusters.map(({ name }) => name)
  const observer = createObserver({ clusters: names, allNamespaces, graceMs, startedAt }, { onLag, onWrite })
  const failures: unknown[] = []
  let due: unknown
  let summing: unknown

  function take(event: ObservedEvent): void {
    onEvent?.(event)
    tell(observer.take(event))
  }

  function tell(all: readonly Told[]): void {
    for (const one of all) onTold(one)
    wakeLater()
  }

  /** Findings that are due are told at their time, without an event. */
  function wakeLater(): void {
    clock.clearTimeout(due)
    const nextAt = observer.nextAt()
    if (nextAt === undefined || signal.aborted) return
    due = clock.setTimeout(() => tell(observer.advance(instant())), Math.max(1, nextAt - instant()))
  }

  function sumLater(): void {
    if (summary === undefined) return
    summing = clock.setTimeout(() => {
      summary.onSummary(observer.summary())
      sumLater()
    }, summary.everyMs)
  }

  function lookNow<Seen>(look: () => Seen): Seen {
    tell(observer.advance(instant()))
    return look()
  }

  ports.onStart?.(startedAt, { snapshot: () => lookNow(observer.snapshot), summary: () => lookNow(observer.summary) })
  sumLater()
  const bound = createBound(OPENED_AT_ONCE)
  const watches = clusters.map((one) =>
    observeCluster(one, {
      bound,
      clock,
      random,
      signal,
      emit: (event) => take({ ...event, at: instant(), cluster: one.name } as ObservedEvent),
      emitLease: onLease && ((change) => onLease({ ...change, at: instant(), cluster: one.name } as LeaseChange)),
      failed(error) {
        failures.push(error)
        if (failures.length === clusters.length) ending.abort()
      },
    }),
  )
  // A load balancer is asked for the entries of pods: before the pods are known, such an entry would look new later.
  const podsKnown = Promise.all(watches.map((one) => one.podsKnown))
  const polls = loadBalancers.map(async (one) => {
    await podsKnown
    await pollLoadBalancer(one, {
      clock,
      signal,
      everyMs: pollMs,
      listeners: () => watches.flatMap(({ listeners }) => listeners()),
      emit: (event) => take({ ...event, at: instant(), loadBalancer: one.name } as ObservedEvent),
    })
  })
  try {
    await Promise.all([...watches.map(({ ended }) => ended), ...polls])
  } finally {
    clock.clearTimeout(due)
    clock.clearTimeout(summing)
  }
  if (ending.signal.aborted) throw failures[0]
  take({ at: instant(), type: 'end' })
  clock.clearTimeout(due)
  return observer.summary()
}
