import type { Context, Hono } from 'hono'
import type { Answered } from './admission-event.ts'
import { type AdmissionOptions, type AdmissionResponse, admit } from './admit.ts'
import { type Load, watchLoad } from './load.ts'
import { findUid, readReview } from './review.ts'

export const ADMISSION_PATH = '/admit'

export interface AdmissionRoutesOptions extends AdmissionOptions {
  onAnswered(answered: Answered): void
  /** The time for one answer. Default: 1 s, and at most half of the time that the API server waits. */
  budgetMs?: number
  /** Default: 64. */
  mostUnderWay?: number
  /** Default: 300 ms. */
  busyMs?: number
}

const BUDGET_MS = 1_000
const MOST_UNDER_WAY = 64
const BUSY_MS = 300
/** The begin of a body that has the uid. */
const HEAD_BYTES = 4096

/** The route that the API server asks before it stores Endpoints or EndpointSlices. */
export function admissionRoutes(options: AdmissionRoutesOptions): (app: Hono) => void {
  const { clock, onAnswered, budgetMs = BUDGET_MS, mostUnderWay = MOST_UNDER_WAY, busyMs = BUSY_MS } = options
  const load: Load = watchLoad({ clock, mostUnderWay, busyMs })

  async function answer(context: Context): Promise<Response> {
    const begunAt = clock.now()
    const told = (answered: Omit<Answered, 'tookMs'>): void => onAnswered({ ...answered, tookMs: clock.now() - begunAt })
    const leave = load.enter()
    if (leave === undefined) {
      const uid = findUid(await headOf(context.req.raw.body))
      told({ type: 'answered', result: 'shed' })
      return uid === undefined ? context.json({ code: 'overloaded' }, 429) : reviewed(context, { uid, allowed: true })
    }
    try {
      const request = readReview(parsed(await context.req.text()))
      if (request === undefined) {
        told({ type: 'answered', result: 'refused' })
        return context.json({ code: 'no-admission-review' }, 400)
      }
      const waitsMs = timeoutOf(context.req.query('timeout'))
      const deadlineAt = begunAt + Math.min(budgetMs, waitsMs / 2)
      const { response, answered } = admit(request, deadlineAt, options)
      told(answered)
      return reviewed(context, response)
    } finally {
      leave()
    }
  }

  return (app) => {
    app.post(ADMISSION_PATH, answer)
  }
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

/** Reads a body to its end, since the answer would not arrive otherwise, and keeps its begin. */
async function headOf(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  let head = Buffer.alloc(0)
  if (body === null) return head
  for await (const chunk of body) if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES)])
  return head
}

const SECONDS = /^(\d{1,3})s$/

/** The API server says in the query how long it waits: `?timeout=10s`. */
function timeoutOf(query: string | undefined): number {
  const [, seconds] = SECONDS.exec(query ?? '') ?? []
  return seconds === undefined ? Number.POSITIVE_INFINITY : Number(seconds) * 1_000
}
