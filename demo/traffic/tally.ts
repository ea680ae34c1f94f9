import type { Failure, TrafficLine } from './lines.ts'

/** The results of the requests of one act. */
export interface Tally {
  /** The number of answered and failed requests. */
  requests: number
  failures: Failure[]
  /** The number of requests that the generator sent too late. Late requests count like all others. */
  late: number
}

export function emptyTally(): Tally {
  return { requests: 0, failures: [], late: 0 }
}

export function addLine(tally: Tally, line: TrafficLine): void {
  if (line.type === 'end') tally.late = line.late
  else if (line.type === 'answered') tally.requests += line.count
  else {
    tally.requests += 1
    tally.failures.push(line)
  }
}

/** Counts the failures of each kind, the most frequent first. */
export function byKind(failures: readonly Failure[]): [kind: string, count: number][] {
  return count(failures, ({ kind }) => kind).sort(([, a], [, b]) => b - a)
}

/** Counts the failures of each pod. The key is empty for failures without a pod. */
export function byPod(failures: readonly Failure[]): [pod: string, count: number][] {
  return count(failures, ({ pod = '' }) => pod).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Groups failures by the second after `startedAt` (milliseconds since 1970) in which they were sent, the first second first. */
export function secondsOf(failures: readonly Failure[], startedAt: number): [second: number, failures: Failure[]][] {
  return [...Map.groupBy(failures, ({ at }) => Math.floor((at - startedAt) / 1_000))].sort(([a], [b]) => a - b)
}

function count(failures: readonly Failure[], keyOf: (failure: Failure) => string): [string, number][] {
  return [...Map.groupBy(failures, keyOf)].map(([key, own]) => [key, own.length])
}
