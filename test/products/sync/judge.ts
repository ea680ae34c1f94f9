/** An address that becomes ready or stops to be ready. */
export interface Turn {
  at: number
  key: string
  isReady: boolean
}

/** A time in which sync could not copy the addresses whose keys match, and the time that it may take to recover. */
export interface Outage {
  from: number
  to: number
  concerns(key: string): boolean
}

export interface Evidence {
  /** The changes in the source clusters, by time. */
  truth: readonly Turn[]
  /** The changes in the access cluster, by time. */
  seen: readonly Turn[]
  outages: readonly Outage[]
  endedAt: number
}

/**
 * - `stale`: ready in the access cluster although it is not ready in its source.
 * - `late`: not ready in the access cluster although it is ready in its source.
 * - `dropped`: it stopped to be ready in the access cluster while it was ready in its source all the time.
 * - `added`: ready in the access cluster although no source ever had it ready.
 */
export interface Deviation {
  what: 'stale' | 'late' | 'dropped' | 'added'
  key: string
  from: number
  to: number
  /** The duration without the outages, in ms. */
  ms: number
  /** Whether it holds at the end. */
  isLasting: boolean
}

interface Span {
  from: number
  to: number
}

/** Returns all deviations of the access cluster from its sources, however short. */
export function judge({ truth, seen, outages, endedAt }: Evidence): Deviation[] {
  const [wanted, got] = [Map.groupBy(truth, byKey), Map.groupBy(seen, byKey)]
  const found: Deviation[] = []
  for (const key of new Set([...wanted.keys(), ...got.keys()])) {
    const own = outages.filter(({ concerns }) => concerns(key))
    const [is, shown] = [spansOf(wanted.get(key), endedAt), spansOf(got.get(key), endedAt)]
    const add = (what: Deviation['what'], { from, to }: Span): void =>
      void found.push({ what, key, from, to, ms: outside({ from, to }, own), isLasting: to === endedAt })
    for (const span of minus(shown, is)) add(is.length === 0 ? 'added' : 'stale', span)
    for (const span of minus(is, shown)) {
      const before = shown.find(({ to }) => to === span.from)
      // Ready in the source before the access cluster had it and after it is there again: it did not go for a change of the source. Where
      // the source ends it too, the client of the access cluster has only seen the change earlier than that of the source.
      const isDropped = is.some(
        (one) => before !== undefined && one.from <= before.from && (one.to > span.to || span.to === endedAt),
      )
      add(isDropped ? 'dropped' : 'late', span)
    }
  }
  return found
}

function byKey({ key }: Turn): string {
  return key
}

/** The times in which an address is ready. */
function spansOf(turns: readonly Turn[] = [], endedAt: number): Span[] {
  const spans: Span[] = []
  let from: number | undefined
  for (const { at, isReady } of turns) {
    if (isReady) from ??= at
    else if (from !== undefined) {
      spans.push({ from, to: at })
      from = undefined
    }
  }
  if (from !== undefined) spans.push({ from, to: endedAt })
  return spans
}

/** The times of `some` that are in none of `others`. */
function minus(some: readonly Span[], others: readonly Span[]): Span[] {
  return others.reduce(
    (left: Span[], other) =>
      left.flatMap(({ from, to }) =>
        [
          { from, to: Math.min(to, other.from) },
          { from: Math.max(from, other.to), to },
        ].filter((span) => span.from < span.to),
      ),
    [...some],
  )
}

function outside(span: Span, outages: readonly Outage[]): number {
  return minus([span], outages).reduce((sum, { from, to }) => sum + to - from, 0)
}
