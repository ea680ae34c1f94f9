import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Range } from './ranges.ts'
import { addTally, emptyTally, type Portion } from './seeds.ts'

/** The results of a long run in a file. The run may be ended early, and continues from the file. */
export interface RunRecord {
  /** The portions of former sittings. */
  done: Portion[]
  add(portion: Portion): void
}

/** The identity of a run. Two sittings with equal identities are one run. */
export interface RunIdentity extends Range {
  /** A digest of the sources that determine a history. */
  code: string
  node: string
}

/**
 * Opens or creates the file of a run: a line with the run's identity, and a line for each portion. Adjacent portions of former sittings are
 * merged, so that the file stays small enough to move between machines.
 */
export function openRecord(file: string, run: RunIdentity): RunRecord {
  const { code, node, from, count } = run
  const heading = JSON.stringify({ code, node, from, count })
  const add = (portion: Portion): void => appendFileSync(file, `${JSON.stringify(portion)}\n`)
  if (!existsSync(file)) {
    writeFileSync(file, `${heading}\n`)
    return { done: [], add }
  }
  const text = readFileSync(file)
  // The last line is incomplete where the run was killed during a write.
  const whole = text.subarray(0, text.lastIndexOf(0x0a) + 1)
  const [recorded, ...lines] = whole.toString().split('\n').slice(0, -1)
  if (recorded !== heading)
    throw new Error(`it is of another run, ${recorded ?? 'which says nothing'}; this is ${heading}: name another file`)
  const done = folded(lines.map((line) => JSON.parse(line) as Portion))
  const beside = `${file}.new`
  writeFileSync(beside, [heading, ...done.map((portion) => JSON.stringify(portion))].map((line) => `${line}\n`).join(''))
  renameSync(beside, file)
  return { done, add }
}

function folded(portions: readonly Portion[]): Portion[] {
  const sums: Portion[] = []
  for (const { from, count, tally } of [...portions].sort((a, b) => a.from - b.from)) {
    let last = sums.at(-1)
    if (last === undefined || last.from + last.count !== from) {
      last = { from, count: 0, tally: emptyTally() }
      sums.push(last)
    }
    last.count += count
    addTally(last.tally, tally)
  }
  return sums
}
