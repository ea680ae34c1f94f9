/** How a run is put into words; shared by the table and the lines. Everything from outside is made inert here. */
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

/** What went wrong, without its cause: a reason has that after its first colon. */
function inShort(reason: string): string {
  return reason.split(': ', 1)[0]!
}

/** The last line of a pod. The cause of a failure stands once, at the end of the output, where most people look first. */
export function finishedPod(result: PodResult, colors: Colors): string {
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
  const out = result.out ? ' (out of rotation)' : ''
  return `${mark} ${name} ${words}${took}: ${inert(isTroubled(result) ? inShort(result.reason) : result.reason)}${deadline}${out}`
}

export function leaseWaiting({ lease, holder, remainingMs }: { lease: string; holder: string; remainingMs: number }): string {
  const seconds = Math.max(0, Math.ceil(remainingMs / 1000))
  if (holder === '')
    return `the Lease ${inert(lease)} was deleted, or its holder cleared, and its owner may be alive: waiting ${seconds}s for its calls to end before taking over`
  return `the Lease ${inert(lease)} is held by ${inert(holder)}: waiting ${seconds}s for a sign of life before taking over`
}

/** What an effect did; undefined for the straight case, which the pod's state tells already. */
export function unusualEffect(event: Extract<RunEvent, { type: 'effect' }>): string | undefined {
  const where = `${event.effect} of ${inert(event.target)} in ${inert(event.loadBalancer)}`
  const detail = event.detail === undefined ? '' : ` (${inert(event.detail)})`
  switch (event.outcome) {
    case 'ambiguous':
      return `${where}: no trustworthy answer, reading back${detail}`
    case 'failed':
      return `${where} failed${detail}`
    case 'confirmed':
      return `${where} confirmed by read-back${detail}`
    case 'pending':
      return `${where} goes on as a job${detail}`
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
