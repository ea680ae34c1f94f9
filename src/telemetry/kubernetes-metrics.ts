import type { MetricType } from './metric-list.ts'

export interface KubernetesMetric {
  readonly type: MetricType
  readonly labels: readonly string[]
  /** The programs that export the metric. The rules of deploy/alerts use each name as the label `job`. */
  readonly jobs: readonly ('apiserver' | 'kube-controller-manager' | 'kube-scheduler')[]
  readonly help: string
}

/** The metrics of Kubernetes that the rules and the dashboard use, as in the sources of Kubernetes 1.32 to 1.37. */
export const KUBERNETES_METRICS = {
  apiserver_request_total: {
    type: 'counter',
    labels: ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component', 'code'],
    jobs: ['apiserver'],
    help: 'Requests that the API server has answered. `verb` is PUT, PATCH, POST, …',
  },
  endpoint_slice_controller_changes: {
    type: 'counter',
    labels: ['operation'],
    jobs: ['kube-controller-manager'],
    help: 'EndpointSlices that their controller has created, updated or deleted.',
  },
  leader_election_master_status: {
    type: 'gauge',
    labels: ['name'],
    jobs: ['kube-controller-manager', 'kube-scheduler'],
    help: '1 at the leader, 0 at the others. Absent without `--leader-elect`.',
  },
  node_collector_unhealthy_nodes_in_zone: {
    type: 'gauge',
    labels: ['zone'],
    jobs: ['kube-controller-manager'],
    help: 'Nodes that are not Ready, as the leader has them.',
  },
  node_collector_zone_size: {
    type: 'gauge',
    labels: ['zone'],
    jobs: ['kube-controller-manager'],
    help: 'Nodes, as the leader has them.',
  },
  rest_client_rate_limiter_duration_seconds: {
    type: 'histogram',
    labels: ['verb', 'host'],
    jobs: ['kube-controller-manager'],
    help: 'How long requests of the controllers wait for their own limit (`kube-api-qps`).',
  },
  rest_client_requests_total: {
    type: 'counter',
    labels: ['code', 'method', 'host'],
    jobs: ['kube-controller-manager'],
    help: 'Requests of all controllers of the process.',
  },
  workqueue_depth: {
    type: 'gauge',
    labels: ['name'],
    jobs: ['kube-controller-manager'],
    help: 'Services that wait in the queue: `endpoint` is that of Endpoints, `endpoint_slice` that of EndpointSlices.',
  },
  workqueue_queue_duration_seconds: {
    type: 'histogram',
    labels: ['name'],
    jobs: ['kube-controller-manager'],
    help: 'How long they wait. The last bucket but +Inf is 10 s.',
  },
} as const satisfies Record<string, KubernetesMetric>
