import type { Reason } from '../../reasons/reason.ts'
import { adviceLines } from '../../report/words/advice.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { MixedWorkload } from '../../journal/ledger.ts'
import type { PodOutcome } from '../../engine/events.ts'
import type { Colors } from './color.ts'
import { inert } from './inert.ts'
import type { PodReport, RunReport } from './run-report.ts'
import type { NextCommand, NextPurpose } from '../printed-commands/next-command.ts'
import { goOn, LIFT, podReason } from '../../report/words/events.ts'
import { podOutcome, runOutcome } from '../../report/words/outcomes.ts'
import { isTroubled } from './finished-pod.ts'

const POD_OUTCOMES: readonly PodOutcome[] = [
  'upgraded',
  'skipped',
  'unchanged',
  'settled',
  'rolledBack',
  'failed',
  'conflict',
  'interrupted',
  'needsOperator',
]

/** The last lines of a run: how it ended, what is wrong with which pod, and what to type next. */
export function summary(report: RunReport, colors: Colors, write: Writing): string[] {
  const color = ['done', 'aborted', 'paused'].includes(report.outcome) ? colors.green : colors.red
  const counts = POD_OUTCOMES.flatMap((outcome) => {
    const count = report.pods.filter((pod) => pod.outcome === outcome).length
    return count === 0 ? [] : [`${count} ${podOutcome({ outcome })}`]
  })
  const troubled = report.pods.filter((pod) => isTroubled(pod))
  const verdict = `${color(runOutcome(report))}: ${inert(runReason(report.reason, troubled, write))}`
  const next = nextCommands(report).flatMap(({ heading, commands }) => [
    '',
    heading,
    ...commands.map((command) => `  ${command}`),
  ])
  const totals = counts.length === 0 ? [] : [`Pods: ${counts.join(', ')}`]
  return ['', verdict, ...totals, ...outByOperator(report), ...troubled.flatMap((pod) => trouble(pod, write)), ...next]
}

/** The reason of a pod in trouble stands in the section of the pod: here the pod has its name alone. */
function runReason(reason: Reason, troubled: readonly PodReport[], write: Writing): string {
  if (reason.code === 'several') return reason.reasons.map((one) => runReason(one, troubled, write)).join('; ')
  if (reason.code !== 'pods') return write.reason(reason)
  const hasSection = new Set(troubled.map(({ uid }) => uid))
  return reason.pods.map((one) => (hasSection.has(one.uid) ? one.pod : write.reason({ code: 'pods', pods: [one] }))).join('; ')
}

/** Found by a fresh user: the run was done, and a pod that it had upgraded took no requests. */
function outByOperator({ pods }: RunReport): string[] {
  const names = pods.flatMap(({ pod, traffic }) => (traffic === 'operatorOut' ? [inert(pod)] : []))
  if (names.length === 0) return []
  return [`${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} out of rotation by an operator, as before`]
}

/** What there is to run after a run, under what it is for. Each purpose has its test in test/embedded/ways-out. */
export function nextCommands(report: RunReport): { to: NextPurpose; heading: string; commands: string[] }[] {
  const byHeading = Map.groupBy(report.next, (one) => headingOf(one, report))
  return Array.from(byHeading, ([heading, all]) => ({ to: all[0]!.to, heading, commands: all.map(({ shell }) => shell) }))
}

function headingOf({ to, workload }: NextCommand, report: RunReport): string {
  switch (to) {
    case 'backToTemplate':
      return mixedHeading(report.mixed, workload)
    case 'undo':
      return 'To take it back:'
    case 'followTemplate':
      return FOLLOW_TEMPLATE
    case 'end':
      return 'The run stays open. To end it:'
    case 'liftPause':
      return LIFT
    case 'goOn':
      return goOnHeading(report)
  }
}

/** Above the command that brings the pods of a workload to its template. */
export function mixedHeading(mixed: readonly MixedWorkload[] = [], workload = ''): string {
  const { upgraded, pods } = mixed.find((one) => one.workload === workload)!
  return `${inert(workload)}: ${upgraded} of ${pods} pods run other images than the template, which has its former images again. To bring all pods to it (possible where they differ from it in images alone):`
}

/** After an abort: whether they are to is for whoever has edited it to say. */
export const FOLLOW_TEMPLATE =
  'The run is over. Where the pods are to follow the template as it is now, and differ from it in images alone:'

/** The last line is what people copy: after a failure it is the command that has just failed, after a pause one that waits. */
function goOnHeading({ outcome, holder, abortStands, pausedBy, pods }: RunReport): string {
  if (holder !== undefined) return 'Once that run is over:'
  if (abortStands) return 'The order to abort stands, as sluice status shows. To go on from here:'
  const isPaused = outcome === 'paused' || pausedBy !== undefined
  // Found by trial: nobody would type what was said to try the image again that had failed.
  if (pods.some(isRollingBack))
    return `To go on with the way back to the former images, with a longer deadline where that was too short${isPaused ? ', once the pause is lifted' : ''}:`
  // The command sets again what somebody else has changed of the images, and is refused for anything else of the template.
  if (outcome === 'conflict')
    return `To go on from here, once you have looked at what somebody else has changed${isPaused ? ', and the pause is lifted' : ''} (of a template, whatever is more than images has to be taken back first: until then this is refused):`
  if (outcome === 'failed' || outcome === 'rolledBack')
    return `To try the same again, once the cause is mended${isPaused ? ', and the pause is lifted' : ''}:`
  return goOn(isPaused)
}

/** It has failed on its way back to its former images, which the same command goes on with. */
function isRollingBack({ outcome, traffic, before }: PodReport): boolean {
  return outcome === 'failed' && traffic === 'out' && before?.outcome === 'rolledBack'
}

function trouble(report: PodReport, write: Writing): string[] {
  const { pod, deadline, traffic, advice } = report
  const facts = [
    podOutcome(report),
    deadline === undefined ? '' : `${deadline} deadline`,
    traffic === 'out' ? 'out of rotation' : '',
  ]
  return [
    '',
    `${inert(pod)} (${facts.filter((fact) => fact !== '').join(', ')}): ${inert(podReason(report, write))}`,
    ...advice.flatMap((one) => adviceLines(one, write)).map((line) => `  ${inert(line)}`),
  ]
}
