/** What is due at an instant, the first of them first; of two at the same instant, the one that was asked for first. */
export interface Deadlines {
  at(dueAt: number, work: () => void): void
  /** Does what is due at `until` or before, each with its own instant. */
  run(until: number, each: (dueAt: number, work: () => void) => void): void
  nextAt(): number | undefined
}

interface Deadline {
  dueAt: number
  order: number
  work: () => void
}

/** A binary heap. */
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
