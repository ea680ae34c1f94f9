import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import { type Range, draw } from '../kubelet/delays.ts'

/** Keys that somebody has to look at, each once however often it is added, a moment later. */
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
 * Keys that are looked at one after another, in their order, each once however often it is added meanwhile. After a look that says that it
 * has written, the next one waits.
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
