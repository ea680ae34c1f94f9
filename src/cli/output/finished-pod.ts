import { shortWords } from '../../report/words/short.ts'
import { podReason } from '../../report/words/events.ts'
import { podOutcome } from '../../report/words/outcomes.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { PodResult, PodState } from '../../engine/events.ts'
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

/** Formats `draining 0.2s, emptying 3.1s, …`. The wait for a place in the window does not count. */
export function phaseList(phases: PodResult['phases']): string {
  return PHASE_ORDER.flatMap((state) => (phases[state] === undefined ? [] : [`${state} ${formatElapsed(phases[state])}`])).join(
    ', ',
  )
}

/** Reports whether the end of the output has a section for the pod, with the whole cause. */
export function isTroubled({ outcome }: Pick<PodResult, 'outcome'>): boolean {
  return outcome === 'failed' || outcome === 'rolledBack' || outcome === 'needsOperator' || outcome === 'conflict'
}

/** Returns the last line of a pod. The cause of a failure appears only at the end of the output, where most people look first. */
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
  const deadline = result.deadline === undefined ? '' : ` [${result.deadline} deadline]`
  const out = result.traffic === 'out' ? ' (out of rotation)' : ''
  const reason = isTroubled(result) ? shortWords(result.reason, write) : podReason(result, write)
  return `${mark} ${name} ${podOutcome(result)}${took}: ${inert(reason)}${deadline}${out}`
}
