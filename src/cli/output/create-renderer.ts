import type { Writing } from '../../report/words/writing.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OutputFlags } from '../arguments/flags.ts'
import { createColors, useColor } from './color.ts'
import { isLiveTerminal } from './is-live.ts'
import { createJson, createJsonLines } from './json.ts'
import { createLines } from './lines.ts'
import type { Renderer } from './renderer.ts'
import type { Sink } from './sink.ts'

export interface RendererDeps {
  out: Sink
  err: Sink
  clock: Clock
  env: NodeJS.ProcessEnv
  write: Writing
}

/** Loads the parts for a terminal only where there is one: they take a tenth of the time until the first request. */
export async function createRenderer(flags: OutputFlags, { out, err, clock, env, write }: RendererDeps): Promise<Renderer> {
  const progressOn = async (sink: Sink): Promise<Renderer> => {
    const colors = createColors(useColor(flags.color, env, sink.isTerminal))
    if (!isLiveTerminal(sink, flags.verbose === true, env)) return createLines({ out: sink, err, clock, colors, write })
    const { createLiveTable } = await import('./live-table.ts')
    return createLiveTable({ out: sink, err, clock, colors, write })
  }
  switch (flags.output) {
    case 'text':
      return progressOn(out)
    case 'json':
      return createJson({ out, progress: await progressOn(err), write })
    case 'jsonl':
      return createJsonLines({ out, err, write })
  }
}
