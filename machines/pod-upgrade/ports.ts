import { fromPromise } from 'xstate'
import type { ContainerImage, ImagePull, Journal, JournalTarget, PodView, TrafficReading } from '../../src/pods/glossary.ts'
import type { Reason } from '../../src/reasons/reason.ts'
import type { Observation } from './context.ts'

/*
 * The ports of a pod upgrade. One invoke is one call of one port. Each call resolves with its answer, and rejects only on a bug. The engine
 * supplies the ports once per run, and finds the pod by its uid.
 */

export interface PodInput extends Observation {
  uid: string
  wanted: ContainerImage[]
}

export interface StoreInput extends PodInput {
  /** The record to store. */
  record: Journal
  /** The record repeats the stored one, under the name of this owner or with another fence. */
  restates?: true
}

export interface EffectInput {
  uid: string
  /** The pod that gets requests after a restore: the pod itself or its replacement, as it was when the restore was decided. */
  toServe?: PodView
  /** The address of the targets. It tells whether the entries still mean the pod. */
  address?: string
  effect: 'drain' | 'restore'
  record: Journal
}

export interface EnrollInput extends PodInput {
  targets: JournalTarget[]
}

export interface TargetsInput {
  uid: string
  targets: JournalTarget[]
}

export interface InspectInput extends TargetsInput {
  /** The pod was patched after every load balancer read as out. A load balancer that cannot be read still counts as out then. */
  wasOut: boolean
  /** Read also the entries that an operator has taken out. A pod that gets requests through one of them must not be patched. */
  all?: true
}

export interface RelocateInput extends TargetsInput {
  /** The pod itself, or its replacement. */
  pod: PodView
}

export interface SettleInput extends TargetsInput {
  /**
   * The settlement. `restore`: the restore intent. `closed`: nothing is open any more. `left`: closed, and the entries stay out, since no
   * pod comes in this place. `abandoned`: left out, for an operator.
   */
  settlement: 'restore' | 'closed' | 'left' | 'abandoned'
  /** The epoch of the Lease of the owner that settles the pod. */
  epoch: number
  /** The address of the targets. It tells which pod comes in this place. */
  address?: string
}

/** `unknown`: the effect may have happened, or could not be asked for. `reason` tells why. */
export type Unknown = { kind: 'unknown'; reason: Reason }

export type SnapshotAnswer =
  /** `undrained`: the containers that change, for a pod that needs no drain for them. Such a pod has no targets. */
  | { kind: 'taken'; targets: JournalTarget[]; undrained?: string[]; address: string }
  | { kind: 'absent'; reason: Reason }
  | Unknown
export type RehearsalAnswer = { kind: 'accepted' } | { kind: 'refused'; reason: Reason } | Unknown
/** The answer to a write to the ledger. */
export type LedgerAnswer = { kind: 'stored' } | Unknown
/** The images of the container starts, by the Events of the kubelet. */
export type PullsAnswer = { kind: 'read'; pulls: ImagePull[] } | Unknown
/** The answer to a guarded write to the pod. */
export type StoreAnswer = { kind: 'stored'; seen: Observation } | { kind: 'rejected'; reason: Reason } | Unknown
/** `refused`: the right to read the pod is missing. An administrator may grant it again. */
export type ReadAnswer = { kind: 'read'; seen: Observation } | { kind: 'gone' } | { kind: 'refused'; reason: Reason } | Unknown
/**
 * The worst answer to a drain or restore over all targets of the pod.
 * `unknown`: bytes may have left. `retryable`: the call is proven not applied. `refused`: another try cannot help.
 * `lateCall`: an earlier call has no answer and was not seen to be done. It can still arrive.
 */
export type EffectAnswer = ({ kind: 'applied' } | { kind: 'retryable' | 'refused'; reason: Reason } | Unknown) & {
  lateCall?: true
}
/** Whether the targets are exactly as they were before the drain. `drained`: the target that differs still has the state of the drain. */
export type CompareAnswer = { kind: 'equal' } | { kind: 'different'; reason: Reason; drained?: true } | Unknown
/**
 * Whether the load balancers have the pod's current address in the same entries. `targets` is present where the entries followed the pod to
 * its new address, and got other ids.
 */
export type RelocateAnswer =
  | { kind: 'same'; address: string; targets?: JournalTarget[] }
  | { kind: 'elsewhere'; reason: Reason }
  | Unknown

export interface PodPorts {
  snapshot(input: PodInput): Promise<SnapshotAnswer>
  rehearse(input: PodInput): Promise<RehearsalAnswer>
  enroll(input: EnrollInput): Promise<LedgerAnswer>
  store(input: StoreInput): Promise<StoreAnswer>
  read(input: { uid: string }): Promise<ReadAnswer>
  pulls(input: { uid: string }): Promise<PullsAnswer>
  effect(input: EffectInput): Promise<EffectAnswer>
  inspect(input: InspectInput): Promise<TrafficReading>
  compare(input: TargetsInput): Promise<CompareAnswer>
  relocate(input: RelocateInput): Promise<RelocateAnswer>
  settle(input: SettleInput): Promise<LedgerAnswer>
}

type Logic<Name extends keyof PodPorts> = ReturnType<
  typeof logic<Awaited<ReturnType<PodPorts[Name]>>, Parameters<PodPorts[Name]>[0]>
>

function logic<Output, Input>(call: (input: Input) => Promise<Output>) {
  return fromPromise<Output, Input>(({ input }) => call(input))
}

/** The ports as actors of the machine. */
export function portActors(ports: PodPorts): { [Name in keyof PodPorts]: Logic<Name> } {
  return {
    snapshot: logic(ports.snapshot),
    rehearse: logic(ports.rehearse),
    enroll: logic(ports.enroll),
    store: logic(ports.store),
    read: logic(ports.read),
    pulls: logic(ports.pulls),
    effect: logic(ports.effect),
    inspect: logic(ports.inspect),
    compare: logic(ports.compare),
    relocate: logic(ports.relocate),
    settle: logic(ports.settle),
  }
}

function missing(): Promise<never> {
  return Promise.reject(new Error('the ports of the pod upgrade were not provided'))
}

export const missingPorts: PodPorts = {
  snapshot: missing,
  rehearse: missing,
  enroll: missing,
  store: missing,
  read: missing,
  pulls: missing,
  effect: missing,
  inspect: missing,
  compare: missing,
  relocate: missing,
  settle: missing,
}
