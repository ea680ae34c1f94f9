import type { LabelName } from './labels.ts'

export type MetricType = 'gauge' | 'counter' | 'histogram'

export interface MetricDefinition {
  readonly type: MetricType
  readonly labels: readonly LabelName[]
  /** The meaning of the metric, in one line for people. */
  readonly help: string
  /** The upper bounds of the buckets of a histogram. */
  readonly buckets?: readonly number[]
}

/** In seconds: from a controller that follows at once to a backlog of minutes. */
const LAG_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]
/** In seconds. A kubelet renews its Lease every 10 s, and its node counts as lost after 50 s (40 s before Kubernetes 1.32). */
const HEARTBEAT_BUCKETS = [5, 10, 12, 15, 20, 25, 30, 40, 50, 60, 120, 300]

/** In seconds: a decision takes a millisecond or two, and is cut off after one second. */
const ADMISSION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]

/** All metrics of sluice. The exporter, the rules in deploy/alerts, the dashboard and docs/metrics.md use this list. */
export const METRICS = {
  sluice_cluster_up: {
    type: 'gauge',
    labels: ['cluster'],
    help: 'Whether the API server of the cluster answers: 1 or 0.',
  },
  sluice_load_balancer_up: {
    type: 'gauge',
    labels: ['load_balancer'],
    help: 'Whether the load balancer answers: 1 or 0.',
  },
  sluice_findings: {
    type: 'gauge',
    labels: ['cluster', 'namespace', 'code'],
    help: 'Findings that hold now.',
  },
  sluice_finding_begun_timestamp_seconds: {
    type: 'gauge',
    labels: ['cluster', 'namespace', 'code'],
    help: 'When a finding has last begun, in seconds since 1970: also one that is over before Prometheus looks.',
  },
  sluice_endpoint_lag_seconds: {
    type: 'histogram',
    labels: ['cluster', 'leg'],
    help: 'From a change to the one that follows it, on each leg of the way from a pod to a load balancer.',
    buckets: LAG_BUCKETS,
  },
  sluice_endpoint_writes_total: {
    type: 'counter',
    labels: ['cluster', 'object', 'effect'],
    help: 'Writes of Endpoints and EndpointSlices that were seen. A sweep is many that change nothing.',
  },
  sluice_endpoint_backlog_services: {
    type: 'gauge',
    labels: ['cluster', 'object'],
    help: 'Services whose endpoints are not yet what their pods ask for.',
  },
  sluice_endpoint_backlog_oldest_seconds: {
    type: 'gauge',
    labels: ['cluster', 'object'],
    help: 'For how long the first of these Services waits.',
  },
  sluice_node_heartbeat_gap_seconds: {
    type: 'histogram',
    labels: ['cluster'],
    help: 'Between two renewals of the Lease of a node.',
    buckets: HEARTBEAT_BUCKETS,
  },
  sluice_control_plane_lease_age_seconds: {
    type: 'gauge',
    labels: ['cluster', 'part'],
    help: 'Since the leader of a part of the control plane has renewed its Lease.',
  },
  sluice_sync_leader: {
    type: 'gauge',
    labels: [],
    help: 'Whether this replica of sluice sync leads, and writes: 1 or 0.',
  },
  sluice_sync_cluster_up: {
    type: 'gauge',
    labels: ['cluster'],
    help: 'Whether a source, or the access cluster (`access`), is followed: 1 or 0.',
  },
  sluice_sync_copies: {
    type: 'gauge',
    labels: ['cluster', 'state'],
    help: 'Endpoints of a source in the access cluster. `upgrading`: those that an upgrade has out of rotation, which are not ready either.',
  },
  sluice_sync_pending_services: {
    type: 'gauge',
    labels: [],
    help: 'Services whose copies are not yet what was decided.',
  },
  sluice_sync_pending_oldest_seconds: {
    type: 'gauge',
    labels: [],
    help: 'For how long the first of these Services waits.',
  },
  sluice_sync_lag_seconds: {
    type: 'histogram',
    labels: ['cluster', 'sync_leg'],
    help: 'The way of a change from a source into the access cluster, leg by leg. `seen-accepted` is the way from the instant at which sync has seen the change.',
    buckets: LAG_BUCKETS,
  },
  sluice_sync_writes_total: {
    type: 'counter',
    labels: ['cluster', 'write'],
    help: 'Copies that were written into the access cluster, by their source.',
  },
  sluice_sync_write_failures_total: {
    type: 'counter',
    labels: ['cluster'],
    help: 'Writes into the access cluster that have failed, by the source of the copies. Each is tried again.',
  },
  sluice_sync_put_right_total: {
    type: 'counter',
    labels: ['cluster'],
    help: 'Copies that another writer has changed or deleted, and that sync has put right.',
  },
  sluice_sync_problems: {
    type: 'gauge',
    labels: ['namespace', 'problem'],
    help: 'Problems of Services and sources that hold now. Problems of a source have no namespace.',
  },
  sluice_sync_clock_offset_seconds: {
    type: 'gauge',
    labels: ['cluster'],
    help: 'The clock of the API server of a source minus that of sluice sync.',
  },
  sluice_webhook_requests_total: {
    type: 'counter',
    labels: ['result'],
    help: 'Requests of the API server, by what became of them. Each write is allowed; `changed` ones were changed by rules.',
  },
  sluice_webhook_request_duration_seconds: {
    type: 'histogram',
    labels: ['result'],
    help: 'From the arrival of a request to its answer.',
    buckets: ADMISSION_BUCKETS,
  },
  sluice_webhook_pod_waits_total: {
    type: 'counter',
    labels: ['wait'],
    help: 'Requests that had a pod otherwise than the webhook had seen it: those that waited until it was `seen` so or the wait `timed-out`, and `crowded` ones that did not wait, since too many did.',
  },
  sluice_webhook_decisions_total: {
    type: 'counter',
    labels: ['rule', 'rule_effect'],
    help: 'Endpoints about which a rule has decided, again with each write of their object. In mode `audit` they are counted, and nothing is changed.',
  },
  sluice_webhook_failed_rules_total: {
    type: 'counter',
    labels: ['rule'],
    help: 'Endpoints for which a rule could not be evaluated. It counts as not applying.',
  },
  sluice_webhook_rules_accepted_timestamp_seconds: {
    type: 'gauge',
    labels: ['version'],
    help: 'When the rules in force were accepted, in seconds since 1970. No series where none are.',
  },
  sluice_webhook_rules_unconfirmed_seconds: {
    type: 'gauge',
    labels: [],
    help: 'For how long the source has not shown the rules in force: it is away, or shows what cannot be used.',
  },
  sluice_webhook_rules_problem: {
    type: 'gauge',
    labels: ['rules_problem'],
    help: 'What is wrong with the source of the rules or with their cache: 1. No series where the source shows the rules in force, and no others.',
  },
  sluice_webhook_leader: {
    type: 'gauge',
    labels: [],
    help: 'Whether this replica of the webhook leads, and looks again at stored objects: 1 or 0.',
  },
  sluice_webhook_touches_total: {
    type: 'counter',
    labels: [],
    help: 'Writes of second looks, by which an object that is stored otherwise than the rules want it is rewritten.',
  },
  sluice_webhook_failed_touches_total: {
    type: 'counter',
    labels: [],
    help: 'Writes of second looks that the API server has refused or not answered.',
  },
  sluice_webhook_wrong_objects: {
    type: 'gauge',
    labels: [],
    help: 'Objects that are stored otherwise than the rules want them, as the replica that leads has seen them last. Where no rule decides, objects that rules have altered before.',
  },
  sluice_webhook_stuck_objects: {
    type: 'gauge',
    labels: [],
    help: 'Objects among the wrong ones that several touches have not made right: another webhook, a rule that flips, or writes that are refused.',
  },
  sluice_webhook_unjudged_endpoints: {
    type: 'gauge',
    labels: [],
    help: 'Endpoints about which a rule decides by facts of the request, so that they are not looked at again.',
  },
  sluice_webhook_certificate_end_timestamp_seconds: {
    type: 'gauge',
    labels: [],
    help: 'When the certificate in use ends, in seconds since 1970.',
  },
} as const satisfies Record<string, MetricDefinition>

export type MetricName = keyof typeof METRICS
export type MetricNameOf<Type extends MetricType> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never
}[MetricName]

/** The beginnings of the names of the commands with metrics of their own. All other metrics belong to `sluice observe`. */
const PREFIXES = { sync: 'sluice_sync_', webhook: 'sluice_webhook_' } as const

/** The command that exports a metric. A process exports those of its command alone: a gauge without labels would say 0 in the others. */
export type MetricsCommand = 'observe' | keyof typeof PREFIXES

export function commandOf(metric: string): MetricsCommand {
  const found = (Object.keys(PREFIXES) as (keyof typeof PREFIXES)[]).find((command) => metric.startsWith(PREFIXES[command]))
  return found ?? 'observe'
}
