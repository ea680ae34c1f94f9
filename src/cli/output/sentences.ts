/** How a run is put into words; shared by the table and the lines. Everything from outside is made inert here. */
import type { Reason } from '../../reasons/reason.ts'
import { shortWords } from '../../report/words/short.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { PodResult, PodState, RunEvent } from '../../engine/events.ts'
import type { Colors } from './color.ts'
import { formatElapsed } from './elapsed.ts'
import { inert } from './inert.ts'

/** The states of a straight upgrade and the others, in the order in which a pod goes through them. */
const PHASE_ORDER: readonly PodState[] = [
  'deriving',
  'claiming',
  'checking',
  'draining',
  'emptying',
  'patching',
  'rollingBack',
  'restarting',
  'warming',
  'restoring',
  'verifying',
  'readmitting',
  'settling',
  'closing',
]

/** `draining 0.2s, emptying 3.1s, …`: waiting for a place in the window is not the pod's own time. */
export function phaseList(phases: PodResult['phases']): string {
  return PHASE_ORDER.flatMap((state) => (phases[state] === undefined ? [] : [`${state} ${formatElapsed(phases[state])}`])).join(
    ', ',
  )
}

const POD_ENDS: Partial<Record<PodResult['outcome'], string>> = { needsOperator: 'needs an operator', rolledBack: 'rolled back' }

/** The end of the output has a section for such a pod, with the whole cause. */
export function isTroubled({ outcome }: Pick<PodResult, 'outcome'>): boolean {
  return outcome === 'failed' || outcome === 'rolledBack' || outcome === 'needsOperator' || outcome === 'conflict'
}

/** What a pod waits for; empty where that is an answer only. */
export function detail(waiting: Reason | undefined, write: Writing): string {
  return waiting === undefined ? '' : write.reason(waiting)
}

export function warning({ pod, reason }: { pod?: string; reason: Reason }, write: Writing): string {
  return `warning: ${pod === undefined ? '' : `${inert(pod)}: `}${inert(write.reason(reason))}`
}

/** Why a pod ended as it did, and what came before that where it went meanwhile. */
export function podReason({ outcome, reason, before }: Pick<PodResult, 'outcome' | 'reason' | 'before'>, write: Writing): string {
  const failed = before !== undefined && outcome === 'settled' ? `${write.reason(before.reason)}; ` : ''
  return `${failed}${write.reason(reason)}`
}

/** The last line of a pod. The cause of a failure stands once, at the end of the output, where most people look first. */
export function finishedPod(result: PodResult, colors: Colors, write: Writing): string {
  const total = PHASE_ORDER.reduce((sum, state) => sum + (result.phases[state] ?? 0), 0)
  const phases = phaseList(result.phases)
  const took = phases === '' ? '' : ` in ${formatElapsed(total)}`
  const name = inert(result.pod)
  if (result.outcome === 'upgraded') {
    return `${colors.green('✓')} ${name} upgraded${took}${phases === '' ? '' : colors.dim(` (${phases})`)}`
  }
  const isCalm = ['skipped', 'unchanged', 'settled'].includes(result.outcome)
  const mark = isCalm ? colors.dim('-') : colors.red('✗')
  const words = POD_ENDS[result.outcome] ?? result.outcome
  const deadline = result.deadline === undefined ? '' : ` [${result.deadline} deadline]`
  const out = result.traffic === 'out' ? ' (out of rotation)' : ''
  const reason = isTroubled(result) ? shortWords(result.reason, write) : podReason(result, write)
  return `${mark} ${name} ${words}${took}: ${inert(reason)}${deadline}${out}`
}

export function leaseWaiting({ lease, holder, remainingMs }: { lease: string; holder: string; remainingMs: number }): string {
  const seconds = Math.max(0, Math.ceil(remainingMs / 1000))
  if (holder === '')
    return `the Lease ${inert(lease)} was deleted, or its holder cleared, and its owner may be alive: waiting ${seconds}s for its calls to end before taking over`
  return `the Lease ${inert(lease)} is held by ${inert(holder)}: waiting ${seconds}s for a sign of life before taking over`
}

/** What an effect did; undefined for the straight case, which the pod's state tells already. */
export function unusualEffect(event: Extract<RunEvent, { type: 'effect' }>, write: Writing): string | undefined {
  const where = `${event.effect} of ${inert(event.target)} in ${inert(event.loadBalancer)}`
  const said = event.said ?? (event.reason && write.reason(event.reason))
  const more = said === undefined ? '' : ` (${inert(said)})`
  switch (event.outcome) {
    case 'ambiguous':
      return `${where}: no trustworthy answer, reading back${more}`
    case 'failed':
      return `${where} failed${more}`
    case 'confirmed':
      return `${where} confirmed by read-back${more}`
    case 'pending':
      return `${where} goes on as a job${more}`
    case 'applied':
      return undefined
  }
}

export function interrupting(graceMs: number): string {
  return `interrupted: no new pod is started; pods that are drained and not patched are put back; patched ones get ${formatElapsed(graceMs)} to come home`
}

export function ordered({ order, by }: Extract<RunEvent, { type: 'ordered' }>): string {
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

export const LIFT = 'To lift the pause:'

/** Above the command that goes on, which only waits where somebody has paused the run. */
export function goOn(isPaused: boolean): string {
  return isPaused ? 'To go on from here, once the pause is lifted:' : 'To go on from here:'
}

export function started({ run, epoch, resumed, pods }: Extract<RunEvent, { type: 'started' }>): string {
  const count = `${pods.length} ${pods.length === 1 ? 'pod' : 'pods'}`
  return `run ${inert(run)} ${resumed ? 'goes on' : 'begins'}: ${count}, epoch ${epoch}`
}
