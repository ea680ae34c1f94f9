import type { Clock } from '../../ports/clock.ts'

/** Returns the current instant in milliseconds since 1970. Instants never go back, since the wall clock is read only once. */
export function createInstants(clock: Clock): () => number {
  const [wall, monotonic] = [clock.wallNow(), clock.now()]
  return () => Math.round(wall + clock.now() - monotonic)
}
