import type { Clock } from '../../ports/clock.ts'

/** Instants of now in milliseconds since 1970, which never go back: the wall clock is read once. */
export function createInstants(clock: Clock): () => number {
  const [wall, monotonic] = [clock.wallNow(), clock.now()]
  return () => Math.round(wall + clock.now() - monotonic)
}
