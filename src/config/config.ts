import type { AdapterDefinition } from '../../adapters/contract.ts'
import type { MaxUnavailable } from './max-unavailable.ts'

/** One entry of `loadBalancers`, its options checked by the adapter's own schema. */
export interface ConfiguredLoadBalancer {
  name: string
  adapter: string
  definition: AdapterDefinition
  port: number | string
  options: unknown
  /** Of `drain.order`, from 0: a pod is drained in all of one turn at once, and put back in reverse. */
  drainTurn: number
  rate?: ConfiguredRate
  lock?: ConfiguredLock
}

/** The Lease that each change of a document is made under. */
export interface ConfiguredLock {
  namespace: string
  /** What names the document. */
  document: string
  /** An absolute path. */
  kubeconfig?: string
  /** With neither of the two, the Lease is in the cluster of the run. */
  context?: string
}

/** So many calls may begin in each stretch of so many milliseconds. Load balancers of one account share it. */
export interface ConfiguredRate {
  calls: number
  perMs: number
  account: string
}

/** What the run settings of a config are called; flags of the command line replace single ones. */
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

/** A config file that was found right in every part. */
export interface Config {
  /** As it was given, for messages. */
  file: string
  /** The folder that relative paths of adapters are meant by: that of the file. */
  folder: string
  loadBalancers: ConfiguredLoadBalancer[]
  settings: ConfigSettings
}
