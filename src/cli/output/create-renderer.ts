import type { Clock } from '../../ports/clock.ts'
import type { OutputFlags } from '../flags.ts'
import { createColors, useColor } from './color.ts'
import { createJson, createJsonLines } from './json.ts'
import { createLines } from './lines.ts'
import { createLiveTable } from './live-table.ts'
import type { Renderer } from './renderer.ts'
import type { Sink } from './sink.ts'

export interface RendererDeps {
  out: Sink
  err: Sink
  clock: Clock
  env: NodeJS.ProcessEnv
}

export function createRenderer(flags: OutputFlags, { out, err, clock, env }: RendererDeps): Renderer {
  const progressOn = (sink: Sink): Renderer => {
    const colors = createColors(useColor(flags.color, env, sink.isTerminal))
    // Logs between its frames would tear a table apart; some CI systems give their jobs a terminal that is none.
    const isLive = sink.isTerminal && env['TERM'] !== 'dumb' && !env['CI'] && flags.verbose !== true
    return isLive ? createLiveTable({ out: sink, err, clock, colors }) : createLines({ out: sink, err, clock, colors })
  }
  switch (flags.output) {
    case 'text':
      return progressOn(out)
    case 'json':
      return createJson({ out, progress: progressOn(err) })
    case 'jsonl':
      return createJsonLines({ out, err })
  }
}
