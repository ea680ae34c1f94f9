import type { Clock } from '../ports/clock.ts'

/** Waits for some last work, but not for ever, and for no error of it. True where it came to its end in time, in whichever way. */
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
