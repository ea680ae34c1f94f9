import type { LegSummary } from './told.ts'

/** Lags in buckets, each 5 % wider than the one before. The room that a Service takes does not grow with its number of changes. */
export interface Lags {
  add(lagMs: number): void
  summary(): Pick<LegSummary, 'changes' | 'p50Ms' | 'p90Ms' | 'p99Ms' | 'maxMs'>
}

const WIDTH = Math.log(1.05)

export function createLags(): Lags {
  const buckets = new Map<number, number>()
  let changes = 0
  let maxMs = 0

  /** Returns the upper end of the bucket that has the percentile, or the longest lag where that is shorter. */
  function percentile(share: number): number {
    const wanted = Math.ceil(changes * share)
    let seen = 0
    for (const [bucket, count] of [...buckets].sort(([a], [b]) => a - b)) {
      seen += count
      if (seen >= wanted) return Math.min(maxMs, Math.round(Math.expm1(bucket * WIDTH)))
    }
    return maxMs
  }

  return {
    add(lagMs) {
      const bucket = Math.ceil(Math.log1p(lagMs) / WIDTH)
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1)
      changes += 1
      maxMs = Math.max(maxMs, lagMs)
    },
    summary: () => ({ changes, p50Ms: percentile(0.5), p90Ms: percentile(0.9), p99Ms: percentile(0.99), maxMs }),
  }
}
