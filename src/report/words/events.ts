import type { Reason } from '../../reasons/reason.ts'
import { formatElapsed } from '../elapsed.ts'
import { inert } from '../inert.ts'
import type { Writing } from './writing.ts'

/** The English of the events of a run. Text from outside is made inert. */

/** The condition that a pod waits for; empty if it is not known. */
export function detail(waiting: Reason | undefined, write: Writing): string {
  return waiting === undefined ? '' : write.reason(waiting)
}

export function warning({ pod, reason }: { pod?: string; reason: Reason }, write: Writing): string {
  return `warning: ${pod === undefined ? '' : `${inert(pod)}: `}${inert(write.reason(reason))}`
}

/** The reason for the end of a pod, with an earlier failure if there was one. */
export function podReason(
  { outcome, reason, before }: { outcome: string; reason: Reason; before?: { reason: Reason } },
  write: Writing,
): string {
  const failed = before !== undefined && outcome === 'settled' ? `${write.reason(before.reason)}; ` : ''
  return `${failed}${write.reason(reason)}`
}

export function leaseWaiting({ lease, holder, remainingMs }: { lease: string; holder: string; remainingMs: number }): string {
  const seconds = Math.max(0, Math.ceil(remainingMs / 1000))
  if (holder === '')
    return `the Lease ${inert(lease)} was deleted, or its holder cleared, and its owner may be alive: waiting ${seconds}s for its calls to end before taking over`
  return `the Lease ${inert(lease)} is held by ${inert(holder)}: waiting ${seconds}s for a sign of life before taking over`
}

interface Effect {
  effect: 'drain' | 'restore'
  target: string
  loadBalancer: string
  outcome: 'applied' | 'ambiguous' | 'failed' | 'confirmed' | 'pending'
  said?: string
  reason?: Reason
}

export function effect(told: Effect, write: Writing): string {
  const where = `${told.effect} of ${inert(told.target)} in ${inert(told.loadBalancer)}`
  const said = told.said ?? (told.reason && write.reason(told.reason))
  const more = said === undefined ? '' : ` (${inert(said)})`
  switch (told.outcome) {
    case 'ambiguous':
      return `${where}: no trustworthy answer, reading back${more}`
    case 'failed':
      return `${where} failed${more}`
    case 'confirmed':
      return `${where} confirmed by read-back${more}`
    case 'pending':
      return `${where} goes on as a job${more}`
    case 'applied':
      return `${where} done`
  }
}

export function interrupting(graceMs: number): string {
  return `interrupted: no new pod is started; pods that are drained and not patched are put back; patched ones get ${formatElapsed(graceMs)} to come home`
}

export function ordered({ order, by }: { order: 'pause' | 'resume' | 'abort'; by: string }): string {
  switch (order) {
    case 'pause':
      return `paused by ${inert(by)}: no new pod is started; pods that are under way come home`
    case 'abort':
      return `abort ordered by ${inert(by)}: no new pod is started; pods that are drained and not patched are put back; patched ones come home`
    case 'resume':
      return 'the pause is lifted'
  }
}

export function paused(by: string): string {
  return `paused by ${inert(by)}: nothing is under way any more`
}

export function started({
  run,
  epoch,
  resumed,
  pods,
}: {
  run: string
  epoch: number
  resumed: boolean
  pods: unknown[]
}): string {
  const count = `${pods.length} ${pods.length === 1 ? 'pod' : 'pods'}`
  return `run ${inert(run)} ${resumed ? 'goes on' : 'begins'}: ${count}, epoch ${epoch}`
}

export const LIFT = 'To lift the pause:'

/** The line above the command that continues the run. While the run is paused, that command only waits. */
export function goOn(isPaused: boolean): string {
  return isPaused ? 'To go on from here, once the pause is lifted:' : 'To go on from here:'
}
