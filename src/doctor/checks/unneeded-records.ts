import { type Check, found, skippedFor, together } from '../check.ts'
import type { Records } from '../gathered.ts'

/**
 * The reasons that are findings. The record of a finished run is its report and the way to undo it, so it is no finding, although a
 * cleanup removes it.
 */
const NEEDED_BY_NOBODY: ReadonlySet<string> = new Set(['workload-gone-for-good', 'part-without-ledger'])

/** Every record of sluice is still needed. */
export const unneededRecords: Check = {
  name: 'unneeded-records',
  examine: ({ records }) => (records.ok ? together(...records.value.map((one) => examine(one))) : skippedFor(records.because)),
}

function examine({ namespace, unneeded }: Records): ReturnType<Check['examine']> {
  if (!unneeded.ok) return skippedFor(unneeded.because)
  const some = unneeded.value.filter(({ reason }) => NEEDED_BY_NOBODY.has(reason.code))
  const records = some.map(({ name, reason }) => ({ name, because: reason }))
  return found(records.length === 0 ? [] : [{ code: 'records-unneeded', namespace, records }])
}
