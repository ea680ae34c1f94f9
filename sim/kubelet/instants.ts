import type { Clock } from '../../src/ports/clock.ts'

/** Instants as Kubernetes writes them, to the second; most of them are asked for many times. */
export function createInstants(clock: Clock): () => string {
  let second = NaN
  let text = ''
  return () => {
    const now = Math.floor(clock.wallNow() / 1_000)
    if (now !== second) {
      second = now
      text = new Date(now * 1_000).toISOString().replace('.000Z', 'Z')
    }
    return text
  }
}
