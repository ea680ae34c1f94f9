import { z } from 'zod'
import type { Config } from '../config/config.ts'
import { createLoadBalancers } from '../config/create-load-balancers.ts'
import { withinRates } from '../engine/traffic/call-budget.ts'
import type { ObservedEvent } from '../observer/events.ts'
import { replayEvents } from '../observer/replay.ts'
import { observeClusters } from '../observer/read/observe.ts'
import type { ObserverOptions } from '../observer/observer.ts'
import type { ObserverSummary, Told } from '../observer/told.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import { systemClock, systemRandom } from '../ports/system.ts'
import type { Cluster } from './cluster.ts'
import { RequestError } from './request/request-error.ts'
import { assertShape } from './request/parsed.ts'

export interface ObserveOptions {
  /** With the names that they are told by. Whoever has connected them closes them. */
  clusters: readonly { name: string; cluster: Cluster }[]
  /** Its load balancers are read, and no call changes them. Default: none. */
  config?: Config
  /** Default: that of each cluster. */
  namespace?: string
  /** In place of one namespace. */
  allNamespaces?: boolean
  /** For so long a difference is no finding. Default: 10 s. */
  graceMs?: number
  /** Between two reads of a load balancer. Default: 2 s. */
  pollMs?: number
  /** Ends it. */
  signal: AbortSignal
  /** Told of each change and each finding, in the order of their instants. */
  onTold(told: Told): void
  /** Told of what is observed, once, and then of each event: what `replayObservation` takes. */
  onStart?(options: ObserverOptions): void
  onEvent?(event: ObservedEvent): void
  /** Told of a summary of what there is until now, so often. */
  summary?: { everyMs: number; onSummary(summary: ObserverSummary): void }
  /** For tests alone. */
  clock?: Clock
  random?: Random
}

const DEFAULTS = { graceMs: 10_000, pollMs: 2_000 }

const ms = z.number().int().positive().optional()
const Numbers = z.object({ graceMs: ms, pollMs: ms })

/**
 * Watches pods, nodes, Services and their endpoints in these clusters, and the load balancers, until the signal. Reads, and writes nothing.
 * What cannot be read is a finding. Resolves with a summary; rejects with a RequestError for options that cannot be.
 */
export async function observe(options: ObserveOptions): Promise<ObserverSummary> {
  const { clusters, config, namespace, allNamespaces = false, signal, onTold, onStart, onEvent, summary } = options
  const { graceMs = DEFAULTS.graceMs, pollMs = DEFAULTS.pollMs, clock = systemClock, random = systemRandom } = options
  assertShape(Numbers, { graceMs: options.graceMs, pollMs: options.pollMs }, 'options')
  const names = clusters.map(({ name }) => name)
  if (names.length === 0 || new Set(names).size < names.length)
    throw new RequestError([
      { field: 'clusters', message: 'it has none, or two of one name', hint: 'give each cluster a name of its own' },
    ])
  // Nothing is written, so that no lock is needed.
  const created = config === undefined ? [] : createLoadBalancers(config).map(({ lock: _lock, ...one }) => one)
  try {
    return await observeClusters({
      clusters: clusters.map(({ name, cluster }) => ({
        name,
        client: cluster.client,
        ...(allNamespaces ? {} : { namespace: namespace ?? cluster.namespace }),
      })),
      loadBalancers: withinRates(created, clock),
      clock,
      random,
      graceMs,
      pollMs,
      signal,
      onTold,
      onStart: (startedAt) => onStart?.({ clusters: names, allNamespaces, graceMs, startedAt }),
      ...(onEvent && { onEvent }),
      ...(summary && { summary }),
    })
  } finally {
    await Promise.allSettled(created.map(({ adapter }) => adapter.close()))
  }
}

/** What these events come to: the same changes, findings and summary as when they were observed. */
export function replayObservation(
  options: ObserverOptions,
  events: AsyncIterable<ObservedEvent> | Iterable<ObservedEvent>,
  onTold: (told: Told) => void,
): Promise<ObserverSummary> {
  return replayEvents(options, events, onTold)
}
