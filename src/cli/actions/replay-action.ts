import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { ExitCode } from '../../library/exit-codes.ts'
import { parseEvents, parseHeader, RecordingError } from '../../observer/recording.ts'
import type { ReplayFlags } from '../arguments/flags.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { createColors, useColor } from '../output/color.ts'
import { jsonView, textView } from '../output/observe-view.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { codeOf } from './observe-action.ts'

export async function replayAction(
  file: string,
  flags: ReplayFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const write = writingFor({ flags: {}, invocation }, terminal.env)
  const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
  const print = (lines: readonly string[]): void => lines.forEach((line) => terminal.out.write(`${line}\n`))
  try {
    const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity })[Symbol.asyncIterator]()
    const first = await lines.next()
    const options = parseHeader(first.done === true ? '' : first.value)
    const view = flags.output === 'json' ? jsonView(write) : textView(options.clusters, colors, write)
    const { replayObservation } = await import('../../library/observe.ts')
    const rest = { [Symbol.asyncIterator]: () => lines }
    const summary = await replayObservation(options, parseEvents(rest), (told) => print(view.told(told)))
    print(view.summary(summary))
    return codeOf(summary, flags.strict === true)
  } catch (error) {
    const problem = problemOf(error)
    throw problem === undefined ? error : new UsageError([`${file}: ${problem}`])
  }
}

function problemOf(error: unknown): string | undefined {
  if (error instanceof RecordingError)
    return error.problem === 'no-recording' ? 'it is no recording of sluice observe' : `line ${error.line} is no observed event`
  const isOfFile = error instanceof Error && 'syscall' in error
  return isOfFile ? `it cannot be read (${error.message})` : undefined
}
