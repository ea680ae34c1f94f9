import { type Check, found, skippedFor, together } from '../check.ts'
import type { Records } from '../gathered.ts'

/** Of a run that has finished, the record is its report, and the way to undo it: a cleanup removes it, and it is no finding. */
const NEEDED_BY_NOBODY: ReadonlySet<string> = new Set(['workload-gone-for-good', 'part-without-ledger'])

/** No record is there that nothing needs. */
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
