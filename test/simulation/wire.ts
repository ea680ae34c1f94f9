import { type Wire, WireError } from '../../sim/load-balancer/wire.ts'
import type { Happening } from './checker/history.ts'
import type { Faults } from './faults.ts'
import type { Host } from './host.ts'
import type { SeededRandom } from './random.ts'
import type { Scheduler } from './scheduler.ts'

export interface WireOptions {
  scheduler: Scheduler
  random: SeededRandom
  host: Host
  faults: Faults
  balancer: string
  tell(happening: Happening): void
}

/** The path between a process and one load balancer. A call whose bytes have left may arrive long after it was given up. */
export function createWire({ scheduler, random, host, faults, balancer, tell }: WireOptions): Wire {
  const tripMs = (): number => random.between(0.2, 4)

  return {
    call({ name, deadlineMs, leave, arrive }) {
      return new Promise((resolve, reject) => {
        const fault = faults.onCall(balancer, name)
        const toProcess = (delayMs: number, run: () => void): void => void scheduler.after(delayMs, () => host.deliver(run))
        const lose = (delayMs: number, bytesLeft: boolean): void =>
          toProcess(delayMs, () => reject(new WireError(bytesLeft ? 'connection reset' : 'connection refused', { bytesLeft })))

        if (fault.kind === 'refused' || !faults.balancerIsUp(balancer)) return lose(tripMs(), false)
        // After the connection, the right to the call is checked again in the turn in which the bytes leave.
        toProcess(tripMs(), () => {
          try {
            leave()
          } catch (error) {
            reject(error as Error)
            return
          }
          // The call is cut at the end of its life, on the clock of the process.
          const cut = host.clock.setTimeout(
            () => reject(new WireError(`no answer within ${deadlineMs} ms`, { bytesLeft: true })),
            deadlineMs,
          )
          const settle = (delayMs: number, run: () => void): void =>
            toProcess(delayMs, () => {
              host.clock.clearTimeout(cut)
              run()
            })
          const reset = (delayMs: number): void =>
            settle(delayMs, () => reject(new WireError('connection reset', { bytesLeft: true })))

          // The process sends no other call to this balancer until it gives this one up.
          if (fault.silent && fault.kind !== 'duplicated')
            tell({ type: 'silent', balancer, process: host.name, forMs: deadlineMs })
          if (fault.kind === 'request-lost') return fault.silent ? undefined : reset(tripMs())
          if (fault.kind === 'late' && !fault.silent) reset(tripMs())
          scheduler.after(tripMs() + fault.delayMs, () => {
            if (!faults.balancerIsUp(balancer)) return reset(tripMs())
            const outcome = attempt(arrive)
            if (fault.kind === 'duplicated') scheduler.after(tripMs() + fault.againAfterMs, () => void attempt(arrive))
            if (fault.kind === 'reply-lost') return fault.silent ? undefined : reset(tripMs())
            if (fault.kind === 'late') return undefined
            settle(tripMs(), () => (outcome.ok ? resolve(outcome.value) : reject(outcome.error as Error)))
            return undefined
          })
          return undefined
        })
        return undefined
      })
    },
  }
}

function attempt<Value>(run: () => Value): { ok: true; value: Value } | { ok: false; error: unknown } {
  try {
    return { ok: true, value: run() }
  } catch (error) {
    return { ok: false, error }
  }
}
