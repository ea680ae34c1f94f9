import type {
  ContainerImage,
  Journal,
  JournalTarget,
  PodEndpoint,
  PodView,
  ReadJournal,
  TrafficReading,
} from '../../src/pods/glossary.ts'
import type { Restart } from '../../src/pods/witness.ts'
import type { Reason } from '../../src/reasons/reason.ts'

/** A pod as it is observed now, with its journal. */
export interface Observation {
  pod: PodView
  stored: ReadJournal
}

/** A pod that came in the place of a pod that is gone. docs/protocol.md calls this pod the replacement. */
export interface Heir {
  pod: PodView
  /** The pod has the same controller and the same address. The entry of the load balancer means this pod now. */
  sameAddress: boolean
  /** The entries of the gone pod are drained for this pod, under a record of its own. */
  isDrained: boolean
  /** The readiness as far as it is known. A pod that cannot be watched is not known to be ready. */
  isReady: boolean
}

export interface PodUpgradeInput extends Observation {
  run: string
  epoch: number
  /** The uid of the Lease that counts the epoch. Absent where this process holds no Lease for the pod. */
  lease?: string
  wanted: ContainerImage[]
  /** The images that a failed pod goes back to, by the ledger. Absent: the images in the baseline of its journal. */
  before?: ContainerImage[]
  /** The dry run of the patch has been accepted in the check of the whole run. */
  rehearsed: boolean
  /** The run undoes another run: it patches the former images in. */
  undoes?: true
  /** The address at which the targets were found, where an earlier owner recorded it. */
  address?: string
  /** The targets by the ledger, for a pod that is gone together with its journal. */
  targets?: JournalTarget[]
  /** The targets by the ledger, for the report on a pod whose journal cannot be read. */
  recorded?: JournalTarget[]
  /** The ledger has the pod's targets as settled. */
  settled?: boolean
  /** The pod does not exist any more. `pod` has the data of the ledger. */
  gone: boolean
}

/** The outcome of a pod. See PodOutcome in src/engine/events.ts. */
export type Outcome =
  | 'upgraded'
  | 'skipped'
  | 'unchanged'
  | 'rolledBack'
  | 'failed'
  | 'settled'
  | 'needsOperator'
  | 'interrupted'
  | 'conflict'

/** The deadlines by their names in the config. */
export type Deadline = 'drain' | 'restart' | 'rollback' | 'ready' | 'restore'

export interface PodContext extends PodUpgradeInput {
  uid: string
  /** The record that this owner stored last, or is about to store. */
  record: Journal | undefined
  /** The open journal at the last observation with a readable journal. Undefined where no record was open at that time. */
  lastRead: Journal | undefined
  restart: Restart | undefined
  traffic: TrafficReading | undefined
  /** The endpoints of the pod's Services now. */
  endpoints: readonly PodEndpoint[]
  /** The replacement of a gone pod. Undefined until it was looked for; null where none exists. */
  heir: Heir | null | undefined
  /** False where no pod will replace a gone pod (scaled down, or no controller). */
  heirExpected: boolean
  /** The window has given the pod a place. A pod that an earlier owner drained needs no place. */
  admitted: boolean
  interrupted: boolean
  /** The drain deadline was passed over: requests in flight on the pod are cut. */
  passedOver: boolean
  /** The pod has got requests again since it settled last. Its images are patched only after it has settled anew. */
  returned: boolean
  /** A write of images has no answer. The images can land as long as the pod has the record that the write tests. */
  inDoubt: boolean
  /** The run was interrupted, and brings the pod home on the images that an earlier run patched in. */
  keepsPatch: boolean
  /** An earlier call without an answer, which was not seen to be done, can still arrive and undo later calls. */
  lateCall: boolean
  /** A deadline that fired during a call. The machine acts on it at the next safe point. */
  expired: Deadline | undefined
  /** The `kind` of the last answer of a port. */
  answer: string | undefined
  /** The obstacle that the last answers of the ports named. */
  trouble: Reason | undefined
  /** The number of refusals, differences, and failed writes after the deadline, in the current state. */
  tries: number
  outcome: Outcome | undefined
  /** Present together with the outcome. */
  reason: Reason | undefined
  /** The deadline that ended the upgrade, by its name in the config. */
  deadline: Deadline | undefined
}

export type PodEvent =
  | ({ type: 'observed' } & Observation)
  | { type: 'gone' }
  | { type: 'endpoints'; endpoints: readonly PodEndpoint[] }
  | { type: 'heir'; heir: Heir | null; expected: boolean }
  /** The window has a place for the pod. */
  | { type: 'start' }
  /** The window has no place for the pod any more. */
  | { type: 'wait' }
  /** A load balancer of the pod's targets has restarted or reloaded, and may have forgotten the drain. */
  | { type: 'reloaded' }
  /** A container of the pod has changed. The machine raises this event itself. */
  | { type: 'moved' }
  /** Start no new work, undo what can be undone, and bring a patched pod home. */
  | { type: 'interrupt' }
  /** Leave the pod in its state. The same command resumes it. */
  | { type: 'checkpoint' }
  /** Another owner holds the Lease. */
  | { type: 'lost'; reason: Reason }

/**
 * `busy`: a write or a drain is under way, and is waited out. A pod that gets requests meanwhile is only noted; the engine drains it once
 * it sees that.
 */
export type PodTag = 'busy'
