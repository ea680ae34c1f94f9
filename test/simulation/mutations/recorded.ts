import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** By the name of the mutation: the first seed that shows it, and by which invariant. Written by `npm run mutations`. */
export type Recorded = Record<string, { seed: number; invariant: string }>

const FILE = join(import.meta.dirname, '../../golden/mutations.json')

export function readRecorded(): Recorded {
  return JSON.parse(readFileSync(FILE, 'utf8')) as Recorded
}

export function writeRecorded(recorded: Recorded): void {
  writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`)
}
