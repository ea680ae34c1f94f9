import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ServiceName } from '../cluster/cluster-index.ts'

export interface LookQueueOptions {
  clock: Clock
  /** The writes a second. */
  rate: number
  signal: AbortSignal
}

/** The Services that wait for a look, and those with an object to touch. */
export interface LookQueue {
  /** Has the Service looked at after this time, or sooner where that was asked for before. */
  later(name: ServiceName, delayMs: number): void
  /** An object of the Service is due for a touch. */
  touch(name: ServiceName): void
  /** The rate allows the writes of one more Service now. */
  mayTouch(): boolean
  /** A write begins. The writes of one Service come at once, and the next Service waits for the time of all of them. */
  take(): void
  /** The next Service to look at. A touch that is due comes first, at the rate. */
  next(): ServiceName | undefined
  /** Waits until `next` may have another one. */
  idle(): Promise<void>
  /** Ends the wait. */
  wake(): void
  clear(): void
  size(): number
}

/** A timer cannot wait for longer than 24 days. */
const LONGEST_WAIT_MS = 3_600_000

export function createLookQueue({ clock, rate, signal }: LookQueueOptions): LookQueue {
  /** The Services whose look is due, in their order. */
  const due = new Map<string, ServiceName>()
  const timers = new Map<string, { at: number; handle: unknown }>()
  /** The Services with an object to touch, in their order. */
  const toTouch = new Map<string, ServiceName>()
  let slotAt = Number.NEGATIVE_INFINITY
  let wake = (): void => {}

  return {
    later(name, delayMs) {
      const key = keyOf(name)
      const at = clock.now() + Math.min(delayMs, LONGEST_WAIT_MS)
      const timer = timers.get(key)
      if (due.has(key) || (timer !== undefined && timer.at <= at)) return
      clock.clearTimeout(timer?.handle)
      const handle = clock.setTimeout(() => {
        timers.delete(key)
        due.set(key, name)
        wake()
      }, at - clock.now())
      timers.set(key, { at, handle })
    },
    touch: (name) => void toTouch.set(keyOf(name), name),
    mayTouch: () => clock.now() >= slotAt,
    take() {
      slotAt = Math.max(slotAt, clock.now()) + 1_000 / rate
    },
    next() {
      const some = clock.now() >= slotAt && toTouch.size > 0 ? toTouch : due
      for (const [key, name] of some) {
        some.delete(key)
        return name
      }
      return undefined
    },
    async idle() {
      const over = new AbortController()
      const end = (): void => over.abort()
      wake = end
      signal.addEventListener('abort', end)
      if (signal.aborted) end()
      const slotMs = toTouch.size > 0 ? Math.max(0, slotAt - clock.now()) : LONGEST_WAIT_MS
      await pause(clock, slotMs, over.signal)
      signal.removeEventListener('abort', end)
      wake = () => {}
    },
    wake: () => wake(),
    clear() {
      for (const { handle } of timers.values()) clock.clearTimeout(handle)
      timers.clear()
      due.clear()
      toTouch.clear()
    },
    size: () => due.size + toTouch.size,
  }
}

export function keyOf({ namespace, name }: ServiceName): string {
  return `${namespace}/${name}`
}
