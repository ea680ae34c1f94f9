import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Range } from './ranges.ts'
import { addTally, emptyTally, type Portion } from './seeds.ts'

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

/**
 * Opens the file of this run, or makes it: a line that says what is run, and one for each portion. Portions of former sittings
 * that follow one another become one, so that it stays small enough to be handed from machine to machine.
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
  // The last line is not whole where the run was killed as it wrote.
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
