import { Agent, request } from 'undici'
import { describeCause } from '../../kube/describe-cause.ts'
import { pause } from '../../kube/pause.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { type CredentialFiles, CredentialError, readCredentials } from './credentials.ts'
import { type Follow, LARGEST_DOCUMENT_BYTES, type Look, type SourceFault } from './look.ts'
import { textAt } from './text-at.ts'

export interface FollowUrlOptions extends CredentialFiles {
  url: string
  clock: Clock
  random: Random
  /** The time between two requests that succeed. */
  everyMs: number
  /** The time limit of a request. Default 10 s. */
  timeoutMs?: number
  /** JSON pointer of the text within a JSON answer, such as `/data/content`. Without it, the answer is the document. */
  field?: string
  /** The longest time without a request for the whole document, against an ETag that stays where the document changes. Default 10 min. */
  wholeEveryMs?: number
}

const TIMEOUT_MS = 10_000
const WHOLE_EVERY_MS = 600_000
const CONNECT_WITHIN_MS = 5_000
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 60_000
/** Regular requests come up to a tenth sooner or later, so that replicas do not ask at the same time. */
const SPREAD = 0.1
/** A JSON answer holds the document with its escapes, and more. */
const LARGEST_ANSWER_BYTES = 2 * LARGEST_DOCUMENT_BYTES
/** The codes by which Node and OpenSSL refuse the certificate of a server. */
const DISTRUSTED = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/

interface Answer {
  look: Look
  etag?: string | undefined
  retryAfterMs?: number | undefined
}

/**
 * Follows the document of a URL by a request from time to time, with If-None-Match where the server gives an ETag. An ETag that two documents
 * have is not used again. Redirects are refused, and proxies are not used.
 */
export function followUrl(options: FollowUrlOptions): Follow {
  const { url, clock, random, everyMs, timeoutMs = TIMEOUT_MS, wholeEveryMs = WHOLE_EVERY_MS } = options

  return async (onLook, signal) => {
    let agent: Agent | undefined
    let trusted: string | undefined
    /** The last whole document. */
    let whole: { etag: string | undefined; bytes: Uint8Array; at: number } | undefined
    let isEtagWrong = false
    let failures = 0

    function connect(ca: string | undefined): Agent {
      if (agent !== undefined && ca === trusted) return agent
      void agent?.close()
      trusted = ca
      // An explicit value, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable the check.
      const tls = { rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) }
      agent = new Agent({ allowH2: false, connections: 1, connect: { ...tls, timeout: CONNECT_WITHIN_MS } })
      return agent
    }

    async function ask(): Promise<Answer> {
      const expired = AbortSignal.timeout(timeoutMs)
      const etag = isEtagWrong || whole === undefined || clock.now() - whole.at >= wholeEveryMs ? undefined : whole.etag
      try {
        const { ca, authorization } = await readCredentials(options)
        const headers = {
          accept: '*/*',
          'accept-encoding': 'identity',
          'user-agent': 'sluice',
          ...(etag === undefined ? {} : { 'if-none-match': etag }),
          ...(authorization === undefined ? {} : { authorization }),
        }
        const answer = await request(url, { dispatcher: connect(ca), headers, signal: AbortSignal.any([signal, expired]) })
        return await readAnswer(answer, { field: options.field, isConditional: etag !== undefined })
      } catch (error) {
        return { look: { is: 'away', fault: faultOf(error, expired.aborted ? timeoutMs : undefined) } }
      }
    }

    function wholeLook(bytes: Uint8Array, etag: string | undefined): Look {
      const before = whole
      whole = { etag, bytes, at: clock.now() }
      if (isEtagWrong || etag === undefined || etag !== before?.etag || Buffer.compare(bytes, before.bytes) === 0)
        return { is: 'document', bytes }
      isEtagWrong = true
      return { is: 'document', bytes, isEtagWrong }
    }

    while (!signal.aborted) {
      const answer = await ask()
      if (signal.aborted) break
      failures = answer.look.is === 'away' ? failures + 1 : 0
      onLook(answer.look.is === 'document' ? wholeLook(answer.look.bytes, answer.etag) : answer.look)
      const waitMs = failures > 0 ? retryMs(random, failures) : everyMs * (1 - SPREAD + 2 * SPREAD * random.next())
      await pause(clock, Math.max(waitMs, Math.min(answer.retryAfterMs ?? 0, LONGEST_RETRY_MS)), signal)
    }
    await agent?.destroy()
  }
}

/** Doubles with each failure in a row, from 1 (second) to 60, and is random between half and the whole. */
function retryMs(random: Random, failures: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1)) * (0.5 + random.next() / 2)
}

type Response = Awaited<ReturnType<typeof request>>

async function readAnswer(
  { statusCode: status, headers, body }: Response,
  { field, isConditional }: { field: string | undefined; isConditional: boolean },
): Promise<Answer> {
  const header = (name: string): string | undefined => [headers[name]].flat()[0]
  const away = (fault: SourceFault): Answer => ({ look: { is: 'away', fault }, retryAfterMs: secondsMs(header('retry-after')) })
  if (status !== 200) {
    await discard(body)
    if (status === 304 && isConditional) return { look: { is: 'unchanged' } }
    if (status === 404 || status === 410) return { look: { is: 'missing', lacks: 'document' } }
    return away({ code: status >= 300 && status < 400 && status !== 304 ? 'redirect' : 'status', status })
  }
  const encoding = header('content-encoding')
  if (encoding !== undefined && encoding !== 'identity') {
    await discard(body)
    return away({ code: 'encoded', encoding })
  }
  const limitBytes = field === undefined ? LARGEST_DOCUMENT_BYTES : LARGEST_ANSWER_BYTES
  const answer = await readUpTo(body, limitBytes)
  if (answer === undefined) return { look: { is: 'too-large', limitBytes } }
  if (field === undefined) return { look: { is: 'document', bytes: answer }, etag: header('etag') }
  const text = textAt(answer, field)
  if (text === undefined) return away({ code: 'no-field', field })
  const bytes = Buffer.from(text)
  if (bytes.length > LARGEST_DOCUMENT_BYTES) return { look: { is: 'too-large', limitBytes: LARGEST_DOCUMENT_BYTES } }
  return { look: { is: 'document', bytes }, etag: header('etag') }
}

/** Undefined if the body is longer. An error where it breaks off before its Content-Length or its last chunk. */
async function readUpTo(body: Response['body'], limitBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length
    // The end of the loop destroys the body and its connection.
    if (length > limitBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function discard(body: Response['body']): Promise<void> {
  return body.dump({ limit: 1 << 16 })
}

/** The milliseconds of a Retry-After header in seconds. */
function secondsMs(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,6}$/.test(value) ? Number(value) * 1000 : undefined
}

function faultOf(error: unknown, timedOutAfterMs: number | undefined): SourceFault {
  if (error instanceof CredentialError) return error.fault
  if (timedOutAfterMs !== undefined) return { code: 'timeout', afterMs: timedOutAfterMs }
  const code = String((error as NodeJS.ErrnoException).code ?? '')
  return { code: DISTRUSTED.test(code) ? 'distrusted' : 'no-answer', said: describeCause(error) }
}
