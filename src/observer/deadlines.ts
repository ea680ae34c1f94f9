/** Work that is due at an instant, in the order of the instants. Work that is due at one instant runs in the order of its calls. */
export interface Deadlines {
  at(dueAt: number, work: () => void): void
  /** Hands the work that is due at or before `until` to `each`, with the instant of the work. */
  run(until: number, each: (dueAt: number, work: () => void) => void): void
  nextAt(): number | undefined
}

interface Deadline {
  dueAt: number
  order: number
  work: () => void
}

/** The deadlines are kept in a binary heap. */
export function createDeadlines(): Deadlines {
  const heap: Deadline[] = []
  let order = 0
  const isBefore = (a: Deadline, b: Deadline): boolean => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.order < b.order)

  function put(one: Deadline): void {
    let index = heap.push(one) - 1
    while (index > 0) {
      const above = (index - 1) >> 1
      if (!isBefore(one, heap[above]!)) break
      heap[index] = heap[above]!
      index = above
    }
    heap[index] = one
  }

  function take(): Deadline {
    const [first] = heap
    const last = heap.pop()!
    if (heap.length > 0) sink(last)
    return first!
  }

  function sink(one: Deadline): void {
    let index = 0
    for (;;) {
      const left = index * 2 + 1
      if (left >= heap.length) break
      const right = left + 1
      const child = right < heap.length && isBefore(heap[right]!, heap[left]!) ? right : left
      if (!isBefore(heap[child]!, one)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = one
  }

  return {
    at(dueAt, work) {
      order += 1
      put({ dueAt, order, work })
    },
    run(until, each) {
      while (heap.length > 0 && heap[0]!.dueAt <= until) {
        const { dueAt, work } = take()
        each(dueAt, work)
      }
    },
    nextAt: () => heap[0]?.dueAt,
  }
}
