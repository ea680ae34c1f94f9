import { parseArgs } from 'node:util'

/** The arguments of the simulation's programs. Wrong arguments end a program with 2 and its usage. */
export interface CommandLine {
  refuse(message: string): never
  wholeNumber(flag: string, text: string, least: number): number
}

type Config = NonNullable<Parameters<typeof parseArgs>[0]>

/** Reads the arguments. `--help` is handled for each program: it prints the usage, and ends with 0. */
export function commandLine<Options extends NonNullable<Config['options']>>(
  usage: string,
  options: Options,
): CommandLine & { values: ReturnType<typeof parseArgs<{ options: Options }>>['values'] } {
  function refuse(message: string): never {
    console.error(`${message}\n${usage}`)
    process.exit(2)
  }
  if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
    console.log(usage)
    process.exit(0)
  }
  try {
    return {
      values: parseArgs({ options }).values,
      refuse,
      wholeNumber(flag, text, least) {
        const number = Number(text)
        return Number.isInteger(number) && number >= least
          ? number
          : refuse(`--${flag} ${text}: give a whole number, at least ${least}`)
      },
    }
  } catch (error) {
    return refuse((error as Error).message)
  }
}
