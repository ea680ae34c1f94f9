import type { Context, Hono } from 'hono'
import type { Answered } from './admission-event.ts'
import { createBodies } from './bodies.ts'
import { type AdmissionOptions, type AdmissionResponse, admit } from './admit.ts'
import { watchLoad } from './load.ts'
import type { PodWaits } from './pod-waits.ts'
import { findUid, readReview } from './review.ts'

export const ADMISSION_PATH = '/admit'

export interface AdmissionRoutesOptions extends AdmissionOptions {
  /** Lets a request wait for the pods that it tells of. */
  waits: Pick<PodWaits, 'settle'>
  onAnswered(answered: Answered): void
  /** The time for one answer. Default: 1 s, and at most half of the time that the API server waits. */
  budgetMs?: number
  /** The bytes of all bodies that are being read or decided about. Default: 64 MiB; the largest review has some 3 MB. */
  mostBodyBytes?: number
  /** Default: 800 ms: with the time of its decision, a request that has waited for so long is answered within the 2 s of the API server. */
  busyMs?: number
}

const BUDGET_MS = 1_000
const BUSY_MS = 800
const MOST_BODY_BYTES = 64 * 1024 * 1024

/** The route that the API server asks before it stores Endpoints or EndpointSlices. */
export function admissionRoutes(options: AdmissionRoutesOptions): (app: Hono) => void {
  const { clock, onAnswered, budgetMs = BUDGET_MS, mostBodyBytes = MOST_BODY_BYTES, busyMs = BUSY_MS } = options
  const isOverloaded = watchLoad({ clock, busyMs })
  const readBody = createBodies(mostBodyBytes)

  async function answer(context: Context): Promise<Response> {
    const body = await readBody(bodyOf(context))
    // A slow sender takes neither a place nor the time of the decision.
    const begunAt = clock.now()
    const told = (answered: Omit<Answered, 'tookMs'>): void => onAnswered({ ...answered, tookMs: clock.now() - begunAt })
    try {
      if (!body.isWhole || isOverloaded()) {
        const uid = findUid(body.bytes)
        told({ type: 'answered', result: 'shed' })
        return uid === undefined ? context.json({ code: 'overloaded' }, 429) : reviewed(context, { uid, allowed: true })
      }
      const request = readReview(parsed(Buffer.from(body.bytes).toString('utf8')))
      if (request === undefined) {
        told({ type: 'answered', result: 'refused' })
        return context.json({ code: 'no-admission-review' }, 400)
      }
      const waitsMs = timeoutOf(context.req.query('timeout'))
      const deadlineAt = begunAt + Math.min(budgetMs, waitsMs / 2)
      const { response, answered } = await admit(request, deadlineAt, options)
      told(answered)
      return reviewed(context, response)
    } finally {
      body.release()
    }
  }

  return (app) => {
    app.post(ADMISSION_PATH, answer)
  }
}

/**
 * The stream of Node, since a stream of the web takes more time and memory than a decision. The bound of the server has read a body without a
 * length already.
 */
function bodyOf({ env, req }: Context): AsyncIterable<Uint8Array> {
  const { incoming } = env as { incoming: AsyncIterable<Uint8Array> & { readonly readableEnded: boolean } }
  return incoming.readableEnded ? (req.raw.body ?? incoming) : incoming
}

function reviewed(context: Context, response: AdmissionResponse): Response {
  return context.json({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const SECONDS = /^(\d{1,3})s$/

/** The API server says in the query how long it waits: `?timeout=10s`. */
function timeoutOf(query: string | undefined): number {
  const [, seconds] = SECONDS.exec(query ?? '') ?? []
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1_000
}
