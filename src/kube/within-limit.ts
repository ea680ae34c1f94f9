import type { Clock } from '../ports/clock.ts'

/**
 * Waits for final work, but with a limit, and ignores its errors. The result is true if the work ended in time, with or without an error.
 */
export async function withinLimit(clock: Clock, limitMs: number, work: () => Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(() => resolve(false), limitMs)
    const finish = (): void => {
      clock.clearTimeout(timer)
      resolve(true)
    }
    work().then(finish, finish)
  })
}
