import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { ExitCode } from '../../library/exit-codes.ts'
import { parseEvents, parseHeader, RECORDING_VERSION, RecordingError } from '../../observer/recording.ts'
import type { ReplayFlags } from '../arguments/flags.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { inert } from '../output/inert.ts'
import { createColors, useColor } from '../output/color.ts'
import { jsonView, textView } from '../output/observe-view.ts'
import { writingFor } from '../printed-commands/writing.ts'
import { codeOf } from './observe-action.ts'

export async function replayAction(
  file: string,
  flags: ReplayFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const colors = createColors(useColor(flags.color, terminal.env, terminal.out.isTerminal))
  const print = (lines: readonly string[]): void => lines.forEach((line) => terminal.out.write(`${line}\n`))
  try {
    const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity })[Symbol.asyncIterator]()
    const first = await lines.next()
    const options = parseHeader(first.done === true ? '' : first.value)
    // The clusters of a recording have the names of their contexts, where there are several.
    const contextOf = (cluster: string | undefined) =>
      cluster === undefined || options.clusters.length < 2 ? {} : { context: cluster }
    const writingOf = (cluster: string | undefined) => writingFor({ flags: contextOf(cluster), invocation }, terminal.env)
    const view = flags.output === 'json' ? jsonView(writingOf) : textView(options.clusters, colors, writingOf)
    const { replayObservation } = await import('../../library/observe.ts')
    const rest = { [Symbol.asyncIterator]: () => lines }
    const unknown = new Map<string, number>()
    const events = parseEvents(rest, (type) => unknown.set(type, (unknown.get(type) ?? 0) + 1))
    const summary = await replayObservation(options, events, (told) => print(view.told(told)))
    for (const [type, times] of unknown)
      terminal.err.write(`${times} events of type ${inert(type)} are left out: this version does not know it\n`)
    print(view.summary(summary))
    return codeOf(summary, flags.strict === true)
  } catch (error) {
    const problem = problemOf(error)
    throw problem === undefined ? error : new UsageError([`${file}: ${problem}`])
  }
}

const PROBLEMS: Readonly<Record<RecordingError['problem'], (line: number) => string>> = {
  'no-recording': () => 'it is no recording of sluice observe',
  'other-version': () => `it is a recording of another version: this one reads ${RECORDING_VERSION}`,
  'no-event': (line) => `line ${line} is no observed event`,
}

function problemOf(error: unknown): string | undefined {
  if (error instanceof RecordingError) return PROBLEMS[error.problem](error.line)
  const isOfFile = error instanceof Error && 'syscall' in error
  return isOfFile ? `it cannot be read (${error.message})` : undefined
}
