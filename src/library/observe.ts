import { createLoadBalancers } from '../config/create-load-balancers.ts'
import { withinRates } from '../engine/traffic/call-budget.ts'
import type { ObservedEvent } from '../observer/events.ts'
import { replayEvents } from '../observer/replay.ts'
import { observeClusters } from '../observer/read/observe.ts'
import type { ObserverOptions } from '../observer/observer.ts'
import type { ObserverSummary, Told } from '../observer/told.ts'
import { systemClock, systemRandom } from '../ports/system.ts'
import { KINDS } from '../workloads/kinds/index.ts'
import type { ObserveOptions } from './observe-options.ts'
import { observeOptions } from './request/observe-options.ts'
import { RequestError } from './request/request-error.ts'
import { parseNamespace } from './request/parse-choice.ts'
import { assertShape } from './request/parsed.ts'

const DEFAULTS = { graceMs: 10_000, pollMs: 2_000 }

/**
 * Watches pods, nodes, Services and endpoints of the clusters, and the load balancers, until the signal. Writes nothing. Objects that
 * cannot be read are a finding. Resolves with a summary. Rejects with a RequestError for wrong options, and with the first error of
 * `connect` where that rejects for all clusters.
 */
export async function observe(options: ObserveOptions): Promise<ObserverSummary> {
  assertShape(observeOptions, options, 'options')
  const { clusters, config, namespace, allNamespaces = false, signal, onTold, onStart, onEvent, summary } = options
  const { onLag, onWrite, onLease } = options
  const { graceMs = DEFAULTS.graceMs, pollMs = DEFAULTS.pollMs, clock = systemClock, random = systemRandom } = options
  const names = clusters.map(({ name }) => name)
  if (names.length === 0 || new Set(names).size < names.length)
    throw new RequestError([
      { field: 'clusters', message: 'it has none, or two of one name', hint: 'give each cluster a name of its own' },
    ])
  if (allNamespaces && namespace !== undefined)
    throw new RequestError([{ field: 'allNamespaces', message: 'it excludes a namespace', hint: 'give one of them' }])
  const namespaceIn = (home: string) =>
    allNamespaces
      ? {}
      : { namespace: parseNamespace(namespace === undefined ? {} : { namespace }, { namespace: home, kinds: KINDS }) }
  // A wrong namespace is refused before anything is asked.
  for (const { cluster } of clusters) namespaceIn(cluster?.namespace ?? 'default')
  const observed = clusters.map(({ name, cluster, connect, managerMetrics }) => ({
    name,
    async open(until: AbortSignal) {
      const opened = cluster ?? (await connect!(until))
      const manager = managerMetrics && opened.other?.(managerMetrics.url, managerMetrics)
      return {
        client: opened.client,
        ...namespaceIn(opened.namespace),
        ...(manager && { managerMetrics: () => manager.read() }),
        async close() {
          await Promise.all([manager?.close(), cluster === undefined && opened.close()])
        },
      }
    },
  }))
  // An observation writes nothing, so that the load balancers need no lock.
  const created = config === undefined ? [] : createLoadBalancers(config).map(({ lock: _lock, ...one }) => one)
  try {
    return await observeClusters({
      clusters: observed,
      allNamespaces,
      loadBalancers: withinRates(created, clock),
      clock,
      random,
      graceMs,
      pollMs,
      signal,
      onTold,
      onStart: (startedAt, look) => onStart?.({ clusters: names, allNamespaces, graceMs, startedAt }, look),
      onLag,
      onWrite,
      onLease,
      ...(onEvent && { onEvent }),
      ...(summary && { summary }),
    })
  } finally {
    await Promise.allSettled(created.map(({ adapter }) => adapter.close()))
  }
}

/** Makes the changes, findings and summary of recorded events, which are equal to those of the observation. */
export function replayObservation(
  options: ObserverOptions,
  events: AsyncIterable<ObservedEvent> | Iterable<ObservedEvent>,
  onTold: (told: Told) => void,
): Promise<ObserverSummary> {
  return replayEvents(options, events, onTold)
}
