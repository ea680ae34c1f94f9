import type { RunEvent } from '../engine/events.ts'

/** The number of events that are kept: enough for an upgrade of more than a thousand pods. */
export const EVENTS_KEPT = 50_000

/** A slow consumer of events has missed events that were dropped. A new iteration begins with the oldest event that is kept. */
export class EventsLostError extends Error {
  override readonly name = 'EventsLostError'
  readonly component = 'library'
  readonly lost: number
  constructor(lost: number) {
    super(`${lost} events were dropped before they were taken: of a run the newest ${EVENTS_KEPT} are kept`)
    this.lost = lost
  }
}

/** The events of a run, for any number of consumers at their own pace. Adding an event never waits for a consumer. */
export interface EventLog {
  add(event: RunEvent): void
  /** Ends the log: each consumer ends after the last event that is kept. */
  end(): void
  /** Each iteration begins with the oldest event that is kept. An early exit from the iteration frees its waiter. */
  readonly events: AsyncIterable<RunEvent>
  /** The number of consumers that wait for the next event. */
  readonly waiting: number
}

export function createEventLog(kept = EVENTS_KEPT): EventLog {
  const events: RunEvent[] = []
  /** The number of dropped events. */
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
