import type { Advice } from '../reasons/advice.ts'
import type { NoFields } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'

/** A webhook, with the kind and name of its configuration. */
export interface OfWebhook {
  kind: 'ValidatingWebhookConfiguration' | 'MutatingWebhookConfiguration'
  configuration: string
  webhook: string
  /** The names of the matchConditions. sluice does not evaluate them, so the webhook may be called for fewer objects. */
  conditions?: string[]
}

/** A Service. */
export interface OfService {
  namespace: string
  service: string
}

/** A load balancer, by its name in the config. */
export interface OfLoadBalancer {
  loadBalancer: string
}

/** An entry of a load balancer, and the pod that it belongs to. */
export interface OfEntry extends OfLoadBalancer {
  target: string
  namespace: string
  pod: string
  /** The detail that the adapter reports. */
  said?: string
}

/** A workload, such as `statefulset/web`, or a pod without an owner. */
export interface OfWorkload {
  namespace: string
  workload: string
}

/** A PodDisruptionBudget. */
export interface OfBudget {
  namespace: string
  budget: string
}

/** The findings about the cluster itself. */
export interface ClusterFindings {
  'api-unreachable': { because: Reason }
  /** `rights` are verbs with resources, such as `patch pods/status`. */
  'rights-missing': { namespace: string; rights: string[] }
  /** The clock of this machine is ahead of the clock of the API server; `aheadMs` is below 0 where it is behind. */
  'clock-differs': { aheadMs: number; uncertaintyMs: number }
  'version-untested': { version: string; from: string; to: string }
  /** A kubelet is newer than the API server, or older by more than three minor versions. */
  'kubelet-version-apart': { version: string; nodes: { node: string; version: string }[] }
  /** The webhook may turn an update of Endpoints into no change. Their controller then never writes the object again. */
  'webhook-freeze': { version: string; fixedIn: string; webhooks: OfWebhook[] }
  /** `resources` are those of pods, endpoints and endpointslices that the webhook is called for. */
  'webhook-fails-closed': OfWebhook & { resources: string[]; timeoutMs: number }
  /** The webhook fails closed, and its Service, `NAMESPACE/NAME`, has no ready endpoint: the API server refuses each such write now. */
  'webhook-without-server': OfWebhook & { resources: string[]; service: string }
  /** The webhook fails closed, and is called for pods or endpoints in the namespace of its own server. */
  'webhook-locks-itself-out': OfWebhook & { resources: string[]; namespace: string }
  /**
   * The webhook fails open, and is called in the namespace of its own server. Each such call waits
   * for the timeout while the server is down.
   */
  'webhook-on-own-namespace': OfWebhook & { resources: string[]; namespace: string; timeoutMs: number }
}

/** The findings about nodes and the control plane. */
export interface ControlPlaneFindings {
  /** The Lease of a node is older than half of the grace period. */
  'heartbeat-late': { node: string; ageMs: number; graceMs: number }
  'heartbeat-missed': { node: string; ageMs: number; graceMs: number }
  /** The grace period is shorter than the duration `leaseMs` of the Leases of these nodes, so fewer heartbeats fit into it. */
  'grace-period-short': { graceMs: number; leaseMs: number; nodes: string[] }
  /** The last renewal of the Lease of a node is in the future by the clock of the API server. */
  'node-clock-ahead': { node: string; aheadMs: number }
  /**
   * The Lease of a node was renewed while the doctor watched, with an instant that is at least `behindMs` in the past by the clock of
   * the API server.
   */
  'node-clock-behind': { node: string; behindMs: number }
  /**
   * `status` is that of condition Ready: `False`, `Unknown` where the kubelet does not report, or `missing`. `forMs` is the time since
   * its last change.
   */
  'node-not-ready': { node: string; status: string; reason?: string; forMs?: number }
  /** Events tell that the node controller has set the pods of the node to not ready. The kubelet reports again. */
  'node-was-silent': { node: string; times: number; lastAt: string; graceMs: number }
  'control-plane-part-silent': { part: ControlPlanePart; holder?: string; ageMs: number; leaseMs: number }
  /** These pods have no node, and no condition in which a scheduler says why. */
  'pods-without-scheduler': { pods: string[]; oldestMs: number }
  /** These Services have no EndpointSlice, not even an empty one. */
  'services-without-controller': { services: string[]; oldestMs: number }
  'endpoint-controller-slow': { lagMs: number; namespace: string }
  'endpoint-controller-stuck': { waitedMs: number; namespace: string }
  'probe-refused': { namespace: string; because: Reason }
  /** The probe Service could not be removed. */
  'probe-left': OfService & { because: Reason }
}

