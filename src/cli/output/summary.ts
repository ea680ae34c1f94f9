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

/** Returns the last lines of a run: its outcome, the trouble of each pod, and the commands to run next. */
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

/** Names a pod in trouble without its reason, which has a section of its own. */
function runReason(reason: Reason, troubled: readonly PodReport[], write: Writing): string {
  if (reason.code === 'several') return reason.reasons.map((one) => runReason(one, troubled, write)).join('; ')
  if (reason.code !== 'pods') return write.reason(reason)
  const hasSection = new Set(troubled.map(({ uid }) => uid))
  return reason.pods.map((one) => (hasSection.has(one.uid) ? one.pod : write.reason({ code: 'pods', pods: [one] }))).join('; ')
}

/** Names pods that were upgraded and still get no requests. */
function outByOperator({ pods }: RunReport): string[] {
  const names = pods.flatMap(({ pod, traffic }) => (traffic === 'operatorOut' ? [inert(pod)] : []))
  if (names.length === 0) return []
  return [`${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} out of rotation by an operator, as before`]
}

/** Groups the commands after a run by their purpose. Each purpose has its test in test/embedded/ways-out. */
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

/** The heading above the command that brings the pods of a workload to its template. */
export function mixedHeading(mixed: readonly MixedWorkload[] = [], workload = ''): string {
  const { upgraded, pods } = mixed.find((one) => one.workload === workload)!
  return `${inert(workload)}: ${upgraded} of ${pods} pods run other images than the template, which has its former images again. To bring all pods to it (possible where they differ from it in images alone):`
}

/** The heading after an abort. Only an operator can tell whether the pods are to follow the edited template. */
export const FOLLOW_TEMPLATE =
  'The run is over. Where the pods are to follow the template as it is now, and differ from it in images alone:'

/**
 * The heading above the last line, which people tend to copy. After a failure that line is the command that has just failed, after a
 * pause a command that waits.
 */
function goOnHeading({ outcome, holder, abortStands, pausedBy, pods }: RunReport): string {
  if (holder !== undefined) return 'Once that run is over:'
  if (abortStands) return 'The order to abort stands, as sluice status shows. To go on from here:'
  const isPaused = outcome === 'paused' || pausedBy !== undefined
  // A pod on the way back needs another heading than "try the same again": the command does not try the failed image again.
  if (pods.some(isRollingBack))
    return `To go on with the way back to the former images, with a longer deadline where that was too short${isPaused ? ', once the pause is lifted' : ''}:`
  // The command sets the images again where they were changed by hand, and is refused for any other change of the template.
  if (outcome === 'conflict')
    return `To go on from here, once you have looked at what somebody else has changed${isPaused ? ', and the pause is lifted' : ''} (of a template, whatever is more than images has to be taken back first: until then this is refused):`
  if (outcome === 'failed' || outcome === 'rolledBack')
    return `To try the same again, once the cause is mended${isPaused ? ', and the pause is lifted' : ''}:`
  return goOn(isPaused)
}

/** Reports whether the pod failed on the way back to its former images. The command continues that way. */
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
