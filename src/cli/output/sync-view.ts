import { worded } from '../../report/words/document.ts'
import {
  awayWords,
  leftBehindHint,
  leftBehindMessage,
  problemHint,
  problemMessage,
  sourceProblemHint,
  sourceProblemMessage,
  syncEventWords,
} from '../../report/words/sync.ts'
import type { Writing } from '../../report/words/writing.ts'
import type { SourceProblem, SyncProblem } from '../../sync/problems.ts'
import type { ServiceStatus, SourceStatus, SyncEvent, SyncSnapshot } from '../../sync/sync-run.ts'
import { API_VERSION } from './api-version.ts'
import type { Colors } from './color.ts'
import { table } from './columns.ts'
import { formatElapsed } from './elapsed.ts'
import { inert, inertJson } from './inert.ts'

/** A line of text for an event. */
export function syncEventLine(event: SyncEvent, wallAt: number, write: Writing): string {
  const code = 'problem' in event ? coded(event.problem.code) : ''
  return `${new Date(wallAt).toISOString().slice(11, 23)}  ${inert(syncEventWords(event, write))}${code}`
}

/** The end of a line about a problem: the page of sync has the code. */
function coded(code: string): string {
  return ` [${code}]`
}

/** A line of JSON for an event. */
export function syncEventJson(event: SyncEvent, wallAt: number, write: Writing): string {
  return inertJson({
    apiVersion: API_VERSION,
    kind: 'SyncEvent',
    at: wallAt,
    ...facts(event, write),
    message: syncEventWords(event, write),
  })
}

/** Words each fact separately. The code of a problem may also be that of a reason, which has other words. */
function facts(of: object, write: Writing): object {
  return Object.fromEntries(
    Object.entries(of).map(([name, fact]) => [name, name === 'problem' ? facts(fact as object, write) : worded(fact, write)]),
  )
}

/** Whether all is as it should be. */
export function isInOrder({ access, sources, services, leftBehind, isSettled }: SyncSnapshot): boolean {
  return (
    isSettled &&
    access.is === 'current' &&
    sources.every(({ is, problems }) => is === 'current' && problems.length === 0) &&
    services.every(({ isPending, problems }) => !isPending && problems.length === 0) &&
    leftBehind.length === 0
  )
}

/** The document of `sync status -o json`. */
export function syncStatusDocument(snapshot: SyncSnapshot, write: Writing): unknown {
  const { access, sources, services, leftBehind } = snapshot
  return {
    apiVersion: API_VERSION,
    kind: 'SyncStatus',
    isInOrder: isInOrder(snapshot),
    access: worded(access, write),
    sources: sources.map(({ problems, ...source }) => ({
      ...(worded(source, write) as object),
      problems: problems.map((problem) => ({
        ...facts(problem, write),
        message: sourceProblemMessage(problem, write),
        hint: sourceProblemHint(problem, write),
      })),
    })),
    services: services.map(({ problems, ...service }) => ({
      ...service,
      problems: problems.map((problem) => ({
        ...facts(problem, write),
        message: problemMessage(problem, service, write),
        hint: problemHint(problem, service, write),
      })),
    })),
    leftBehind: leftBehind.map((one) => ({ ...one, message: leftBehindMessage(one), hint: leftBehindHint(one) })),
  }
}

/** Prints the clusters, the Services, and what is wrong. */
export function syncStatusLines(snapshot: SyncSnapshot, colors: Colors, write: Writing): string[] {
  const { access, sources, services, leftBehind } = snapshot
  const accessAway = access.because === undefined ? [] : [`  ${inert(write.reason(access.because))}`]
  const accessLine = [`access cluster: ${mark(access.is, colors)}`, ...accessAway]
  return [
    ...accessLine,
    ...sources.flatMap((source) => sourceLines(source, colors, write)),
    '',
    ...table([HEAD, ...services.flatMap(rows)]),
    ...services.flatMap((service) => problemLines(service, colors, write)),
    ...leftBehind.flatMap((one) => [
      '',
      `${colors.yellow('‼')} ${inert(leftBehindMessage(one))}`,
      `  ${inert(leftBehindHint(one))}`,
    ]),
    ...(services.some(({ isPending }) => isPending) ? ['', BEHIND] : []),
  ]
}

const HEAD = ['SERVICE', 'SOURCE', 'STATE', 'WANTED', 'COPIED', 'READY', 'UPGRADING', 'COPIES']

function mark(is: SourceStatus['is'], colors: Colors): string {
  return { listing: colors.yellow('has not answered yet'), current: colors.green('answers'), away: colors.red('is away') }[is]
}

function sourceLines({ name, is, sinceMs, because, clock, problems }: SourceStatus, colors: Colors, write: Writing): string[] {
  const away = because === undefined ? '' : ` for ${formatElapsed(sinceMs)}: ${awayWords(because, write)}`
  const isOff = clock !== undefined && Math.abs(clock.offsetMs) > clock.uncertaintyMs + WRONG_CLOCK_MS
  const off = isOff ? `; its clock is ${formatElapsed(Math.abs(clock.offsetMs))} ${clock.offsetMs > 0 ? 'fast' : 'slow'}` : ''
  return [
    `source ${inert(name)}: ${mark(is, colors)}${inert(away)}${off}`,
    ...problems.flatMap((problem: SourceProblem) => [
      `  ${colors.yellow('‼')} ${inert(sourceProblemMessage(problem, write))}${coded(problem.code)}`,
      `    ${inert(sourceProblemHint(problem, write))}`,
    ]),
  ]
}

/** What a reader does where a decided write does not come. */
const BEHIND =
  'behind: the access cluster lacks a change. Where that lasts, no sync runs with this config, or its output says why it may not write.'

/** A clock that is off by less is no fact for a person. */
const WRONG_CLOCK_MS = 2_000

function rows({ namespace, name, sources, isPending }: ServiceStatus): string[][] {
  return sources.map(({ source, is, wanted, endpoints, ready, upgrading }) => [
    inert(`${namespace}/${name}`),
    inert(source),
    is,
    wanted === undefined ? '-' : String(wanted),
    String(endpoints),
    String(ready),
    String(upgrading),
    isPending ? 'behind' : 'as wanted',
  ])
}

function problemLines(service: ServiceStatus, colors: Colors, write: Writing): string[] {
  const told = service.problems.flatMap((problem: SyncProblem) => [
    `  ${colors.yellow('‼')} ${inert(problemMessage(problem, service, write))}${coded(problem.code)}`,
    ...problemHint(problem, service, write)
      .split('\n')
      .map((line) => `    ${inert(line)}`),
  ])
  return told.length === 0 ? [] : ['', inert(`${service.namespace}/${service.name}:`), ...told]
}
