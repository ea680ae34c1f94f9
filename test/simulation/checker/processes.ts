/** The processes of sluice, with the times in which they could see events, and their pods. */
import type { HistoryEntry } from './history.ts'

export interface Process {
  name: string
  isRunning: boolean
  startedAt: number
  /**
   * The time of its first effect, or write of a pod, since its start or a long sleep. Until then the process reads the present state,
   * including pods that only its ledger knows, and waits for the template.
   */
  begunAt: number | undefined
  /** The spans in which the process saw and decided nothing: it was stopped, or has ended. */
  sleeps: { from: number; to: number }[]
  /** The entry of its end, where it ended by itself. */
  exit: (Extract<HistoryEntry, { type: 'process' }> & { entry: number }) | undefined
  /** The last statement about each pod, by uid. It counts also where the process was killed before its end. */
  told: Map<string, Extract<HistoryEntry, { type: 'told' }> & { entry: number }>
  wanted: Record<string, string> | undefined
  /** The names of its pods, where the process is about a part of the pods. */
  part: readonly string[] | undefined
  /** True where the process records the observation of an operator. */
  isWord: boolean
}

export interface Span {
  from: number
  to: number
}

/** Returns the milliseconds in which the process could see events. */
export function awakeMs({ startedAt, sleeps }: Process, since: number, at: number): number {
  return remainderMs(sleeps, Math.max(since, startedAt), at)
}

/** Returns the milliseconds outside the spans. The spans may overlap. */
export function remainderMs(spans: readonly Span[], since: number, until: number): number {
  let from = since
  let remainder = 0
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    remainder += Math.max(0, Math.min(until, span.from) - from)
    from = Math.max(from, span.to)
  }
  return remainder + Math.max(0, until - from)
}

/** Returns the time since which the process decides nothing. */
export function asleepSince({ sleeps }: Process): number | undefined {
  const last = sleeps.at(-1)
  return last?.to === Infinity ? last.from : undefined
}

/** Reports whether a pod belongs to the process. A process makes no statement about other pods. */
export function isAbout({ part }: Process, pod: { name: string }): boolean {
  return part === undefined || part.includes(pod.name)
}

/** Reports whether a holder is a process: a holder has the name of the process with a unique suffix. */
export function isProcess(holder: string, name: string): boolean {
  return holder === name || holder.startsWith(`${name}_`)
}
