import { describe } from 'vitest'

/** A program of some version, for tests on the real one. */
export interface Program {
  /** `HAProxy 3.2.26 (Debian forky)`, or `HAProxy of Debian forky: ` and why there is none. */
  title: string
  program: string | undefined
  /** `3.2.26` */
  version: string | undefined
}

/** Registers the tests of `body`, which are skipped, with the reason, where the program cannot be had. */
export function describeOn({ title, program }: Program, body: (program: string) => void): void {
  describe.skipIf(program === undefined)(`${title}`, () => {
    body(program ?? '')
  })
}

/** Of what a command has printed, the last line says why it has failed. */
export function lastLine(error: unknown): string {
  return (error as Error).message.trim().split('\n').at(-1)!
}
