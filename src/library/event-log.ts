import type { RunEvent } from '../engine/events.ts'

/** The newest so many events are kept: those of an upgrade of more than a thousand pods. */
export const EVENTS_KEPT = 50_000

/** A consumer of events was so slow that events were dropped which it had not taken yet; iterating anew begins with the oldest kept. */
export class EventsLostError extends Error {
  override readonly name = 'EventsLostError'
  readonly component = 'library'
  readonly lost: number
  constructor(lost: number) {
    super(`${lost} events were dropped before they were taken: of a run the newest ${EVENTS_KEPT} are kept`)
    this.lost = lost
  }
}

/** The events of a run, for any number of consumers at their own pace: adding one never waits for them. */
export interface EventLog {
  add(event: RunEvent): void
  /** No further event comes: each consumer ends when it has taken what is kept. */
  end(): void
  /** Each iteration begins with the oldest event that is kept. Leaving it early frees what it waits for. */
  readonly events: AsyncIterable<RunEvent>
  /** Consumers that wait for the next event. */
  readonly waiting: number
}

export function createEventLog(kept = EVENTS_KEPT): EventLog {
  const events: RunEvent[] = []
  /** How many were dropped before the first that is kept. */
  let dropped = 0
  let hasEnded = false
  const waiting = new Set<() => void>()

  function wakeAll(): void {
    const woken = [...waiting]
    waiting.clear()
    for (const wake of woken) wake()
  }

  function iterate(): AsyncIterator<RunEvent, undefined> {
    let next = dropped
    let isOver = false
    const own = new Set<() => void>()

    async function news(): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      own.add(resolve)
      waiting.add(resolve)
      await promise
      own.delete(resolve)
    }

    async function taken(at: number): Promise<IteratorResult<RunEvent, undefined>> {
      if (isOver) return { done: true, value: undefined }
      if (at < dropped) {
        isOver = true
        throw new EventsLostError(dropped - at)
      }
      const event = events[at - dropped]
      if (event !== undefined) return { done: false, value: event }
      if (hasEnded) return { done: true, value: undefined }
      await news()
      return taken(at)
    }

    return {
      next: () => taken(next++),
      async return() {
        isOver = true
        for (const wake of own) {
          waiting.delete(wake)
          wake()
        }
        return { done: true, value: undefined }
      },
    }
  }

  return {
    add(event) {
      events.push(event)
      if (events.length > kept) {
        events.shift()
        dropped += 1
      }
      wakeAll()
    },
    end() {
      hasEnded = true
      wakeAll()
    },
    events: { [Symbol.asyncIterator]: iterate },
    get waiting() {
      return waiting.size
    },
  }
}
