import { appendFileSync } from 'node:fs'

/** What the tests of a run have seen, for the table of versions: a line of JSON for each. */
export type Tallied =
  | { kubernetes: string }
  | { requests: number; failed: number }
  /** How the restart of a pod was proven. */
  | { proof: string }

/** Goes to the file that SLUICE_TALLY names, and nowhere without one. */
export function tally(seen: Tallied): void {
  const file = process.env['SLUICE_TALLY']
  if (file !== undefined && file !== '') appendFileSync(file, `${JSON.stringify(seen)}\n`)
}
