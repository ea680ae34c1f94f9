import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import type { Range } from './ranges.ts'
import type { Portion } from './seeds.ts'

/** What a long run has come to, in a file: it may be ended before its own end, and goes on from there. */
export interface RunRecord {
  /** Portions of former sittings. */
  done: Portion[]
  add(portion: Portion): void
}

/** What must be the same for two sittings to be one run. */
export interface RunIdentity extends Range {
  /** A digest of all that a history comes from. */
  code: string
  node: string
}

/** Opens the file of this run, or makes it: a line that says what is run, and one for each portion. */
export function openRecord(file: string, run: RunIdentity): RunRecord {
  const { code, node, from, count } = run
  const heading = JSON.stringify({ code, node, from, count })
  const add = (portion: Portion): void => appendFileSync(file, `${JSON.stringify(portion)}\n`)
  if (!existsSync(file)) {
    writeFileSync(file, `${heading}\n`)
    return { done: [], add }
  }
  const text = readFileSync(file)
  // The last line is not whole where the run was killed as it wrote.
  const whole = text.subarray(0, text.lastIndexOf(0x0a) + 1)
  const [recorded, ...lines] = whole.toString().split('\n').slice(0, -1)
  if (recorded !== heading)
    throw new Error(`it is of another run, ${recorded ?? 'which says nothing'}; this is ${heading}: name another file`)
  truncateSync(file, whole.length)
  return { done: lines.map((line) => JSON.parse(line) as Portion), add }
}
