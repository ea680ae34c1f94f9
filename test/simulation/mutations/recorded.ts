import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The first seed that shows each mutation, with its invariant, by the name of the mutation. `npm run mutations` writes it. */
export type Recorded = Record<string, { seed: number; invariant: string }>

const FILE = join(import.meta.dirname, '../../golden/mutations.json')

export function readRecorded(): Recorded {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Recorded
}

export function writeRecorded(recorded: Recorded): void {
  writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`)
}
