import type { Writing } from '../../report/words/writing.ts'
import { requestWords } from '../../report/words/request.ts'
import type { KnownRun } from '../../report/from-ledgers.ts'
import type { Report } from '../../report/report.ts'
import { podOutcome, runOutcome } from '../../report/words/outcomes.ts'
import { busyMs, callWords, outWords, toneOf, warningLines, type Tone } from '../../report/report-words.ts'
import type { Colors } from './color.ts'
import { table } from './columns.ts'
import { formatElapsed } from './elapsed.ts'
import { inert } from './inert.ts'

/** Returns the known runs, one in a line. */
export function runLines(namespace: string, runs: readonly KnownRun[]): string[] {
  if (runs.length === 0) return [`No run is on record in namespace ${inert(namespace)}.`]
  const rows = runs.map(({ run, workloads, images, undoes, startedAt, endedAt, outcome }) => [
    inert(run),
    inert(workloads.join(', ')),
    inert(requestWords({ images, ...(undoes === undefined ? {} : { undoes }) })),
    inert(startedAt),
    endedAt === undefined ? '' : formatElapsed(Date.parse(endedAt) - Date.parse(startedAt)),
    inert(outcome),
  ])
  return table([['RUN', 'WORKLOAD', 'REQUEST', 'STARTED', 'TOOK', 'OUTCOME'], ...rows])
}

export function reportLines(report: Report, colors: Colors, write: Writing): string[] {
  const { run, namespace, workloads, images, undoes, startedAt, endedAt, pods, missing } = report
  const took = endedAt === undefined ? '' : `, took ${formatElapsed(Date.parse(endedAt) - Date.parse(startedAt))}`
  const request = requestWords({ images, ...(undoes === undefined ? {} : { undoes }) })
  const rows = pods.map((pod) => {
    const note =
      pod.outcome === 'upgraded'
        ? ''
        : [pod.reason, pod.missing].flatMap((one) => (one === undefined ? [] : [write.reason(one)])).join('; ')
    return [
      inert(pod.pod),
      podOutcome(pod),
      outWords(pod),
      pod.phases.length === 0 ? '' : formatElapsed(busyMs(pod)),
      inert(pod.proof ?? ''),
      callWords(pod),
      inert(note),
    ]
  })
  return [
    `run ${inert(run)} of ${inert(workloads.join(', '))} in namespace ${inert(namespace)}: ${inert(request)}`,
    `${paint(toneOf(report.outcome), colors)(runOutcome(report))}: ${inert(write.reason(report.reason))}`,
    `began ${inert(startedAt)}${took}`,
    '',
    ...table([['POD', 'OUTCOME', 'OUT FOR', 'IN ALL', 'PROOF', 'CALLS', 'NOTE'], ...rows]),
    ...section('Missing', missing.map(write.reason)),
    ...section('Warnings', warningLines(report, write)),
  ]
}

function section(heading: string, all: readonly string[]): string[] {
  return all.length === 0 ? [] : ['', `${heading}:`, ...all.map((text) => `  ${inert(text)}`)]
}

function paint(tone: Tone, colors: Colors): (text: string) => string {
  return { good: colors.green, bad: colors.red, warn: colors.yellow, calm: colors.bold }[tone]
}
