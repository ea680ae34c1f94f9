import { appendFileSync } from 'node:fs'

/** A result of a test for the table of versions, as a line of JSON. */
export type Tallied =
  | { kubernetes: string }
  | { requests: number; failed: number }
  /** The proof of a pod's restart. */
  | { proof: string }

/** Appends a result to the file that SLUICE_TALLY names. Without it, the result is dropped. */
export function tally(seen: Tallied): void {
  const file = process.env['SLUICE_TALLY']
  if (file !== undefined && file !== '') appendFileSync(file, `${JSON.stringify(seen)}\n`)
}
