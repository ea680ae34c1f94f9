import type { PodContext } from './context.ts'
import { fencedRecord, goalOf } from './facts.ts'
import type {
  EffectInput,
  InspectInput,
  EnrollInput,
  PodInput,
  RelocateInput,
  SettleInput,
  StoreInput,
  TargetsInput,
} from './ports.ts'

/* The inputs of the ports. They come from the context, so that the record and the observation decide each call. */

export interface From {
  context: PodContext
}

export function podInput({ context }: From): PodInput {
  const { uid, pod, stored } = context
  return { uid, pod, stored, wanted: goalOf(context) }
}

/** The input before any decision: all wanted images, whatever an earlier look has found. */
export function requestInput({ context }: From): PodInput {
  const { uid, pod, stored, wanted } = context
  return { uid, pod, stored, wanted }
}

export function enrollInput({ context }: From): EnrollInput {
  return { ...requestInput({ context }), targets: context.record!.targets }
}

export function uidInput({ context: { uid } }: From): { uid: string } {
  return { uid }
}

export function storeInput({ context }: From): StoreInput {
  return { ...podInput({ context }), record: context.record! }
}

export function claimInput({ context }: From): StoreInput {
  return { ...storeInput({ context }), restates: true }
}

export function fenceInput({ context }: From): StoreInput {
  return { ...podInput({ context }), record: fencedRecord(context), restates: true }
}

export function targetsInput({ context: { uid, record } }: From): TargetsInput {
  return { uid, targets: record!.targets }
}

export function inspectInput({ context }: From): InspectInput {
  return { ...targetsInput({ context }), wasOut: context.record!.step === 'patched' }
}

export function inspectAllInput({ context }: From): InspectInput {
  return { ...inspectInput({ context }), all: true }
}

export function drainInput(from: From): EffectInput {
  return { ...placeInput(from), effect: 'drain', record: from.context.record! }
}

export function restoreInput(from: From): EffectInput {
  return { ...placeInput(from), toServe: from.context.pod, effect: 'restore', record: from.context.record! }
}

/** The restore of the targets of a gone pod, for its replacement. */
export function heirRestoreInput(from: From): EffectInput {
  return { ...restoreInput(from), toServe: from.context.heir!.pod }
}

export function relocateInput({ context }: From): RelocateInput {
  return { ...targetsInput({ context }), pod: context.pod }
}

export function followInput({ context }: From): RelocateInput {
  return { ...targetsInput({ context }), pod: context.heir!.pod }
}

export function settleInput(settlement: SettleInput['settlement']): (from: From) => SettleInput {
  return (from) => ({ ...targetsInput(from), ...placeInput(from), settlement, epoch: from.context.epoch })
}

function placeInput({ context: { uid, address } }: From): { uid: string; address?: string } {
  return { uid, ...(address === undefined ? {} : { address }) }
}
