/**
 * The library of sluice: a program plans and carries out upgrades of pods in place. docs/library.md explains it.
 *
 * `connect` returns the cluster, `loadConfig` the load balancers, and `createSluice` combines both. A run is a handle with events, a
 * result, `pause`, `resume`, `abort` and `interrupt`. The library does not handle signals, write to stdout or end the process.
 */
export { connect } from './library/connect.ts'
export type { Cluster, ConnectOptions } from './library/cluster.ts'
export { checkConfig, loadConfig } from './library/config.ts'
export { createSluice, type Sluice } from './library/create-sluice.ts'
export { observe, replayObservation } from './library/observe.ts'
export type { ManagerMetrics, ObserveCluster, ObserveOptions } from './library/observe-options.ts'
export type * from './library/options.ts'
export type { Run } from './library/run.ts'
export type { FeedScope } from './observation/observation.ts'
export type { Clock } from './ports/clock.ts'
export type { Random } from './ports/random.ts'
export type { PlannedUpgrade } from './library/plan.ts'
export type { PlanChange, PlanPart, PodIntent } from './library/compare-plans.ts'
export type { Abort, GivenOrder, NoOrder } from './library/orders.ts'
export type { Ordered } from './library/ordered.ts'
export type { RecordedReport } from './library/records.ts'
export { reportPage } from './library/report-page.ts'
export { EXIT, exitCodeOf, type ExitCode, type InterruptSignal } from './library/exit-codes.ts'

// Requests.
export type {
  AbortRequest,
  HomeSettings,
  RequestOptions,
  RequestSettings,
  UndoRequest,
  UpgradeRequest,
  WorkloadChoice,
  WorkloadName,
} from './library/request/upgrade-request.ts'
export type { LeaseWatch } from './explain/read/request.ts'
export type { ExplainedObject } from './library/request/parse-explain.ts'
export type { DoctorChoice } from './library/request/parse-doctor.ts'
export type { ReportRequest } from './library/request/parse-report.ts'
export type { RunSettings } from './engine/settings.ts'

// Results and events.
export type * from './engine/events.ts'
export type * from './plan/plan.ts'
export type * from './engine/status/status.ts'
export type * from './explain/explanation.ts'
export type * from './report/report.ts'
export type * from './doctor/report.ts'
export type {
  CheckGroup,
  CheckName,
  Finding,
  FindingCode,
  FindingFields,
  FindingOf,
  LabelDifference,
  Severity,
  Skip,
  SkipCode,
  SkipFields,
} from './doctor/findings.ts'
export type { ObserverCounts, ObserverOptions } from './observer/observer.ts'
export type { Measured, Written } from './observer/context.ts'
export type { OtherServer, OtherTrust } from './kube/other-server.ts'
export type { Look } from './observer/read/observe.ts'
export type * from './observer/events.ts'
export type {
  Change,
  EndpointChange,
  EntryChange,
  LeaseChange,
  Leg,
  LegSummary,
  ObserverFinding,
  ObserverFindingCode,
  ObserverFindingFields,
  ObserverFindingOf,
  ObserverSnapshot,
  ObserverSummary,
  PodChange,
  Told,
} from './observer/told.ts'
export type { ContainerRestart, Warning } from './journal/account.ts'
export type { MixedWorkload } from './journal/ledger.ts'
export type { TimedCall } from './kube/timed-client.ts'
export type { Unrecorded } from './engine/unrecorded.ts'
export type { KnownRun } from './report/from-ledgers.ts'
export type { LeaseHolder } from './engine/run.ts'
export type { ContainerImage, JournalStep } from './pods/glossary.ts'

// Reasons: codes with fields (docs/reasons.md), and their English.
export type { Reason, ReasonCode, ReasonFields, ReasonOf } from './reasons/reason.ts'
export type { LoadBalancerEntry, EntryReading, NamedImage, ObjectName, Writer } from './reasons/fields.ts'
export type { RefusalCode } from './reasons/refusals.ts'
export type { Difference } from './reasons/template-reasons.ts'
export type { Advice, AdviceCode, AdviceFields, EntryBefore } from './reasons/advice.ts'
export type { Command } from './reasons/command.ts'
export { adviceWords, reasonWords } from './report/words/words.ts'
export { wayOutOf, type WayOut } from './report/words/refusals.ts'
export { shellForm, type Way } from './report/words/shell.ts'

// Errors. Each error has the `component` that failed.
export { RequestError, type RequestIssue } from './library/request/request-error.ts'
export { NotOnRecordError, PlanChangedError, RunInterruptedError, SluiceClosedError } from './library/errors.ts'
export { EVENTS_KEPT, EventsLostError } from './library/event-log.ts'
export { ConfigError, type ConfigIssue } from './config/config-error.ts'
export { RunError, type RunErrorKind } from './engine/errors.ts'
export { RunOverError } from './engine/orders/own-orders.ts'
export { WorkloadError, type WorkloadErrorKind } from './workloads/errors.ts'
export { KubeError, type KubeErrorKind } from './kube/errors.ts'
export { KubeConfigError } from './kube/kubeconfig-error.ts'

// Extensions: kinds of workloads that a program defines (docs/kinds.md).
export { KINDS } from './workloads/kinds/index.ts'
export { createKinds } from './library/create-kinds.ts'
export type { Kinds } from './workloads/kinds/kinds.ts'
export type { Kind, KindRight, Mechanism, Through } from './workloads/kinds/kind.ts'
export { revisionedRights } from './workloads/kinds/revisioned-rights.ts'
export type { RevisionRules } from './workloads/revision-rules.ts'
export type { RevisionRecord, WorkloadRecord } from './workloads/records.ts'
export { byAddress, byName, byNode, type GonePod, type HeirRule } from './pods/heir.ts'
export type { PodView } from './pods/glossary.ts'
export type { KindName, WorkloadId } from './pods/workload-id.ts'

// The interfaces for a client or an adapter of the program.
export type {
  CallOptions as KubeCallOptions,
  DeleteOptions,
  KubeClient,
  PatchOperation,
  WatchOptions,
  WriteOptions,
} from './kube/client.ts'
export type { Config, ConfiguredLoadBalancer } from './config/config.ts'
export type * from '../adapters/contract.ts'
export { AdapterError, addressesOf } from '../adapters/contract.ts'

// The state machine of a pod upgrade, for inspection: docs/states.md explains its states.
export { podUpgradeMachine, type PodSnapshot } from '../machines/pod-upgrade/index.ts'
export type { PodContext, PodEvent, PodTag, PodUpgradeInput } from '../machines/pod-upgrade/context.ts'
export type { PodPorts } from '../machines/pod-upgrade/ports.ts'
