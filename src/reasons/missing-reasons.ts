import type { NoFields } from './fields.ts'

/** The gaps of a report. */
export interface MissingReasons {
  /** A process writes its account when it ends, and the account of this run is missing. `finished`: the run is over. */
  'no-account': { finished: boolean }
  /** `before`: the begin of the first account that is known; `begunAt`: the begin of the run. */
  'first-account-lost': { before: string; begunAt?: string }
  /** Between these two epochs another owner has left no account. `accountsLost`: a lost account may be one of this run. */
  'owner-unknown': { fromEpoch: number; toEpoch: number; accountsLost: boolean }
  /** The accounts of `processes` processes are missing, because the ledger keeps those of `kept` processes of a run. */
  'processes-not-kept': { processes: number; kept: number }
  /** The ledger keeps the last `kept` processes of each kind for a pod: those that acted on the pod, and those that reported on it. */
  'told-not-kept': { what: 'done' | 'told'; pods: string[]; kept: number }
  /** The ledger had no room for accounts. */
  'no-room-for-accounts': { pods: number; until: string }
  /** The run is not finished, and the steps of its process after this instant are missing. */
  'not-finished': { after: string }
  /** These records are not readable, and may be newer than this run. */
  'newer-run-unknown': { workload: string; unreadable: string[] }
  /** The earlier processes of one pod, which are not kept. */
  'earlier-not-kept': { what: 'done' | 'told'; processes: number }
  'pod-without-account': NoFields
}
