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

/** A pod as observed now, with its journal read. */
export interface Observation {
  pod: PodView
  stored: ReadJournal
}

/** A pod that has come in the place of one that is gone. */
export interface Heir {
  pod: PodView
  /** Same controller and same address: the load balancer's entry means this pod now. */
  sameAddress: boolean
  /** What was drained for the one before is drained for it, by its own record. */
  isDrained: boolean
  /** As far as is known now: of what cannot be watched it is not known. */
  isReady: boolean
}

export interface PodUpgradeInput extends Observation {
  run: string
  epoch: number
  /** The uid of the Lease that the epoch is of; absent where the pod has none of this process. */
  lease?: string
  wanted: ContainerImage[]
  /** What it goes back to where it fails, by the ledger; else what its journal says it had. */
  before?: ContainerImage[]
  /** The dry run was made already, when the whole run was checked. */
  rehearsed: boolean
  /** The run takes another back: what it patches in are the former images. */
  undoes?: true
  /** The address that its targets were found by, where an earlier owner recorded it. */
  address?: string
  /** From the ledger, for a pod that is gone and took its journal with it. */
  targets?: JournalTarget[]
  /** Its journal cannot be read: what the ledger says of its targets, for a person. */
  recorded?: JournalTarget[]
  /** What was drained for it is settled, by the ledger. */
  settled?: boolean
  /** The pod does not exist any more; `pod` is what the ledger knows of it. */
  gone: boolean
}

/** How a pod ended; see PodOutcome in src/engine/events.ts. */
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
  /** The record as this owner last stored it, or is about to store it. */
  record: Journal | undefined
  /** What was stored when that could be read last; undefined where nothing was open then. */
  lastRead: Journal | undefined
  restart: Restart | undefined
  traffic: TrafficReading | undefined
  /** Its Service endpoints, as they are now. */
  endpoints: readonly PodEndpoint[]
  /** Undefined until it was looked for; null where none is there. */
  heir: Heir | null | undefined
  /** False where nothing will take the place of a gone pod (scaled down, or no controller). */
  heirExpected: boolean
  /** The window has given this run a place for it. What an earlier owner has taken out needs none. */
  admitted: boolean
  interrupted: boolean
  /** The drain deadline was passed over: what is in flight on it is cut. */
  passedOver: boolean
  /** It has got requests again since it had settled last: its images are patched only once it has settled anew. */
  returned: boolean
  /** Images were sent, and nobody has answered: they may land as long as the record stands that they were sent over. */
  inDoubt: boolean
  /** Interrupted, and brought home on the images that an earlier run has patched it to. */
  keepsPatch: boolean
  /** An earlier call that nobody answered, and that was not seen to be done, may still arrive and undo what came after it. */
  lateCall: boolean
  /** A deadline that fired while a call was under way; acted on at the next safe point. */
  expired: Deadline | undefined
  /** What the last port call answered: its `kind`. */
  answer: string | undefined
  /** What the last port call had to say against it. */
  trouble: Reason | undefined
  /** Refusals, differences, or writes after the deadline that came to nothing, in the current state. */
  tries: number
  outcome: Outcome | undefined
  /** Present together with the outcome. */
  reason: Reason | undefined
  /** The named deadline that ended it. */
  deadline: Deadline | undefined
}

export type PodEvent =
  | ({ type: 'observed' } & Observation)
  | { type: 'gone' }
  | { type: 'endpoints'; endpoints: readonly PodEndpoint[] }
  | { type: 'heir'; heir: Heir | null; expected: boolean }
  /** The window has a place. */
  | { type: 'start' }
  /** It has none any more. */
  | { type: 'wait' }
  /** A load balancer of its targets has restarted or reloaded, and may have forgotten the drain. */
  | { type: 'reloaded' }
  /** A container of it changed; the machine tells itself. */
  | { type: 'moved' }
  /** Start nothing new; undo what can be undone; bring home what is patched. */
  | { type: 'interrupt' }
  /** Leave everything as it is: the same command goes on from there. */
  | { type: 'checkpoint' }
  /** Another owner holds the Lease. */
  | { type: 'lost'; reason: Reason }

/** `busy`: a write or a drain is under way, and is waited out. That it gets requests is only noted; who sees it drains it. */
export type PodTag = 'busy'
