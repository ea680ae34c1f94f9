import type { Clock } from '../ports/clock.ts'

/** Waits for some last work, but not for ever, and for no error of it: the answer is known by now. */
export async function withinLimit(clock: Clock, limitMs: number, work: () => Promise<void>): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = clock.setTimeout(resolve, limitMs)
    const finish = (): void => {
      clock.clearTimeout(timer)
      resolve()
    }
    work().then(finish, finish)
  })
}
