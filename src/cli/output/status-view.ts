import { adviceLines } from '../../report/words/advice.ts'
import { worded } from '../../report/words/document.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { NeedsOperator, PodStatus, Status, StatusReport } from '../../engine/status/status.ts'
import { chunkName } from '../../journal/ledger.ts'
import type { Colors } from './color.ts'
import { table } from './columns.ts'
import { displayName } from '../../pods/workload-id.ts'
import { inert } from './inert.ts'
import { requestWords } from '../../report/words/request.ts'
import { API_VERSION } from './api-version.ts'

export function needsOperator({ pods }: StatusReport): boolean {
  return pods.some((pod) => pod.needsOperator !== undefined)
}

/** Reports whether a run is in progress, or waits for a run to continue it. */
export function isOpen({ pods, runs }: StatusReport): boolean {
  return pods.some(({ state }) => state !== 'closed') || runs.some(({ finished }) => !finished)
}

/** The document of `status -o json`. */
export function statusDocument(namespace: string, status: Status, write: Writing): unknown {
  const workloads = status.workloads.map((report) => ({ ...report, open: isOpen(report), needsOperator: needsOperator(report) }))
  const { unreadable } = status
  return worded({ apiVersion: API_VERSION, kind: 'StatusReport', namespace, workloads, unreadable }, write)
}

export function statusLines(namespace: string, { workloads, unreadable }: Status, colors: Colors, write: Writing): string[] {
  if (workloads.length + unreadable.length === 0) return [`No records of sluice in namespace ${inert(namespace)}.`]
  const broken = unreadable.flatMap((one) => brokenLines(one, colors, write))
  const sections = [...workloads.map((report) => reportLines(report, colors, write)), ...(broken.length === 0 ? [] : [broken])]
  return sections.flatMap((lines, index) => [...(index === 0 ? [] : ['']), ...lines])
}

function brokenLines(
  { run, problem, needsOperator: person }: Status['unreadable'][number],
  colors: Colors,
  write: Writing,
): string[] {
  const what = `the ledger of run ${inert(run)} (ConfigMap ${inert(chunkName(run, 0))}) cannot be read: ${inert(write.reason(problem))}`
  return [
    `${colors.red('a person has to look')}: ${what}. What it has left open for pods that are gone is not known.`,
    ...personLines(person, write),
  ]
}

function personLines({ reason, advice }: NeedsOperator, write: Writing): string[] {
  const lines = advice.flatMap((one) => adviceLines(one, write))
  const told = lines.length > 0 || reason === undefined ? lines : [write.reason(reason)]
  return told.map((line) => `    ${inert(line)}`)
}

function reportLines(report: StatusReport, colors: Colors, write: Writing): string[] {
  const { workload, lease, runs, pods } = report
  const verdict = needsOperator(report)
    ? colors.red('a person has to look')
    : isOpen(report)
      ? colors.yellow('open')
      : colors.green('nothing is open')
  const lines = [`${inert(displayName(workload))} in namespace ${inert(workload.namespace)}: ${verdict}`]
  if (lease !== undefined) lines.push(`  ${leaseWords(lease)}`)
  if (runs.length > 0) {
    const rows = runs.map((run) => [inert(run.id), inert(requestWords(run)), inert(run.startedAt), runState(run)])
    lines.push('', ...table([['RUN', 'REQUEST', 'STARTED', 'STATE'], ...rows], { indent: '  ' }))
  }
  if (pods.length > 0) {
    const rows = pods.map(({ name, state, run, attempt, out, reasons }) => [
      inert(name),
      state,
      inert(run),
      attempt === null ? '-' : String(attempt),
      rotation(state, out),
      inert(reasons.map((one) => write.reason(one)).join('; ')),
    ])
    lines.push('', ...table([['POD', 'STATE', 'RUN', 'ATTEMPT', 'ROTATION', 'DETAIL'], ...rows], { indent: '  ' }))
  }
  return [...lines, ...pods.flatMap((pod) => instructions(pod, write))]
}

function runState({ finished, abortedBy, ordered }: StatusReport['runs'][number]): string {
  if (abortedBy !== undefined) return 'aborted'
  if (finished) return 'finished'
  return ordered === undefined ? 'open' : ordered === 'pause' ? 'paused' : 'aborting'
}

function leaseWords({ holder, epoch, order }: NonNullable<StatusReport['lease']>): string {
  const ordered = order === undefined ? '' : `; ${order.order === 'pause' ? 'paused' : 'abort ordered'} by ${inert(order.by)}`
  if (holder === undefined) return `held by nobody (epoch ${epoch})${ordered}`
  return `held by ${inert(holder)} (epoch ${epoch})${ordered}`
}

/** For a closed pod nothing is open. Only the load balancer knows whether an operator has the pod out. */
function rotation(state: PodStatus['state'], out: PodStatus['out']): string {
  if (state === 'closed') return '-'
  if (out === null) return 'unknown'
  return out ? 'out' : 'in'
}

function instructions({ name, needsOperator: person }: PodStatus, write: Writing): string[] {
  if (person === undefined) return []
  return ['', `  ${inert(name)} needs an operator:`, ...personLines(person, write)]
}
