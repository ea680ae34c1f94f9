import type { AdapterDefinition } from '../../adapters/contract.ts'
import type { MaxUnavailable } from './max-unavailable.ts'

/** One entry of `loadBalancers`, with options that the adapter's own schema has checked. */
export interface ConfiguredLoadBalancer {
  name: string
  adapter: string
  definition: AdapterDefinition
  port: number | string
  options: unknown
  /** The turn in `drain.order`, from 0. A drain covers all load balancers of one turn at once; the restore goes in reverse order. */
  drainTurn: number
  rate?: ConfiguredRate
  lock?: ConfiguredLock
}

/** The Lease that each change of a document requires. */
export interface ConfiguredLock {
  namespace: string
  /** The identity of the document. */
  document: string
  /** The kubeconfig file, as an absolute path. */
  kubeconfig?: string
  /** The context of the kubeconfig. Without a kubeconfig and a context, the Lease is in the cluster of the run. */
  context?: string
}

/** The number of calls that may begin within a period of milliseconds. Load balancers of one account share the rate. */
export interface ConfiguredRate {
  calls: number
  perMs: number
  account: string
}

/** The run settings of a config; flags of the command line override single settings. */
export interface ConfigSettings {
  maxUnavailable: MaxUnavailable
  readyForMs: number
  onFailure: 'hold' | 'rollback'
  drainDeadlineMs: number
  onDrainDeadline: 'fail' | 'proceed'
  settleMs?: number
  drainNotFor?: readonly string[]
  restartDeadlineMs: number
  rollbackDeadlineMs: number
  readyDeadlineMs: number
  restoreDeadlineMs: number
}

/** A config without a problem. */
export interface Config {
  /** The file name as it was given, for messages. */
  file: string
  /** The folder of the file; relative paths of adapters refer to it. */
  folder: string
  loadBalancers: ConfiguredLoadBalancer[]
  settings: ConfigSettings
}
