import { type Check, found, skippedFor } from '../check.ts'

/** Above this, instants of the records, of reports and of Leases mislead whoever compares them; certificates and tokens follow later. */
export const CLOCK_TOLERANCE_MS = 2_000

/** The own wall clock agrees with that of the API server. */
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
