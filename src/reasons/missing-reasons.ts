import type { NoFields } from './fields.ts'

/** What a report cannot know. */
export interface MissingReasons {
  /** A process keeps its account when it ends. `finished`: the run is over. */
  'no-account': { finished: boolean }
  /** `before`: when the account begins that is the first here; `begunAt`: when the run began. */
  'first-account-lost': { before: string; begunAt?: string }
  /** Between these two epochs another owner has left no account. `accountsLost`: one of this run may be among those not kept. */
  'owner-unknown': { fromEpoch: number; toEpoch: number; accountsLost: boolean }
  /** Of a run the accounts of `kept` processes are kept. */
  'processes-not-kept': { processes: number; kept: number }
  /** Of a pod the ledger keeps the last `kept` processes of each kind: those that did something with the pod, and those that told of it. */
  'told-not-kept': { what: 'done' | 'told'; pods: string[]; kept: number }
  /** The ledger had no room. */
  'no-room-for-accounts': { pods: number; until: string }
  /** What a process does after that is not here. */
  'not-finished': { after: string }
  /** These cannot be read, and one of them may be newer. */
  'newer-run-unknown': { workload: string; unreadable: string[] }
  /** Of one pod. */
  'earlier-not-kept': { what: 'done' | 'told'; processes: number }
  'pod-without-account': NoFields
}
