import { describe } from 'vitest'

/** A program of some version, for tests on the real program. */
export interface Program {
  /** `HAProxy 3.2.26 (Debian forky)`, or `HAProxy of Debian forky: ` and the reason why there is none. */
  title: string
  program: string | undefined
  /** The version, such as `3.2.26`. */
  version: string | undefined
}

/** Registers the tests of `body`. They are skipped, with the reason, where the program is missing. */
export function describeOn({ title, program }: Program, body: (program: string) => void): void {
  describe.skipIf(program === undefined)(`${title}`, () => {
    body(program ?? '')
  })
}

/** Returns the last line of a failed command's output, which has the reason. */
export function lastLine(error: unknown): string {
  return (error as Error).message.trim().split('\n').at(-1)!
}