export type ControlPlanePart = 'kube-scheduler' | 'kube-controller-manager'

/** The findings about Services and their endpoints. */
export interface ServiceFindings {
  /** Another writer than the controller keeps a slice of a Service with a selector. */
  'foreign-slice': OfService & { slice: string; managedBy: string; addresses: string[] }
  /** The Endpoints of a Service with a selector have addresses of another writer, which the controller removes at its next sync. */
  'endpoints-by-hand': OfService & { by: string; at?: string; addresses: string[] }
  'selectorless-without-endpoints': OfService & { type: string }
  /** These labels differ by the comparison of the controller, which therefore writes the object at each sync. */
  'endpoints-labels-differ': OfService & { object: 'Endpoints' | 'EndpointSlice'; name: string; labels: LabelDifference[] }
}

/** A label that differs. `onService` or `onEndpoints` is absent where that object does not have the label. */
export interface LabelDifference {
  name: string
  onService?: string
  onEndpoints?: string
}

/** The findings about load balancers. */
export interface LoadBalancerFindings {
  'load-balancer-unreachable': OfLoadBalancer & { because: Reason }
  /** The load balancer answers with a refusal. A retry cannot help. */
  'load-balancer-refuses': OfLoadBalancer & { because: Reason }
  /** The config makes a drain or a restore of the target impossible. */
  'effect-impossible': OfLoadBalancer & { target: string; others: number; because: Reason }
  'lock-rights-missing': OfLoadBalancer & { namespace: string; rights: string[] }
  'lock-unreachable': OfLoadBalancer & { because: Reason }
  /** `inRotation` is absent where it is not known. */
  'server-without-pod': OfLoadBalancer & { target: string; address: string; inRotation?: boolean }
  /** The load balancer has entries for other pods of the workload. */
  'pod-without-server': OfLoadBalancer & { namespace: string; pod: string; workload: string; siblings: number; because: Reason }
  /** The pod is Ready, and its entry in rotation gets no requests. */
  'server-unhealthy': OfEntry
  /** The pod is not Ready, and its entry gets requests. */
  'server-of-unready-pod': OfEntry
}

/** The findings about workloads. */
export interface WorkloadFindings {
  /** `behind` are the load balancers and Services that send requests to the workload. */
  'no-readiness-probe': OfWorkload & { pods: number; containers: string[]; behind: string[] }
  /** A pod that fails becomes not ready only after `readinessMs`. The load balancer has taken it out after `healthMs`. */
  'readiness-probe-slow': OfWorkload & { container: string; readinessMs: number; loadBalancer: string; healthMs: number }
  /** `behind` are the load balancers that send requests to the pods. `hasRuns` is true where sluice has upgraded the workload before. */
  'rolling-update': OfWorkload & { strategy: string; behind: string[]; hasRuns: boolean }
  'budget-allows-nothing': OfBudget & { pods: number }
  'budget-used-up': OfBudget & { pods: number; healthy: number; wanted: number }
}

/** The findings about the records of sluice. */
export interface RecordFindings {
  /** No process works on the run of this pod. */
  'journal-open': { namespace: string; pod: string; workload: string; run: string; step: string; out: boolean | null }
  'pod-needs-operator': { namespace: string; pod: string; workload: string; run: string; because?: Reason; advice: Advice[] }
  'run-open': { namespace: string; workload: string; run: string; startedAt: string; ordered?: 'pause' | 'abort' }
  'record-unreadable': { namespace: string; run: string; because: Reason; advice: Advice[] }
  'records-unneeded': { namespace: string; records: { name: string; because: Reason }[] }
}

/** The fields of each finding, by its code. */
export interface FindingFields
  extends ClusterFindings, ControlPlaneFindings, ServiceFindings, LoadBalancerFindings, WorkloadFindings, RecordFindings {}

/** The codes of findings. They are a closed set that docs/doctor.md documents. */
export type FindingCode = keyof FindingFields

export type FindingOf<Code extends FindingCode> = { [C in Code]: { readonly code: C } & Readonly<FindingFields[C]> }[Code]

/** A finding is a code with its facts. `src/report/words` makes the English text, and no code reads it. */
export type Finding = FindingOf<FindingCode>

export type Severity = 'warning' | 'failed'

