import type { LoadBalancer } from '../../engine/request.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import type { ObservedEvent } from '../events.ts'
import { createObserver } from '../observer.ts'
import type { ObserverSummary, Told } from '../told.ts'
import { createInstants } from './clock.ts'
import { pollLoadBalancer } from './poll-load-balancers.ts'
import { watchCluster } from './watch-cluster.ts'

export interface ObservedCluster {
  name: string
  client: KubeClient
  /** Absent: all namespaces. */
  namespace?: string
}

export interface ObservePorts {
  clusters: readonly ObservedCluster[]
  loadBalancers: readonly LoadBalancer[]
  clock: Clock
  random: Random
  graceMs: number
  pollMs: number
  /** Ends it. */
  signal: AbortSignal
  onStart?(startedAt: number): void
  /** Told of each event before what it comes to. */
  onEvent?(event: ObservedEvent): void
  onTold(told: Told): void
  /** With a summary of what there is until now, so often. */
  summary?: { everyMs: number; onSummary(summary: ObserverSummary): void }
}

/** Observes until the signal. Resolves with what it has come to. */
export async function observeClusters(ports: ObservePorts): Promise<ObserverSummary> {
  const { clusters, loadBalancers, clock, random, graceMs, pollMs, signal, onEvent, onTold, summary } = ports
  const instant = createInstants(clock)
  const startedAt = instant()
  const allNamespaces = clusters.every(({ namespace }) => namespace === undefined)
  const observer = createObserver({ clusters: clusters.map(({ name }) => name), allNamespaces, graceMs, startedAt })
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

  /** What is due is found without an event too. */
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

  ports.onStart?.(startedAt)
  sumLater()
  const watches = clusters.map(({ name, client, namespace }) =>
    watchCluster(namespace, {
      client,
      clock,
      random,
      signal,
      emit: (event) => take({ ...event, at: instant(), cluster: name } as ObservedEvent),
    }),
  )
  // A load balancer is asked for pods: what they add to its entries is no change of it.
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
    // Nothing more comes, but for what is due: a cluster without rights is waited out.
    if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  } finally {
    clock.clearTimeout(due)
    clock.clearTimeout(summing)
  }
  take({ at: instant(), type: 'end' })
  clock.clearTimeout(due)
  return observer.summary()
}
