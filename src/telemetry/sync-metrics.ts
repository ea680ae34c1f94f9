import type { LagLegs, SyncEvent, SyncSnapshot } from '../sync/sync-run.ts'
import { createMetrics, type Sample } from './create-metrics.ts'

/** The metrics of a sync. */
export interface SyncMetrics {
  onEvent(event: SyncEvent): void
  contentType: string
  /** Returns all metrics in the text format of Prometheus. */
  text(): Promise<string>
}

/** The access cluster has this name among the clusters. */
const ACCESS = 'access'

/** `look` returns the state at the instant of a scrape, or undefined before there is one. */
export function createSyncMetrics(look: () => SyncSnapshot | undefined): SyncMetrics {
  const metrics = createMetrics('sync')

  function update({ isLeader, access, sources, services }: SyncSnapshot): void {
    metrics.set('sluice_sync_leader', {}, isLeader ? 1 : 0)
    metrics.replace(
      'sluice_sync_cluster_up',
      [{ name: ACCESS, is: access.is }, ...sources].flatMap(({ name, is }) =>
        // A cluster that is being listed is not known to be up or down.
        is === 'listing' ? [] : [{ labels: { cluster: name }, value: is === 'current' ? 1 : 0 }],
      ),
    )
    metrics.replace(
      'sluice_sync_clock_offset_seconds',
      sources.flatMap(({ name, clock }) =>
        clock === undefined ? [] : [{ labels: { cluster: name }, value: clock.offsetMs / 1000 }],
      ),
    )
    metrics.replace('sluice_sync_copies', copies(services))
    const waits = services.flatMap(({ isPending, pendingForMs = 0 }) => (isPending ? [pendingForMs] : []))
    metrics.set('sluice_sync_pending_services', {}, waits.length)
    metrics.set('sluice_sync_pending_oldest_seconds', {}, Math.max(0, ...waits) / 1000)
    metrics.replace('sluice_sync_problems', problems({ sources, services }))
  }

  function measure(cluster: string, { sourceMs, decideMs, sendMs, acceptMs }: LagLegs): void {
    const legs = {
      ...(sourceMs !== undefined && { 'stated-seen': sourceMs }),
      'seen-decided': decideMs,
      'decided-sent': sendMs,
      'sent-accepted': acceptMs,
      'seen-accepted': decideMs + sendMs + acceptMs,
    } as const
    for (const [leg, ms] of Object.entries(legs) as [keyof typeof legs, number][])
      metrics.observe('sluice_sync_lag_seconds', { cluster, sync_leg: leg }, ms / 1000)
  }

  return {
    onEvent(event) {
      switch (event.type) {
        case 'written':
          metrics.add('sluice_sync_writes_total', { cluster: event.source, write: event.effect })
          if (event.lag !== undefined) measure(event.source, event.lag)
          return
        case 'write-failed':
          return metrics.add('sluice_sync_write_failures_total', { cluster: event.source })
        case 'put-right':
          return metrics.add('sluice_sync_put_right_total', { cluster: event.source })
        default:
          // The snapshot has the rest.
          return
      }
    },
    contentType: metrics.contentType,
    text() {
      const snapshot = look()
      if (snapshot !== undefined) update(snapshot)
      return metrics.text()
    },
  }
}

function copies(services: SyncSnapshot['services']): Sample<'sluice_sync_copies'>[] {
  const bySource = Map.groupBy(
    services.flatMap((service) => service.sources),
    ({ source }) => source,
  )
  return [...bySource].flatMap(([cluster, own]) => {
    const sum = (of: (one: (typeof own)[number]) => number): number => own.reduce((all, one) => all + of(one), 0)
    const upgrading = sum((one) => one.upgrading)
    const ready = sum((one) => one.ready)
    return [
      { labels: { cluster, state: 'ready' as const }, value: ready },
      { labels: { cluster, state: 'not-ready' as const }, value: sum((one) => one.endpoints) - ready - upgrading },
      { labels: { cluster, state: 'upgrading' as const }, value: upgrading },
    ]
  })
}

function problems({ sources, services }: Pick<SyncSnapshot, 'sources' | 'services'>): Sample<'sluice_sync_problems'>[] {
  const all = [
    ...sources.flatMap((source) => source.problems.map(({ code }) => ({ namespace: '', problem: code }))),
    ...services.flatMap(({ namespace, problems: own }) => own.map(({ code }) => ({ namespace, problem: code }))),
  ]
  const groups = Map.groupBy(all, ({ namespace, problem }) => JSON.stringify([namespace, problem]))
  return [...groups.values()].map((own) => ({ labels: own[0]!, value: own.length }))
}
