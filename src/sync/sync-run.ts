import type { KubeClient } from '../kube/client.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Reason } from '../reasons/reason.ts'
import type { AwayReason, SourceView, SyncedService } from './model.ts'
import type { SourceProblem, SyncProblem } from './problems.ts'

export interface SyncOptions {
  readonly services: readonly SyncedService[]
  /** The access cluster. */
  readonly access: KubeClient
  readonly sources: readonly SourceCluster[]
  /** The Lease in the access cluster, of which one replica is the holder. Absent: this process is the only one. */
  readonly lease?: { readonly namespace: string; readonly name: string; readonly identity: string }
  /**
   * The name of this sync in its slices: slices of another sync are left alone. Default: the namespace and name of the Lease. Without both, the
   * slices of all syncs are its own; a reader takes those of the sync that has the most, and names the others.
   */
  readonly instance?: string
  /** This process reads and decides as a replica that never leads: `sluice sync status` takes its snapshot. It has no Lease. */
  readonly isReader?: true
  readonly clock: Clock
  readonly random: Random
  readonly signal: AbortSignal
  onEvent?(event: SyncEvent): void
}

export interface SourceCluster {
  readonly name: string
  /** Makes the client. A rejection is tried again; the source counts as away meanwhile. */
  connect(): Promise<KubeClient>
}

export interface SyncRun {
  /** The state now. Instants are turned into durations. */
  snapshot(): SyncSnapshot
  /** Resolves after the signal, once nothing is under way and the Lease is released. */
  ended: Promise<void>
}

export interface SyncSnapshot {
  readonly isLeader: boolean
  /** True once each Service has been decided with what its sources say, or it is known why not. */
  readonly isSettled: boolean
  readonly access: { readonly is: 'listing' | 'current' | 'away'; readonly sinceMs: number; readonly because?: Reason }
  readonly sources: readonly SourceStatus[]
  readonly services: readonly ServiceStatus[]
  /** Slices of sync for Services that the config does not name. Sync leaves them as they are. */
  readonly leftBehind: readonly { readonly namespace: string; readonly service: string; readonly slices: readonly string[] }[]
}

export interface SourceStatus {
  readonly name: string
  readonly is: 'listing' | 'current' | 'away'
  readonly sinceMs: number
  /** Present where the source is away. */
  readonly because?: AwayReason
  /** The UID of the namespace kube-system. */
  readonly clusterUid?: string
  /** The clock of the API server minus that of this process, by the `Date` header. Absent where it is not known. */
  readonly clock?: { readonly offsetMs: number; readonly uncertaintyMs: number }
  readonly problems: readonly SourceProblem[]
}

export interface ServiceStatus {
  readonly namespace: string
  readonly name: string
  readonly sources: readonly {
    readonly source: string
    readonly is: SourceView['is']
    /** The endpoints that the source asks for. Absent where they are not known. */
    readonly wanted?: number
    /** The copies in the access cluster. */
    readonly slices: number
    readonly endpoints: number
    readonly ready: number
    /** The endpoints of pods under upgrade. */
    readonly upgrading: number
  }[]
  readonly problems: readonly SyncProblem[]
  /** True while the access cluster lacks a write that is decided. */
  readonly isPending: boolean
  /** The time for which `isPending` is true. */
  readonly pendingForMs?: number
}

/**
 * The way of a change, leg by leg, in milliseconds: from the time that the source itself states to the instant at which this process saw the
 * change, to the decision, to the instant at which the write left, to its acceptance.
 */
export interface LagLegs {
  /** Absent where the clock of the source is not known, or is wrong. */
  readonly sourceMs?: number
  readonly decideMs: number
  readonly sendMs: number
  readonly acceptMs: number
}

export type WriteEffect = 'create' | 'update' | 'delete'

export type SyncEvent =
  | { readonly type: 'leader'; readonly isLeader: boolean }
  /** The Lease is waited for: it is taken after `afterMs` without a renewal, since another process may hold it. */
  | { readonly type: 'lease-awaited'; readonly lease: string; readonly afterMs: number }
  /** A call about the Lease has failed. Told again once the reason is another one. */
  | { readonly type: 'lease-failed'; readonly lease: string; readonly because: Reason }
  | { readonly type: 'source'; readonly source: string; readonly is: SourceStatus['is']; readonly because?: AwayReason }
  | { readonly type: 'access'; readonly is: 'listing' | 'current' | 'away'; readonly because?: Reason }
  | ({ readonly type: 'written'; readonly effect: WriteEffect; readonly endpoints: number; readonly lag?: LagLegs } & OfSlice)
  | ({
      readonly type: 'write-failed'
      readonly effect: WriteEffect
      readonly because: Reason
      readonly againInMs: number
    } & OfSlice)
  /** Somebody else had changed or deleted the slice. The next write puts it right. */
  | ({ readonly type: 'put-right'; readonly was: 'changed' | 'deleted' } & OfSlice)
  | { readonly type: 'service-made'; readonly namespace: string; readonly service: string; readonly from: string }
  | {
      readonly type: 'problem'
      readonly is: 'begun' | 'over'
      readonly namespace: string
      readonly service: string
      readonly problem: SyncProblem
    }
  | { readonly type: 'source-problem'; readonly is: 'begun' | 'over'; readonly source: string; readonly problem: SourceProblem }

export interface OfSlice {
  readonly namespace: string
  readonly service: string
  readonly source: string
  readonly slice: string
}
