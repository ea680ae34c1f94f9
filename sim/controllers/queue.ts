import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import { type Range, draw } from '../kubelet/delays.ts'

/** A queue of keys. Each key is handled once, a moment later, even if it is added several times before. */
export interface Queue {
  add(key: string): void
}

export function createQueue(ports: { clock: Clock; random: Random }, delay: Range, look: (key: string) => void): Queue {
  const waiting = new Set<string>()
  return {
    add(key) {
      if (waiting.has(key)) return
      waiting.add(key)
      ports.clock.setTimeout(
        () => {
          waiting.delete(key)
          look(key)
        },
        draw(ports.random, delay),
      )
    },
  }
}

/**
 * Creates a queue that handles keys one after another, in order. A waiting key is handled once, even if it is added several times. `look`
 * returns whether it has written; after a write, the next key waits `writeMs`.
 */
export function createPacedQueue(clock: Clock, writeMs: number, look: (key: string) => boolean): Queue {
  const waiting = new Set<string>()
  let isAtWork = false

  function lookLater(ms: number): void {
    isAtWork = true
    clock.setTimeout(() => {
      const [key] = waiting
      if (key === undefined) {
        isAtWork = false
        return
      }
      waiting.delete(key)
      lookLater(look(key) ? writeMs : 0)
    }, ms)
  }

  return {
    add(key) {
      waiting.add(key)
      if (!isAtWork) lookLater(1)
    },
  }
}

export function keyOf({ metadata }: { metadata: { namespace?: string; name: string } }): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

export function splitKey(key: string): [namespace: string, name: string] {
  const slash = key.indexOf('/')
  return [key.slice(0, slash), key.slice(slash + 1)]
}
