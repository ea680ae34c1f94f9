/** `count` consecutive seeds, from `from` on. */
export interface Range {
  from: number
  count: number
}

/** Returns the parts of a range that are outside the given ranges. */
export function missing({ from, count }: Range, done: readonly Range[]): Range[] {
  const gaps: Range[] = []
  let next = from
  for (const one of [...done].sort((a, b) => a.from - b.from)) {
    if (one.from > next) gaps.push({ from: next, count: one.from - next })
    next = Math.max(next, one.from + one.count)
  }
  if (next < from + count) gaps.push({ from: next, count: from + count - next })
  return gaps
}

/** Splits ranges into `parts` parts of about equal size. There are fewer parts where there are fewer seeds. */
export function shares(ranges: readonly Range[], parts: number): Range[][] {
  const all = ranges.reduce((sum, { count }) => sum + count, 0)
  const most = Math.ceil(all / parts)
  const cut: Range[][] = []
  let room = 0
  for (let { from, count } of ranges) {
    while (count > 0) {
      if (room === 0) {
        cut.push([])
        room = most
      }
      const taken = Math.min(count, room)
      cut.at(-1)!.push({ from, count: taken })
      from += taken
      count -= taken
      room -= taken
    }
  }
  return cut
}