/** `failed` means that requests are or would be lost, or that an upgrade cannot run. `severityOf` makes a finding in doubt a warning. */
export const SEVERITY: Readonly<Record<FindingCode, Severity>> = {
  'api-unreachable': 'failed',
  'rights-missing': 'failed',
  'clock-differs': 'warning',
  'version-untested': 'warning',
  'kubelet-version-apart': 'warning',
  'webhook-freeze': 'failed',
  'webhook-fails-closed': 'warning',
  'webhook-without-server': 'failed',
  'webhook-locks-itself-out': 'failed',
  'webhook-on-own-namespace': 'warning',
  'grace-period-short': 'warning',
  'heartbeat-late': 'warning',
  'heartbeat-missed': 'failed',
  'node-clock-ahead': 'warning',
  'node-clock-behind': 'warning',
  'node-not-ready': 'failed',
  'node-was-silent': 'warning',
  'control-plane-part-silent': 'failed',
  'pods-without-scheduler': 'failed',
  'services-without-controller': 'failed',
  'endpoint-controller-slow': 'warning',
  'endpoint-controller-stuck': 'failed',
  'probe-refused': 'warning',
  'probe-left': 'warning',
  'foreign-slice': 'warning',
  'endpoints-by-hand': 'failed',
  'selectorless-without-endpoints': 'warning',
  'endpoints-labels-differ': 'warning',
  'load-balancer-unreachable': 'failed',
  'load-balancer-refuses': 'failed',
  'effect-impossible': 'failed',
  'lock-rights-missing': 'failed',
  'lock-unreachable': 'failed',
  'server-without-pod': 'warning',
  'pod-without-server': 'warning',
  'server-unhealthy': 'warning',
  'server-of-unready-pod': 'warning',
  'no-readiness-probe': 'warning',
  'readiness-probe-slow': 'warning',
  'rolling-update': 'warning',
  'budget-allows-nothing': 'warning',
  'budget-used-up': 'warning',
  'journal-open': 'warning',
  'pod-needs-operator': 'failed',
  'run-open': 'warning',
  'record-unreadable': 'failed',
  'records-unneeded': 'warning',
}

/**
 * The age at which a node that is not ready is a failure. By then, a node that restarts is back, and a
 * node that an autoscaler removes is gone.
 */
export const NODE_SETTLES_MS = 180_000

/** The severity of a finding. A finding that is in doubt, or may be over soon, is a warning. */
export function severityOf(finding: Finding): Severity {
  return isInDoubt(finding) ? 'warning' : SEVERITY[finding.code]
}

function isInDoubt(finding: Finding): boolean {
  switch (finding.code) {
    case 'webhook-freeze':
      return finding.webhooks.every(({ conditions }) => conditions !== undefined)
    case 'webhook-without-server':
    case 'webhook-locks-itself-out':
      return finding.conditions !== undefined
    case 'node-not-ready':
      return finding.forMs !== undefined && finding.forMs < NODE_SETTLES_MS
    default:
      return false
  }
}

/** The reasons why a check was skipped. */
export interface SkipFields {
  /** `right` is a verb with a resource, such as `list nodes`. */
  'no-right': { right: string; namespace?: string }
  /** The API server does not have or serve this kind. */
  'not-served': { resource: string }
  'not-read': { resource: string; because: Reason }
  /** The config is the only source of load balancers, and there is none. */
  'no-config': NoFields
  'probe-not-asked-for': NoFields
  /** The object does not exist. */
  'nothing-there': { resource: string; namespace?: string }
  'api-server-not-read': NoFields
  /** No answer of the API server had a Date header. */
  'no-date': NoFields
  /** The API server did not tell which rights the caller has. */
  'rights-not-asked': { because: Reason }
  /** A run uses the records of the namespace. */
  'run-at-work': { namespace: string; holders: string[] }
  'no-load-balancer-lists': { loadBalancers: string[] }
  /** The entries have addresses that no pod of the namespace has, and other namespaces were not searched for them. */
  'servers-not-asked': OfLoadBalancer & { servers: number }
}

export type SkipCode = keyof SkipFields
export type SkipOf<Code extends SkipCode> = { [C in Code]: { readonly code: C } & Readonly<SkipFields[C]> }[Code]
export type Skip = SkipOf<SkipCode>

/** The groups of checks, in the order of the report. */
export const CHECK_GROUPS = {
  cluster: ['api-server', 'rights', 'clock', 'versions', 'webhooks'],
  'control-plane': ['heartbeats', 'scheduler', 'controller-manager', 'endpoint-controller'],
  services: ['foreign-endpoints', 'selectorless-services', 'endpoints-labels'],
  'load-balancers': ['load-balancers-answer', 'servers', 'health'],
  workloads: ['readiness-probes', 'update-strategies', 'disruption-budgets'],
  records: ['open-records', 'unneeded-records'],
} as const

export type CheckGroup = keyof typeof CHECK_GROUPS
export type CheckName = (typeof CHECK_GROUPS)[CheckGroup][number]
