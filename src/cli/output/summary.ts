import type { PodOutcome, RunOutcome } from '../../engine/events.ts'
import type { Colors } from './color.ts'
import { inert } from './inert.ts'
import type { PodReport, RunReport } from './run-report.ts'
import { goOn, isTroubled, LIFT } from './sentences.ts'

const VERDICT: Record<RunOutcome, string> = {
  done: 'Done',
  failed: 'Failed',
  rolledBack: 'Rolled back',
  deadline: 'A deadline passed',
  refused: 'Refused, nothing was touched',
  conflict: 'Conflict',
  interrupted: 'Interrupted',
  paused: 'Paused',
  aborted: 'Aborted',
  needsOperator: 'A person has to look',
}

const POD_WORDS: Record<PodOutcome, string> = {
  upgraded: 'upgraded',
  skipped: 'skipped',
  unchanged: 'unchanged',
  settled: 'settled',
  rolledBack: 'rolled back',
  failed: 'failed',
  conflict: 'in conflict',
  interrupted: 'interrupted',
  needsOperator: 'in need of an operator',
}

/** The last lines of a run: how it ended, what is wrong with which pod, and what to type next. */
export function summary(report: RunReport, colors: Colors): string[] {
  const color = ['done', 'aborted', 'paused'].includes(report.outcome) ? colors.green : colors.red
  const counts = (Object.keys(POD_WORDS) as PodOutcome[]).flatMap((outcome) => {
    const count = report.pods.filter((pod) => pod.outcome === outcome).length
    return count === 0 ? [] : [`${count} ${POD_WORDS[outcome]}`]
  })
  const troubled = report.pods.filter((pod) => isTroubled(pod))
  const verdict = `${color(VERDICT[report.outcome])}: ${inert(withoutPodReasons(report.reason, troubled))}`
  const next = nextCommands(report).flatMap(({ heading, commands }) => [
    '',
    heading,
    ...commands.map((command) => `  ${command}`),
  ])
  const totals = counts.length === 0 ? [] : [`Pods: ${counts.join(', ')}`]
  return ['', verdict, ...totals, ...outByOperator(report), ...troubled.flatMap(trouble), ...next]
}

/** The reason of a run repeats that of each pod in trouble. The summary gives the latter once, in the section of the pod. */
function withoutPodReasons(reason: string, troubled: readonly PodReport[]): string {
  return troubled.reduce((rest, { pod, reason: own }) => rest.replace(`${pod}: ${own}`, () => pod), reason)
}

/** Found by a fresh user: the run was done, and a pod that it had upgraded took no requests. */
function outByOperator({ pods }: RunReport): string[] {
  const names = pods.flatMap(({ pod, outBefore }) => (outBefore ? [inert(pod)] : []))
  if (names.length === 0) return []
  return [`${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} out of rotation by an operator, as before`]
}

/** Each has its test in test/embedded/ways-out. */
export type NextKind = 'mixed' | 'undo' | 'template' | 'end' | 'lift' | 'resume'

/** What there is to type after a run, under what it is for. The way back comes first: the way on is what has just failed. */
export function nextCommands(report: RunReport): { kind: NextKind; heading: string; commands: string[] }[] {
  const { mixed = [], undoCommands = [], templateCommands = [], endCommand, liftCommand, resumeCommand } = report
  const one = (command: string | undefined): string[] => (command === undefined ? [] : [command])
  const toTemplate = mixed.map(({ workload, upgraded, pods, command }) => ({
    kind: 'mixed' as const,
    heading: `${inert(workload)}: ${upgraded} of ${pods} pods run other images than the template, which has its former images again. To bring all pods to it (possible where they differ from it in images alone):`,
    commands: [command],
  }))
  // An abort that has failed fails again where the wanted image does not exist: the template's images bring the pod home.
  const templateIsLast = report.outcome === 'failed'
  return [
    ...(templateIsLast ? [] : toTemplate),
    { kind: 'undo' as const, heading: 'To take it back:', commands: undoCommands },
    { kind: 'template' as const, heading: FOLLOW_TEMPLATE, commands: templateCommands },
    { kind: 'end' as const, heading: 'The run stays open. To end it:', commands: one(endCommand) },
    { kind: 'lift' as const, heading: LIFT, commands: one(liftCommand) },
    { kind: 'resume' as const, heading: resumeHeading(report), commands: one(resumeCommand) },
    ...(templateIsLast ? toTemplate : []),
  ].filter(({ commands }) => commands.length > 0)
}

/** After an abort: whether they are to is for whoever has edited it to say. */
export const FOLLOW_TEMPLATE =
  'The run is over. Where the pods are to follow the template as it is now, and differ from it in images alone:'

/** The last line is what people copy: after a failure it is the command that has just failed, after a pause one that waits. */
function resumeHeading({ outcome, holder, abortStands, pausedBy, pods }: RunReport): string {
  if (holder !== undefined) return 'Once that run is over:'
  if (abortStands) return 'The order to abort stands, as sluice status shows. To go on from here:'
  const isPaused = outcome === 'paused' || pausedBy !== undefined
  // Found by trial: nobody would type what was said to try the image again that had failed.
  if (pods.some(({ rollingBack }) => rollingBack))
    return `To go on with the way back to the former images, with a longer deadline where that was too short${isPaused ? ', once the pause is lifted' : ''}:`
  // The command sets again what somebody else has changed of the images, and is refused for anything else of the template.
  if (outcome === 'conflict')
    return `To go on from here, once you have looked at what somebody else has changed${isPaused ? ', and the pause is lifted' : ''} (of a template, whatever is more than images has to be taken back first: until then this is refused):`
  if (outcome === 'failed' || outcome === 'rolledBack')
    return `To try the same again, once the cause is mended${isPaused ? ', and the pause is lifted' : ''}:`
  return goOn(isPaused)
}

function trouble({ pod, outcome, reason, deadline, out, instructions }: PodReport): string[] {
  const facts = [POD_WORDS[outcome], deadline === undefined ? '' : `${deadline} deadline`, out ? 'out of rotation' : '']
  return [
    '',
    `${inert(pod)} (${facts.filter((fact) => fact !== '').join(', ')}): ${inert(reason)}`,
    // Instructions are written by sluice, a command a line; what they quote is not.
    ...(instructions?.split('\n').map((line) => `  ${inert(line)}`) ?? []),
  ]
}
