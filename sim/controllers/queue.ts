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

export function keyOf({ metadata }: { metadata: { namespace?: string; name: string } }): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`
}

export function splitKey(key: string): [namespace: string, name: string] {
  const slash = key.indexOf('/')
  return [key.slice(0, slash), key.slice(slash + 1)]
}
