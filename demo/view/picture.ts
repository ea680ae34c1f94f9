import type { ActResult } from '../acts/result.ts'
import { byKind } from '../traffic/tally.ts'
import { type Slice, SLICE_MS, stripsOf } from './strip.ts'
import type { Colors } from '../../src/cli/output/color.ts'

const MARK: Record<Slice, string> = { in: '━', out: '·', failed: '✗', silent: '~', nothing: ' ' }

export function legend(colors: Colors): string {
  const { mark } = painter(colors)
  const words = [
    `${mark('in')} in rotation`,
    `${mark('out')} out`,
    `${mark('failed')} requests failed`,
    `${mark('silent')} node silent`,
  ]
  return `${words.join('   ')}   (each mark ${SLICE_MS / 1_000} s)`
}

/** Returns the strips of an act, one below the other. */
export function pictureOf(result: ActResult, colors: Colors): string[] {
  const strips = stripsOf(result)
  const width = Math.max(...strips.map(({ label }) => label.length))
  const { paint } = painter(colors)
  return strips.map(({ label, slices }) => `  ${label.padEnd(width)}  ${paint(slices)}`.trimEnd())
}

/** Describes the results of the requests, in a sentence. */
export function requestsOf({ requests, failures }: ActResult): string {
  const count = requests.toLocaleString('en')
  if (failures.length === 0) return `${count} requests, none failed`
  const kinds = byKind(failures).map(([kind, number]) => `${kind}: ${number}`)
  return `${failures.length.toLocaleString('en')} of ${count} requests failed (${kinds.join(', ')})`
}

function painter(colors: Colors) {
  const color: Record<Slice, (text: string) => string> = {
    in: colors.green,
    out: colors.dim,
    failed: colors.red,
    silent: colors.yellow,
    nothing: String,
  }
  const mark = (slice: Slice): string => color[slice](MARK[slice])
  /** Paints equal slices as one piece of colour: a terminal reads the picture ten times a second. */
  function paint(slices: readonly Slice[]): string {
    const runs: { slice: Slice; length: number }[] = []
    for (const slice of slices) {
      const last = runs.at(-1)
      if (last?.slice === slice) last.length += 1
      else runs.push({ slice, length: 1 })
    }
    return runs.map(({ slice, length }) => color[slice](MARK[slice].repeat(length))).join('')
  }
  return { mark, paint }
}
