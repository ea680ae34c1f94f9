import type { PodStatus, Status, StatusReport } from '../../engine/status/status.ts'
import { chunkName } from '../../journal/ledger.ts'
import type { Colors } from './color.ts'
import { table } from './columns.ts'
import { displayName } from '../../pods/workload-id.ts'
import { inert } from './inert.ts'
import { API_VERSION } from './api-version.ts'

export function needsOperator({ pods }: StatusReport): boolean {
  return pods.some((pod) => pod.needsOperator !== undefined)
}

/** A run is at work, or something waits for one to go on with it. */
export function isOpen({ pods, runs }: StatusReport): boolean {
  return pods.some(({ state }) => state !== 'closed') || runs.some(({ finished }) => !finished)
}

/** For `status -o json`. */
export function statusDocument(namespace: string, status: Status): object {
  const workloads = status.workloads.map((report) => ({ ...report, open: isOpen(report), needsOperator: needsOperator(report) }))
  return { apiVersion: API_VERSION, kind: 'StatusReport', namespace, workloads, unreadable: status.unreadable }
}

export function statusLines(namespace: string, { workloads, unreadable }: Status, colors: Colors): string[] {
  if (workloads.length + unreadable.length === 0) return [`No records of sluice in namespace ${inert(namespace)}.`]
  const broken = unreadable.flatMap((one) => brokenLines(one, colors))
  const sections = [...workloads.map((report) => reportLines(report, colors)), ...(broken.length === 0 ? [] : [broken])]
  return sections.flatMap((lines, index) => [...(index === 0 ? [] : ['']), ...lines])
}

function brokenLines({ run, reason, needsOperator: text }: Status['unreadable'][number], colors: Colors): string[] {
  const what = `the ledger of run ${inert(run)} (ConfigMap ${inert(chunkName(run, 0))}) cannot be read: ${inert(reason)}`
  return [
    `${colors.red('a person has to look')}: ${what}. What it has left open for pods that are gone is not known.`,
    ...text.split('\n').map((line) => `    ${inert(line)}`),
  ]
}

function reportLines(report: StatusReport, colors: Colors): string[] {
  const { workload, lease, runs, pods } = report
  const verdict = needsOperator(report)
    ? colors.red('a person has to look')
    : isOpen(report)
      ? colors.yellow('open')
      : colors.green('nothing is open')
  const lines = [`${inert(displayName(workload))} in namespace ${inert(workload.namespace)}: ${verdict}`]
  if (lease !== undefined) lines.push(`  ${leaseWords(lease)}`)
  if (runs.length > 0) {
    const rows = runs.map((run) => [inert(run.id), inert(run.request), inert(run.startedAt), runState(run)])
    lines.push('', ...table([['RUN', 'REQUEST', 'STARTED', 'STATE'], ...rows], { indent: '  ' }))
  }
  if (pods.length > 0) {
    const rows = pods.map(({ name, state, run, attempt, out, detail }) => [
      inert(name),
      state,
      inert(run),
      attempt === null ? '-' : String(attempt),
      rotation(state, out),
      inert(detail),
    ])
    lines.push('', ...table([['POD', 'STATE', 'RUN', 'ATTEMPT', 'ROTATION', 'DETAIL'], ...rows], { indent: '  ' }))
  }
  return [...lines, ...pods.flatMap(instructions)]
}

function runState({ finished, abortedBy, ordered }: StatusReport['runs'][number]): string {
  if (abortedBy !== undefined) return 'aborted'
  if (finished) return 'finished'
  return ordered === undefined ? 'open' : ordered === 'pause' ? 'paused' : 'aborting'
}

function leaseWords({ holder, epoch, live, order }: NonNullable<StatusReport['lease']>): string {
  const ordered = order === undefined ? '' : `; ${order.order === 'pause' ? 'paused' : 'abort ordered'} by ${inert(order.by)}`
  if (holder === undefined) return `held by nobody (epoch ${epoch})${ordered}`
  const life = live === undefined ? '' : live ? ', alive' : ', not alive'
  return `held by ${inert(holder)} (epoch ${epoch}${life})${ordered}`
}

/** Of a closed one nothing is open; whether anybody else has it out, only the load balancer knows. */
function rotation(state: PodStatus['state'], out: PodStatus['out']): string {
  if (state === 'closed') return '-'
  if (out === null) return 'unknown'
  return out ? 'out' : 'in'
}

function instructions({ name, needsOperator: text }: PodStatus): string[] {
  if (text === undefined) return []
  return ['', `  ${inert(name)} needs an operator:`, ...text.split('\n').map((line) => `    ${inert(line)}`)]
}
