import type { ReportEffect, ReportPod } from './report.ts'

export interface Span {
  fromMs: number
  toMs: number
}

/**
 * The times in which a pod was out of rotation: each from its first drain to its last restore before the next drain. `isWhole` is false if
 * a drain or a restore is missing.
 */
export function outSpans({ effects }: Pick<ReportPod, 'effects'>): { spans: Span[]; isWhole: boolean } {
  const spans: Span[] = []
  /** The entries that are drained. */
  const out = new Set<string>()
  let isWhole = true
  let now: { fromMs: number; toMs?: number } | undefined
  const end = (): void => {
    if (now?.toMs === undefined) isWhole &&= now === undefined
    else spans.push({ fromMs: now.fromMs, toMs: Math.max(now.fromMs, now.toMs) })
    now = undefined
  }
  for (const { at, effect, loadBalancer, target } of effects.filter(isDone)) {
    const entry = JSON.stringify([loadBalancer, target])
    if (effect === 'drain') {
      if (out.size === 0) end()
      now ??= { fromMs: Date.parse(at) }
      out.add(entry)
    } else {
      if (now) now.toMs = Date.parse(at)
      else isWhole = false
      out.delete(entry)
    }
  }
  end()
  return { spans, isWhole }
}

export function isDone({ outcome }: Pick<ReportEffect, 'outcome'>): boolean {
  return outcome === 'done' || outcome === 'confirmed'
}

/** The milliseconds that at least one of the spans covers. */
export function coveredMs(spans: readonly Span[]): number {
  let sum = 0
  let untilMs = Number.NEGATIVE_INFINITY
  for (const { fromMs, toMs } of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    sum += Math.max(0, toMs - Math.max(fromMs, untilMs))
    untilMs = Math.max(untilMs, toMs)
  }
  return sum
}
