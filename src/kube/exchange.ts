import type { Clock } from '../ports/clock.ts'
import { KubeError } from './errors.ts'
import { withoutQuery } from './query.ts'
import { TransportError, type TransportRequest, type TransportResponse } from './transport.ts'

/** The maximum delay of a timer in Node; longer timers fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1

export interface ExchangeLimits {
  clock: Clock
  /** Absent for a stream. */
  deadlineMs?: number
  signal?: AbortSignal | undefined
}

/**
 * One request that ends by its deadline or signal, whatever the transport does; rejects with a KubeError. The transport gets one turn of
 * the clock to report whether a byte had left; without a report, a byte counts as sent.
 */
export function exchange(
  request: TransportRequest,
  limits: ExchangeLimits,
  send: (request: TransportRequest) => Promise<TransportResponse>,
): Promise<TransportResponse> {
  const { clock, deadlineMs, signal } = limits
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(lost(request, 'given up by the caller', false, signal.reason))
    const controller = new AbortController()
    let givenUp: { why: string; cause?: unknown } | undefined
    const timers: unknown[] = []

    function giveUp(why: string, cause?: unknown): void {
      if (givenUp !== undefined) return
      givenUp = { why, cause }
      timers.push(clock.setTimeout(() => settle(() => reject(lost(request, why, true, cause))), 0))
      controller.abort(cause)
    }
    const onAbort = () => giveUp('given up by the caller', signal?.reason)

    function settle(finish: () => void): void {
      for (const timer of timers) clock.clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      finish()
    }

    signal?.addEventListener('abort', onAbort)
    if (deadlineMs !== undefined) {
      const delayMs = Math.min(Math.max(deadlineMs, 0), LONGEST_DELAY_MS)
      timers.push(clock.setTimeout(() => giveUp(`no answer within ${Math.round(deadlineMs)} ms`), delayMs))
    }
    const sent = (async () => send({ ...request, signal: controller.signal }))()
    sent.then(
      (response) => settle(() => resolve(response)),
      (error: unknown) => settle(() => reject(fromTransport(request, error, givenUp))),
    )
  })
}

function fromTransport(request: TransportRequest, error: unknown, givenUp?: { why: string; cause?: unknown }): KubeError {
  // An error of another type violates the contract of the transport, and does not prove that nothing was sent.
  const bytesLeft = error instanceof TransportError ? error.bytesLeft : true
  if (givenUp !== undefined) return lost(request, givenUp.why, bytesLeft, givenUp.cause)
  return lost(request, error instanceof Error ? error.message : String(error), bytesLeft, error)
}

function lost(request: TransportRequest, why: string, bytesLeft: boolean, cause: unknown): KubeError {
  const { method } = request
  const path = withoutQuery(request.path)
  const consequence = !bytesLeft ? ' (nothing was sent)' : method === 'GET' ? '' : ' (it may have been carried out)'
  return new KubeError(`${method} ${path}: ${why}${consequence}`, {
    kind: bytesLeft ? 'ambiguous' : 'definite',
    method,
    path,
    ...(cause instanceof TransportError ? { hint: cause.hint } : {}),
    cause,
  })
}
