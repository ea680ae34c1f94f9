import type { Advice } from '../reasons/advice.ts'
import type { NoFields } from '../reasons/fields.ts'
import type { Reason } from '../reasons/reason.ts'

/** A webhook, and the kind and name of the configuration that it stands in. */
export interface OfWebhook {
  kind: 'ValidatingWebhookConfiguration' | 'MutatingWebhookConfiguration'
  configuration: string
  webhook: string
  /** The names of its matchConditions. What they let through is not known: it may be asked about less. */
  conditions?: string[]
}

/** A Service. */
export interface OfService {
  namespace: string
  service: string
}

/** `loadBalancer`: its name in the config. */
export interface OfLoadBalancer {
  loadBalancer: string
}

/** An entry of a load balancer that is a pod's. */
export interface OfEntry extends OfLoadBalancer {
  target: string
  namespace: string
  pod: string
  /** In the words of the adapter. */
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

/** What a check finds wrong with the cluster itself. */
export interface ClusterFindings {
  'api-unreachable': { because: Reason }
  /** `rights`: such as `patch pods/status`. */
  'rights-missing': { namespace: string; rights: string[] }
  /** The own wall clock is ahead of that of the API server by so much; behind it where it is below 0. */
  'clock-differs': { aheadMs: number; uncertaintyMs: number }
  'version-untested': { version: string; from: string; to: string }
  /** A kubelet is newer than the API server, or older by more than three minor versions. */
  'kubelet-version-apart': { version: string; nodes: { node: string; version: string }[] }
  /** An update of Endpoints that the webhook turns into nothing makes their controller leave the object alone for good. */
  'webhook-freeze': { version: string; fixedIn: string; webhooks: OfWebhook[] }
  /** `resources`: those of pods, endpoints and endpointslices that it is asked about. */
  'webhook-fails-closed': OfWebhook & { resources: string[]; timeoutMs: number }
  /** It fails closed, and its Service, `NAMESPACE/NAME`, has no ready endpoint: each such write is refused now. */
  'webhook-without-server': OfWebhook & { resources: string[]; service: string }
  /** It is asked about pods of the namespace that its own server runs in, and fails closed. */
  'webhook-locks-itself-out': OfWebhook & { resources: string[]; namespace: string }
  /** The same of one that fails open: each call for its own objects waits for its timeout. */
  'webhook-on-own-namespace': OfWebhook & { resources: string[]; namespace: string; timeoutMs: number }
}

/** What a check finds of nodes and of the control plane. */
export interface ControlPlaneFindings {
  /** The Lease of a node is older than half of the grace period. */
  'heartbeat-late': { node: string; ageMs: number; graceMs: number }
  'heartbeat-missed': { node: string; ageMs: number; graceMs: number }
  /** Fewer heartbeats fit into the grace period than a Lease of these nodes, `leaseMs`, has room for. */
  'grace-period-short': { graceMs: number; leaseMs: number; nodes: string[] }
  /** The Lease of a node was renewed in what is the future for the API server. */
  'node-clock-ahead': { node: string; aheadMs: number }
  /** Its Lease was renewed while the doctor watched, with an instant that is at least so far in the past for the API server. */
  'node-clock-behind': { node: string; behindMs: number }
  /** `status` of its condition Ready: `False`, `Unknown` where its kubelet does not report, or `missing`. `forMs`: since that has changed. */
  'node-not-ready': { node: string; status: string; reason?: string; forMs?: number }
  /** By Events: the node controller has set its pods to not ready, and its kubelet has come back. */
  'node-was-silent': { node: string; times: number; lastAt: string; graceMs: number }
  'control-plane-part-silent': { part: ControlPlanePart; holder?: string; ageMs: number; leaseMs: number }
  /** These pods have no node, and no condition of a scheduler that says why. */
  'pods-without-scheduler': { pods: string[]; oldestMs: number }
  /** These Services have no EndpointSlice, not even an empty one. */
  'services-without-controller': { services: string[]; oldestMs: number }
  'endpoint-controller-slow': { lagMs: number; namespace: string }
  'endpoint-controller-stuck': { waitedMs: number; namespace: string }
  'probe-refused': { namespace: string; because: Reason }
  /** The probe Service is there still. */
  'probe-left': OfService & { because: Reason }
}

export type ControlPlanePart = 'kube-scheduler' | 'kube-controller-manager'

/** What a check finds of Services and their endpoints. */
export interface ServiceFindings {
  /** A slice of a Service with a selector that another writer keeps. */
  'foreign-slice': OfService & { slice: string; managedBy: string; addresses: string[] }
  /** Endpoints of a Service with a selector have addresses of another writer, which the controller takes away at its next sync. */
  'endpoints-by-hand': OfService & { by: string; at?: string; addresses: string[] }
  'selectorless-without-endpoints': OfService & { type: string }
  /** The controller finds these labels unequal, and writes the object at each sync. */
  'endpoints-labels-differ': OfService & { object: 'Endpoints' | 'EndpointSlice'; name: string; labels: LabelDifference[] }
}

/** One of the two is absent where that side has no such label. */
export interface LabelDifference {
  name: string
  onService?: string
  onEndpoints?: string
}

/** What a check finds of load balancers. */
export interface LoadBalancerFindings {
  'load-balancer-unreachable': OfLoadBalancer & { because: Reason }
  /** It answers, and says no: trying again cannot help. */
  'load-balancer-refuses': OfLoadBalancer & { because: Reason }
  /** A drain or a restore cannot be made as the config has it. */
  'effect-impossible': OfLoadBalancer & { target: string; others: number; because: Reason }
  'lock-rights-missing': OfLoadBalancer & { namespace: string; rights: string[] }
  'lock-unreachable': OfLoadBalancer & { because: Reason }
  /** `inRotation`: absent where that is not known. */
  'server-without-pod': OfLoadBalancer & { target: string; address: string; inRotation?: boolean }
  /** Others of its workload are in the load balancer. */
  'pod-without-server': OfLoadBalancer & { namespace: string; pod: string; workload: string; siblings: number; because: Reason }
  /** The pod is Ready, and its entry in rotation gets no requests. */
  'server-unhealthy': OfEntry
  /** The pod is not Ready, and its entry gets requests. */
  'server-of-unready-pod': OfEntry
}

/** What a check finds of workloads. */
export interface WorkloadFindings {
  /** `behind`: load balancers and Services that send it requests. */
  'no-readiness-probe': OfWorkload & { pods: number; containers: string[]; behind: string[] }
  /** A pod that fails turns not ready only after `readinessMs`, and the load balancer has taken it out after `healthMs`. */
  'readiness-probe-slow': OfWorkload & { container: string; readinessMs: number; loadBalancer: string; healthMs: number }
  /** `behind`: the load balancers that send its pods requests. `hasRuns`: sluice has upgraded it before. */
  'rolling-update': OfWorkload & { strategy: string; behind: string[]; hasRuns: boolean }
  'budget-allows-nothing': OfBudget & { pods: number }
  'budget-used-up': OfBudget & { pods: number; healthy: number; wanted: number }
}

/** What a check finds in the records of sluice. */
export interface RecordFindings {
  /** No process has the run of this pod. */
  'journal-open': { namespace: string; pod: string; workload: string; run: string; step: string; out: boolean | null }
  'pod-needs-operator': { namespace: string; pod: string; workload: string; run: string; because?: Reason; advice: Advice[] }
  'run-open': { namespace: string; workload: string; run: string; startedAt: string; ordered?: 'pause' | 'abort' }
  'record-unreadable': { namespace: string; run: string; because: Reason; advice: Advice[] }
  'records-unneeded': { namespace: string; records: { name: string; because: Reason }[] }
}

/** The fields of each finding, by its code. */
export interface FindingFields
  extends ClusterFindings, ControlPlaneFindings, ServiceFindings, LoadBalancerFindings, WorkloadFindings, RecordFindings {}

/** The codes are a closed set: docs/doctor.md has all of them. */
export type FindingCode = keyof FindingFields

export type FindingOf<Code extends FindingCode> = { [C in Code]: { readonly code: C } & Readonly<FindingFields[C]> }[Code]

/** What is wrong: a code, and the facts that go with it. Nothing reads its English, which `src/report/words` makes. */
export type Finding = FindingOf<FindingCode>

export type Severity = 'warning' | 'failed'

/** `failed`: requests are lost, or would be, or an upgrade cannot run. One that is in doubt is a warning: `severityOf`. */
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

/** A node that restarts is back by then, and one that an autoscaler takes away is gone. */
export const NODE_SETTLES_MS = 180_000

/** How bad a finding is. One that may not be so, or may be over soon, fails nothing. */
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

/** Why a check could not be made. */
export interface SkipFields {
  /** Such as `list nodes`. */
  'no-right': { right: string; namespace?: string }
  /** The API server has no such kind, or does not serve it. */
  'not-served': { resource: string }
  'not-read': { resource: string; because: Reason }
  /** Load balancers are known from the config alone. */
  'no-config': NoFields
  'probe-not-asked-for': NoFields
  /** There is no such object. */
  'nothing-there': { resource: string; namespace?: string }
  'api-server-not-read': NoFields
  /** No answer of the API server had a date. */
  'no-date': NoFields
  /** The rights could not be asked for. */
  'rights-not-asked': { because: Reason }
  /** Its records are in use. */
  'run-at-work': { namespace: string; holders: string[] }
  'no-load-balancer-lists': { loadBalancers: string[] }
  /** Entries at addresses that no pod of the namespace has; whether one of another namespace has them was not asked. */
  'servers-not-asked': OfLoadBalancer & { servers: number }
}

export type SkipCode = keyof SkipFields
export type SkipOf<Code extends SkipCode> = { [C in Code]: { readonly code: C } & Readonly<SkipFields[C]> }[Code]
export type Skip = SkipOf<SkipCode>

/** In the order in which they are told. */
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
