import { fromPromise } from 'xstate'
import type { ContainerImage, ImagePull, Journal, JournalTarget, PodView, TrafficReading } from '../../src/pods/glossary.ts'
import type { Reason } from '../../src/reasons/reason.ts'
import type { Observation } from './context.ts'

/*
 * What a pod upgrade asks of the world. One invoke is one call of one of these; each resolves with what came of it,
 * and rejects only on a bug. The engine gives them once per run and finds the pod by its uid.
 */

export interface PodInput extends Observation {
  uid: string
  wanted: ContainerImage[]
}

export interface StoreInput extends PodInput {
  /** The record as it is to be stored. */
  record: Journal
  /** It stands already, in an earlier owner's name or without the fence. */
  restates?: true
}

export interface EffectInput {
  uid: string
  /** Of a restore, who is to get requests by it, as it was when that was decided: the pod itself, or the one in its place. */
  toServe?: PodView
  /** Where its targets are found: by that it is known whether they are its own still. */
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
  /** It was patched since every load balancer said that it was out: one that cannot be read is believed so much. */
  wasOut: boolean
  /** Those too that an operator has out: where one of them takes requests, the pod is not to be patched. */
  all?: true
}

export interface RelocateInput extends TargetsInput {
  /** The pod itself, or the one that has come in its place. */
  pod: PodView
}

export interface SettleInput extends TargetsInput {
  /**
   * `restore`: the intent; `closed`: nothing is open any more; `left`: the same, and its entries stay out, since nothing comes in its
   * place; `abandoned`: left out, for a person.
   */
  settlement: 'restore' | 'closed' | 'left' | 'abandoned'
  /** Of the Lease of whoever settles it. */
  epoch: number
  /** Where its targets are found: by that it is known who comes in its place. */
  address?: string
}

/** `unknown`: it may or may not have happened, or could not be asked; `reason` says why. */
export type Unknown = { kind: 'unknown'; reason: Reason }

export type SnapshotAnswer =
  /** `undrained`: the containers that change, where the pod needs no drain for them: then it has no targets. */
  | { kind: 'taken'; targets: JournalTarget[]; undrained?: string[]; address: string }
  | { kind: 'absent'; reason: Reason }
  | Unknown
export type RehearsalAnswer = { kind: 'accepted' } | { kind: 'refused'; reason: Reason } | Unknown
/** A write to the ledger. */
export type LedgerAnswer = { kind: 'stored' } | Unknown
/** What the kubelet's Events say of the images that the pod's containers were started from. */
export type PullsAnswer = { kind: 'read'; pulls: ImagePull[] } | Unknown
/** A guarded write to the pod. */
export type StoreAnswer = { kind: 'stored'; seen: Observation } | { kind: 'rejected'; reason: Reason } | Unknown
/** `refused`: the right to read it is gone, which an administrator may give back. */
export type ReadAnswer = { kind: 'read'; seen: Observation } | { kind: 'gone' } | { kind: 'refused'; reason: Reason } | Unknown
/**
 * A drain or restore over all targets of the pod: the worst of them.
 * `unknown`: bytes may have left; `retryable`: proven not applied; `refused`: trying again cannot help.
 * `lateCall`: an earlier call got no answer and was not seen to be done: it may still arrive.
 */
export type EffectAnswer = ({ kind: 'applied' } | { kind: 'retryable' | 'refused'; reason: Reason } | Unknown) & {
  lateCall?: true
}
/** Are the targets again exactly as they were before the drain? `drained`: the one that differs is as the drain has left it. */
export type CompareAnswer = { kind: 'equal' } | { kind: 'different'; reason: Reason; drained?: true } | Unknown
/**
 * Where the load balancers have the pod by its address now: in the same entries, or not. `targets` where these have
 * followed the pod to its new address, and go by other ids since.
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

/** The ports as the machine invokes them. */
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
