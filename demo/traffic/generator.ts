import { Agent, request } from 'node:http'
import type { TrafficLine } from './lines.ts'

export interface GeneratorOptions {
  url: string
  ratePerSecond: number
  /** The share of requests that the application takes `holdMs` to answer. */
  heldShare: number
  holdMs: number
  /** The share of requests on a connection of their own. */
  freshShare: number
  /** The limit is far above the answer time of a busy machine: only a lost request reaches it. */
  timeoutMs: number
}

export interface Generator {
  /** Sends no more requests, and waits for those in flight. */
  stop(): Promise<void>
}

const TELL_MS = 100
/** A request that leaves later than this is the fault of the generator, and is counted as late. */
const LATE_MS = 20
/** The limit is below the timeout of the server: the client closes a connection first, so that none closes at its next use. */
const IDLE_MS = 2_000

/**
 * Sends requests by the clock, whatever their results (open loop): a slow or failing server cannot lower the rate at which failures are
 * counted. Requests are POST with a body, so that no proxy may repeat them.
 */
export function startGenerator(options: GeneratorOptions, tell: (line: TrafficLine) => void): Generator {
  const { url, ratePerSecond, heldShare, freshShare, holdMs, timeoutMs } = options
  const kept = new Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 512, scheduling: 'fifo' })
  const startedAt = performance.now()
  let [sent, answered, inFlight, late, maxLateMs] = [0, 0, 0, 0, 0]
  let onIdle: (() => void) | undefined

  function send(fresh: boolean, held: boolean): void {
    const at = Date.now()
    let isOver = false
    inFlight += 1

    function over(failure?: { kind: string; pod?: string | undefined }): void {
      if (isOver) return
      isOver = true
      inFlight -= 1
      if (failure === undefined) answered += 1
      else tell({ type: 'failed', at, kind: failure.kind, ...(failure.pod === undefined ? {} : { pod: failure.pod }) })
      if (inFlight === 0) onIdle?.()
    }

    const one = request(url, {
      method: 'POST',
      agent: fresh ? false : kept,
      headers: { 'content-type': 'application/json', ...(held ? { 'x-hold-ms': `${holdMs}` } : {}) },
    })
    const limit = setTimeout(() => one.destroy(Object.assign(new Error('timeout'), { code: 'timeout' })), timeoutMs)
    one.once('response', (response) => {
      const pod = response.headers['x-server'] as string | undefined
      response.resume()
      response.once('end', () => over(response.statusCode === 200 ? undefined : { kind: `${response.statusCode}`, pod }))
      response.once('close', () => over({ kind: 'cut', pod }))
      response.on('error', () => {})
    })
    one.on('error', (error: NodeJS.ErrnoException) => over({ kind: error.code ?? error.message }))
    one.once('close', () => clearTimeout(limit))
    one.end('{"order":1}')
  }

  function sendWhatIsDue(): void {
    const due = (number: number): number => startedAt + (number * 1_000) / ratePerSecond
    while (due(sent) <= performance.now()) {
      const behindMs = performance.now() - due(sent)
      if (behindMs > LATE_MS) late += 1
      maxLateMs = Math.max(maxLateMs, behindMs)
      send(isPicked(sent, freshShare), isPicked(Math.floor(sent / 2), heldShare))
      sent += 1
    }
    timer = setTimeout(sendWhatIsDue, Math.max(0, due(sent) - performance.now()))
  }

  function tellAnswered(): void {
    if (answered > 0) tell({ type: 'answered', at: Date.now(), count: answered })
    answered = 0
  }

  let timer: NodeJS.Timeout
  sendWhatIsDue()
  const telling = setInterval(tellAnswered, TELL_MS)

  return {
    async stop() {
      clearTimeout(timer)
      if (inFlight > 0) await new Promise<void>((resolve) => (onIdle = resolve))
      clearInterval(telling)
      tellAnswered()
      kept.destroy()
      tell({ type: 'end', at: Date.now(), late, maxLateMs: Math.round(maxLateMs) })
    },
  }
}

/** Spreads a share evenly over the running number, without chance. */
export function isPicked(number: number, share: number): boolean {
  return Math.floor((number + 1) * share) > Math.floor(number * share)
}
