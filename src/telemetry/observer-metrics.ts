import type { Measured, Written } from '../observer/context.ts'
import type { CONTROL_PLANE_PARTS } from '../observer/events.ts'
import type { LeaseChange, ObserverFinding, ObserverSnapshot, Told } from '../observer/told.ts'
import { createMetrics, type Sample } from './create-metrics.ts'
import type { LabelValues } from './labels.ts'

/** The metrics of an observation. */
export interface ObserverMetrics {
  onTold(told: Told): void
  onLag(of: Measured, lagMs: number): void
  onWrite(of: Written): void
  onLease(change: LeaseChange): void
  contentType: string
  /** Returns all metrics in the text format of Prometheus. */
  text(): Promise<string>
}

type OfFinding = Pick<LabelValues, 'cluster' | 'namespace' | 'code'>

/** `look` returns the state at the instant of a scrape. */
export function createObserverMetrics(look: () => ObserverSnapshot): ObserverMetrics {
  const metrics = createMetrics('observe')
  /** The last renewal of the Lease of each part that was seen. */
  const renewedAt = new Map<string, { cluster: string; part: (typeof CONTROL_PLANE_PARTS)[number]; at: number }>()

  function update({ at, clusters, loadBalancers, findings, backlogs }: ObserverSnapshot): void {
    metrics.replace(
      'sluice_cluster_up',
      clusters.flatMap(({ name, is }) =>
        // A cluster that is being listed is not known to be up or down.
        is === 'listing' ? [] : [{ labels: { cluster: name }, value: is === 'observed' ? 1 : 0 }],
      ),
    )
    metrics.replace(
      'sluice_load_balancer_up',
      loadBalancers.map(({ name, isRead }) => ({ labels: { load_balancer: name }, value: isRead ? 1 : 0 })),
    )
    metrics.replace('sluice_findings', counted(findings.map(({ finding }) => labelsOf(finding))))
    metrics.replace(
      'sluice_endpoint_backlog_services',
      backlogs.map(({ cluster, object, services }) => ({ labels: { cluster, object }, value: services })),
    )
    metrics.replace(
      'sluice_endpoint_backlog_oldest_seconds',
      backlogs.map(({ cluster, object, oldestMs }) => ({ labels: { cluster, object }, value: oldestMs / 1000 })),
    )
    metrics.replace(
      'sluice_control_plane_lease_age_seconds',
      [...renewedAt.values()].map(({ cluster, part, at: last }) => ({ labels: { cluster, part }, value: (at - last) / 1000 })),
    )
  }

  return {
    onTold(told) {
      if (told.type !== 'finding') return
      const { finding, at } = told
      // The end of a finding does not move the instant of its beginning.
      if ('isOver' in finding && finding.isOver) return
      metrics.set('sluice_finding_begun_timestamp_seconds', labelsOf(finding), at / 1000)
    },
    onLag: ({ cluster, leg }, lagMs) => metrics.observe('sluice_endpoint_lag_seconds', { cluster, leg }, lagMs / 1000),
    onWrite: ({ cluster, object, effect }) => metrics.add('sluice_endpoint_writes_total', { cluster, object, effect }),
    onLease(change) {
      const { cluster, at } = change
      switch (change.type) {
        case 'node-renewed':
          return metrics.observe('sluice_node_heartbeat_gap_seconds', { cluster }, change.gapMs / 1000)
        case 'part-renewed':
          return void renewedAt.set(`${cluster}/${change.part}`, { cluster, part: change.part, at })
        case 'part-unknown':
          renewedAt.delete(`${cluster}/${change.part}`)
      }
    },
    contentType: metrics.contentType,
    text() {
      update(look())
      return metrics.text()
    },
  }
}

function labelsOf(finding: ObserverFinding): OfFinding {
  return {
    cluster: 'cluster' in finding ? finding.cluster : '',
    namespace: 'namespace' in finding ? finding.namespace : '',
    code: finding.code,
  }
}

function counted(all: readonly OfFinding[]): Sample<'sluice_findings'>[] {
  const groups = Map.groupBy(all, ({ cluster, namespace, code }) => JSON.stringify([cluster, namespace, code]))
  return [...groups.values()].map((own) => ({ labels: own[0]!, value: own.length }))
}
