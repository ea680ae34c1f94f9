import type { Clock } from '../../src/ports/clock.ts'

/** Returns the present instant as Kubernetes writes it, to the second. The text is cached, since the same second is read many times. */
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
