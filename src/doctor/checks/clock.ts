import { type Check, found, skippedFor } from '../check.ts'

/**
 * A larger difference makes instants of records, reports and Leases misleading. Certificates and
 * tokens fail at still larger differences.
 */
export const CLOCK_TOLERANCE_MS = 2_000

/** The clock of this machine agrees with the clock of the API server. */
export const clock: Check = {
  name: 'clock',
  examine({ server }) {
    if (!server.ok) return skippedFor(server.because)
    if (server.value.clock === undefined) return skippedFor({ code: 'no-date' })
    const { aheadMs, uncertaintyMs } = server.value.clock
    const isOff = Math.abs(aheadMs) - uncertaintyMs > CLOCK_TOLERANCE_MS
    return found(isOff ? [{ code: 'clock-differs', aheadMs, uncertaintyMs }] : [])
  },
}
