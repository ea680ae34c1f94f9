import type { MetricsFlags } from '../metrics/metrics-address.ts'
import type { Purpose } from './purposes.ts'

/** The flags as commander parses them: their values are still text. */

export interface ClusterFlags {
  namespace?: string
  context?: string
  kubeconfig?: string
  cluster?: string
  user?: string
  as?: string
  asGroup?: string[]
  asUid?: string
  requestTimeout?: string
}

export type OutputFormat = 'text' | 'json' | 'jsonl'
export type ColorChoice = 'auto' | 'always' | 'never'

export interface ResultFlags {
  output: OutputFormat
  verbose?: boolean
}

/** The flags of a command whose output has colour. */
export interface OutputFlags extends ResultFlags {
  color: ColorChoice
}

/** The request, and the settings of its rollout. */
export interface RequestFlags {
  config?: string
  selector?: string
  maxUnavailable?: string
  readyFor?: string
  drainDeadline?: string
  onFailure?: 'hold' | 'rollback'
  onDrainDeadline?: 'fail' | 'proceed'
  restartDeadline?: string
  rollbackDeadline?: string
  readyDeadline?: string
  restoreDeadline?: string
  acceptTemplateDrift?: boolean
  allowUnbalanced?: boolean
  retiredLoadBalancer?: string[]
}

export interface UpgradeFlags extends ClusterFlags, OutputFlags, RequestFlags {
  dryRun?: boolean
  exitWhenPaused?: boolean
  grace: string
  report?: string[]
}

export interface UndoFlags extends UpgradeFlags {
  run?: string
}

export type PlanFlags = ClusterFlags & OutputFlags & RequestFlags

export interface StatusFlags extends ClusterFlags, OutputFlags {}

export interface ExplainFlags extends ClusterFlags, OutputFlags {
  config?: string
}

export interface DoctorFlags extends ClusterFlags, OutputFlags {
  config?: string
  allNamespaces?: boolean
  probe?: boolean
  ignore?: string[]
  strict?: boolean
}

export interface ObserveFlags extends Omit<ClusterFlags, 'context'> {
  output: 'text' | 'json'
  color: ColorChoice
  verbose?: boolean
  config?: string
  context?: string[]
  contexts?: string
  allNamespaces?: boolean
  controllerManagerMetrics?: string
  controllerManagerCa?: string
  controllerManagerInsecure?: boolean
  metricsListen?: string
  metricsCert?: string
  metricsKey?: string
  /** False with `--no-live`. */
  live: boolean
  for?: string
  grace?: string
  poll?: string
  record?: string
  strict?: boolean
  summary?: string
}

export interface ReplayFlags {
  output: 'text' | 'json'
  color: ColorChoice
  strict?: boolean
}

/** A file with the clusters and the Services of a sync. */
export interface SyncConfigFlags {
  config: string
}

export interface SyncFlags extends SyncConfigFlags {
  output: 'text' | 'json'
  verbose?: boolean
  /** The name of the Lease. False with `--no-lease`, and absent without both flags. */
  lease?: string | false
  leaseNamespace?: string
  metricsListen?: string
  metricsCert?: string
  metricsKey?: string
  requestTimeout?: string
}

export interface SyncStatusFlags extends SyncConfigFlags {
  output: 'text' | 'json'
  color: ColorChoice
  verbose?: boolean
  lease?: string
  leaseNamespace?: string
  within?: string
  requestTimeout?: string
}

export interface ReportFlags extends ClusterFlags {
  output: 'text' | 'json' | 'html'
  color: ColorChoice
  report?: string[]
  failures?: string
  verbose?: boolean
}

export interface ResolveFlags extends ClusterFlags, ResultFlags {
  traffic: 'in' | 'out'
  loadBalancer?: string[]
  live?: boolean
  gone?: boolean
}

export interface CleanupFlags extends ClusterFlags, ResultFlags {
  dryRun?: boolean
}

export interface OrderFlags extends ClusterFlags, ResultFlags {
  selector?: string
}

export interface AbortFlags
  extends
    OrderFlags,
    OutputFlags,
    Pick<RequestFlags, 'config' | 'restartDeadline' | 'rollbackDeadline' | 'readyDeadline' | 'restoreDeadline'> {
  wait: boolean
  grace: string
}

export interface AdapterFlags {
  config?: string
  output: 'text' | 'json'
}

export interface ServeFlags {
  config?: string
  listen: string
}

export interface NewAdapterFlags {
  language: 'ts' | 'js' | 'python' | 'sh'
  output: 'text' | 'json'
}

export interface TestAdapterFlags {
  config?: string
  loadBalancer?: string
  bed?: string
  target?: string[]
  expendable?: string[]
  breakConnections?: boolean
  withoutLock?: boolean
  output: 'text' | 'json'
}

export interface RbacFlags {
  namespace: string
  serviceAccount?: string
  user?: string
  for?: Purpose[]
  orders?: boolean
  config?: string
}

export interface DemoFlags {
  loadBalancer: 'embedded' | 'haproxy'
  pods: string
  report?: string
  incident?: 'flap' | 'heartbeat' | 'backlog' | 'selector' | 'sync'
  color: ColorChoice
}

export type CheckRulesFlags = Pick<ResultFlags, 'output'>

export interface TouchWebhookFlags extends Omit<ClusterFlags, 'namespace'>, Pick<ResultFlags, 'output'> {
  namespace: string[]
  rules?: string
  all?: true
  rate: string
  dryRun?: true
}

export interface ServeWebhookFlags extends Omit<ClusterFlags, 'namespace'>, MetricsFlags {
  namespace: string[]
  ownNamespace?: string
  listen: string
  rules: string
  rulesCa?: string
  rulesBearer?: string
  rulesBasic?: string
  rulesField?: string
  rulesKey?: string
  rulesCache?: string
  tlsCert?: string
  tlsKey?: string
  ownCertificate?: boolean
  certificateSecret: string
  certificateHost?: string[]
  configuration: string
  service: string
  lease: string
  leave: string
  verbose?: boolean
}

export interface ExplainRulesFlags extends Pick<ResultFlags, 'output'> {
  object: string
  old?: string
  with?: string[]
  at?: string
}
