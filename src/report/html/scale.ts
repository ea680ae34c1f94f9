/** Maps time to places on the axis, with shortened stretches without activity. */
export interface Scale {
  /** The place of an instant (in milliseconds), in percent of the width. */
  x(atMs: number): number
  /** The shortened stretches, in milliseconds. */
  gaps: { fromMs: number; toMs: number }[]
  /** The labelled instants of the axis, in milliseconds. */
  ticks: number[]
}

/** A gap is longer than this share of the total activity, and longer than `LEAST_GAP_MS`. */
const GAP_SHARE = 0.05
const LEAST_GAP_MS = 10_000
/** The width of a shortened gap, as a share of the total activity. */
const GAP_WIDTH = 0.03
const TICKS = 8

/** The labels count from `zeroMs`, so that they are round. */
export function createScale(spans: readonly { fromMs: number; toMs: number }[], zeroMs = 0): Scale {
  const busy = merged(spans)
  const busyMs = busy.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
  const isGap = (ms: number): boolean => ms > LEAST_GAP_MS && ms > busyMs * GAP_SHARE
  // Consecutive pieces, each with its width in milliseconds of activity.
  const pieces = busy.flatMap(({ fromMs, toMs }, index) => {
    const before = busy[index - 1]
    const own = { fromMs, toMs, width: toMs - fromMs, gap: false }
    if (before === undefined) return [own]
    const idleMs = fromMs - before.toMs
    const gap = isGap(idleMs)
    return [{ fromMs: before.toMs, toMs: fromMs, width: gap ? busyMs * GAP_WIDTH : idleMs, gap }, own]
  })
  const total = pieces.reduce((sum, { width }) => sum + width, 0) || 1

  function x(atMs: number): number {
    let before = 0
    for (const { fromMs, toMs, width } of pieces) {
      if (atMs < fromMs) break
      if (atMs <= toMs) return percent((before + (toMs === fromMs ? 0 : (width * (atMs - fromMs)) / (toMs - fromMs))) / total)
      before += width
    }
    return percent(before / total)
  }

  const shown = pieces.filter(({ gap }) => !gap)
  const step = stepFor(total / TICKS)
  const ticks = shown.flatMap(({ fromMs, toMs }) => {
    const first = Math.ceil((fromMs - zeroMs) / step)
    const last = Math.floor((toMs - zeroMs) / step)
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => zeroMs + (first + index) * step)
  })
  return { x, gaps: pieces.filter(({ gap }) => gap).map(({ fromMs, toMs }) => ({ fromMs, toMs })), ticks: apart(ticks, x) }
}

/** Leaves out labels that would overlap. */
function apart(ticks: readonly number[], x: Scale['x']): number[] {
  const kept: number[] = []
  for (const tick of ticks) {
    const last = kept.at(-1)
    if (last === undefined || x(tick) - x(last) >= 100 / (TICKS * 1.5)) kept.push(tick)
  }
  return kept
}

const SECOND = 1000
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200].map(
  (seconds) => seconds * SECOND,
)

function stepFor(ms: number): number {
  return STEPS.find((step) => step >= ms) ?? 86_400 * SECOND * Math.ceil(ms / (86_400 * SECOND))
}

function merged(spans: readonly { fromMs: number; toMs: number }[]): { fromMs: number; toMs: number }[] {
  const all: { fromMs: number; toMs: number }[] = []
  for (const { fromMs, toMs } of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = all.at(-1)
    if (last !== undefined && fromMs <= last.toMs) last.toMs = Math.max(last.toMs, toMs)
    else all.push({ fromMs, toMs: Math.max(fromMs, toMs) })
  }
  return all
}

function percent(share: number): number {
  return Math.round(share * 100_000) / 1000
}
