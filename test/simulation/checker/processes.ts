/** The processes of sluice: when they could see what happened, and what they were about. */
import type { HistoryEntry } from './history.ts'

export interface Process {
  name: string
  isRunning: boolean
  startedAt: number
  /**
   * Its first effect, or write of a pod, since it was started or had slept for long: until then it reads what there is, also of pods
   * that its ledger alone knows, and waits for the template (harsh seed 2508761).
   */
  begunAt: number | undefined
  /** When it saw and decided nothing: it was stopped, until it went on, or has ended. */
  sleeps: { from: number; to: number }[]
  /** The entry of its end, where it ended by itself. */
  exit: (Extract<HistoryEntry, { type: 'process' }> & { entry: number }) | undefined
  /** By uid: what it told last of a pod, also where it was killed before its end. */
  told: Map<string, Extract<HistoryEntry, { type: 'told' }> & { entry: number }>
  wanted: Record<string, string> | undefined
  /** The names of the pods that it is about, where these are not all. */
  part: readonly string[] | undefined
  /** It writes down what a person has seen. */
  isWord: boolean
}

export interface Span {
  from: number
  to: number
}

/** Milliseconds in which it could see what happened. */
export function awakeMs({ startedAt, sleeps }: Process, since: number, at: number): number {
  return remainderMs(sleeps, Math.max(since, startedAt), at)
}

/** What these leave of the time. They may lie over one another. */
export function remainderMs(spans: readonly Span[], since: number, until: number): number {
  let from = since
  let remainder = 0
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    remainder += Math.max(0, Math.min(until, span.from) - from)
    from = Math.max(from, span.to)
  }
  return remainder + Math.max(0, until - from)
}

/** Since when it decides nothing. */
export function asleepSince({ sleeps }: Process): number | undefined {
  const last = sleeps.at(-1)
  return last?.to === Infinity ? last.from : undefined
}

/** Of other pods it says nothing. */
export function isAbout({ part }: Process, pod: { name: string }): boolean {
  return part === undefined || part.includes(pod.name)
}

/** A process adds to its name what makes it the only one. */
export function isProcess(holder: string, name: string): boolean {
  return holder === name || holder.startsWith(`${name}_`)
}
