/**
 * Sends one request and gives its answer. The client makes no retries, follows no redirects and uses no proxy. It keeps connections and
 * uses them again.
 */
import { X509Certificate } from 'node:crypto'
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { z } from 'zod'
import axios, { isAxiosError } from 'axios'
import { AdapterError, type AdapterErrorKind, type Call } from '../contract.ts'
import { createByteWatch, type Flight } from '../watch-bytes.ts'
import { type Answer, statusError } from './answer.ts'
import { readCredentialFile, whyUnreadable } from '../credentials/credential-file.ts'
import type { tls } from './connection-fields.ts'
import type { HttpRequest } from './http-request.ts'

/** The largest answer in bytes: 10,000 entries of 1.6 KB. A larger answer is not a list of servers. */
const LARGEST_ANSWER_BYTES = 16 * 1024 * 1024
/** The limit of connections. Without a list, the adapter reads many targets at once. */
const MOST_CONNECTIONS = 10
const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface SendOptions {
  isWrite: boolean
  /** The URL of the API without a slash at its end. Default: `url`. */
  baseUrl?: string
}

export interface Client {
  /** Sends the request. Resolves only for an expected status. With `isWrite`, a failure after the bytes left is ambiguous. */
  send(request: HttpRequest, call: Call, options: SendOptions): Promise<Answer>
  close(): void
}

function readTlsFile(component: string, file: string | undefined): Buffer | undefined {
  if (file === undefined) return undefined
  try {
    return readCredentialFile(file)
  } catch (error) {
    throw new AdapterError(component, 'fatal', `the file ${file} of tls cannot be read: ${whyUnreadable(error)}`)
  }
}

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/**
 * Options of a client. `keepAlive` is only for APIs that are read before each change: the read detects a dead connection, which would leave
 * a change in doubt.
 */
export interface ClientOptions {
  url: string
  tls?: z.infer<typeof tls> | undefined
  keepAlive?: boolean
}

function createAgent(component: string, { url, tls, keepAlive = false }: ClientOptions): HttpAgent | HttpsAgent {
  const pool = { keepAlive, maxSockets: MOST_CONNECTIONS }
  if (!url.startsWith('https:')) return new HttpAgent(pool)
  const [ca, cert, key] = [tls?.ca, tls?.cert, tls?.key].map((file) => readTlsFile(component, file))
  const files = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  try {
    // Node ignores an invalid certificate in `ca`, so this code parses it.
    if (ca !== undefined) void new X509Certificate(ca)
    createSecureContext(files)
  } catch (error) {
    const names = Object.values(tls ?? {}).join(', ')
    throw new AdapterError(component, 'fatal', `the files of tls (${names}) cannot be used: ${(error as Error).message}`)
  }
  // An explicit value, so that NODE_TLS_REJECT_UNAUTHORIZED cannot disable the check.
  return new HttpsAgent({ ...pool, rejectUnauthorized: true, ...files })
}

/** The reason not to trust the peer or its certificate. Another attempt cannot help. */
function distrust(code: string): string | undefined {
  if (/^(ERR_TLS_CERT_ALTNAME|HOSTNAME_MISMATCH)/.test(code))
    return `its certificate is for another name (${code}); write one that it is for in url`
  if (/^CERT_(HAS_EXPIRED|NOT_YET_VALID)/.test(code)) return `its certificate is not valid now (${code})`
  if (/^(CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(code))
    return `its certificate is not trusted (${code}); name the right one with tls.ca`
  return undefined
}

/** The first byte of a TLS alert. Many servers answer plain text with an alert. */
const TLS_ALERT = 0x15

/** The message for a protocol mismatch: the server speaks TLS on an http URL, or plain text on an https URL. */
function otherProtocol(code: string, cause: Error | undefined): string | undefined {
  if (/^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNEXPECTED_MESSAGE|HTTP_REQUEST)$/.test(code))
    return `it does not speak TLS (${code}); write http in url`
  const { rawPacket } = (cause ?? {}) as { rawPacket?: Uint8Array }
  if (code.startsWith('HPE_') && rawPacket?.[0] === TLS_ALERT) return `it speaks TLS; write https in url`
  return undefined
}

export function createClient(component: string, options: ClientOptions): Client {
  const closing = new AbortController()
  const ownUrl = withoutSlash(options.url)
  const isSecure = options.url.startsWith('https:')
  const begin = isSecure ? requestHttps : requestHttp
  const watchBytes = createByteWatch({ isSecure })
  let agent: HttpAgent | HttpsAgent | undefined
  let hasAnswered = false

  function failure(
    error: unknown,
    what: string,
    { isWrite, flight, expired }: { isWrite: boolean; flight: Flight; expired: AbortSignal },
  ): AdapterError {
    // The cause never includes the error of axios, because that contains the request with its headers.
    const inner = isAxiosError(error) ? error.cause : undefined
    const cause = inner instanceof Error && !isAxiosError(inner) ? inner : undefined
    const code = String((cause as NodeJS.ErrnoException | undefined)?.code ?? '')
    const failed = (kind: AdapterErrorKind, message: string) =>
      new AdapterError(component, kind, `${what}: ${message}`, { cause })
    const kind = flight.sent && isWrite ? 'ambiguous' : 'retryable'
    if (closing.signal.aborted) return failed(kind, 'the adapter was closed')
    if (expired.aborted) return failed(kind, flight.sent ? 'no whole answer in time' : 'no connection in time')
    const distrusted = distrust(code)
    if (distrusted !== undefined) return failed('fatal', distrusted)
    const protocol = otherProtocol(code, cause)
    if (protocol !== undefined) return failed(kind, protocol)
    if (code === 'ECONNREFUSED') return failed(kind, 'nobody listens there (ECONNREFUSED)')
    const message = cause?.message || (isAxiosError(error) ? error.message : 'failed')
    if (message.startsWith('maxContentLength')) {
      return failed(isWrite ? 'ambiguous' : 'fatal', `the answer is larger than ${LARGEST_ANSWER_BYTES} bytes`)
    }
    // Some servers close the connection without an answer if the first bytes have the wrong protocol, TLS or plain text.
    const isHangUp = code === 'ECONNRESET' && !hasAnswered
    const doubt = isHangUp
      ? isSecure
        ? '; does it speak TLS? is it http in url?'
        : '; does it speak TLS? is it https in url?'
      : ''
    return failed(kind, (message === 'stream has been aborted' ? 'the answer broke off' : message) + doubt)
  }

  return {
    async send(request, call, { isWrite, baseUrl = ownUrl }) {
      const { method, path, headers, body, expect, secrets } = request
      const url = baseUrl + path
      // The URL without the query, which is too long for a message.
      const what = `${method} ${url.split('?', 1)[0]}`
      if (closing.signal.aborted) throw new AdapterError(component, 'retryable', `${what}: the adapter is closed`)
      if (call.deadlineMs <= 0) throw new AdapterError(component, 'retryable', `${what}: not sent, the time of the call is over`)
      agent ??= createAgent(component, options)
      const flight: Flight = { sent: false }
      const expired = AbortSignal.timeout(Math.min(Math.ceil(call.deadlineMs), LONGEST_TIMER_MS))
      let answer: Answer
      try {
        const response = await axios.request<string>({
          method,
          url,
          headers: { Accept: 'application/json', 'Accept-Encoding': 'identity', 'User-Agent': 'sluice', ...headers },
          ...(body === undefined ? {} : { data: body }),
          httpAgent: agent,
          httpsAgent: agent,
          transport: {
            request(made: RequestOptions, onAnswer: (response: IncomingMessage) => void) {
              const begun = begin(made, onAnswer)
              watchBytes(begun, call, flight)
              return begun
            },
          },
          maxRedirects: 0,
          // HTTP_PROXY usually leads to the internet, not to a load balancer: see the README.
          proxy: false,
          decompress: false,
          maxContentLength: LARGEST_ANSWER_BYTES,
          responseType: 'text',
          transformRequest: (data: unknown) => data,
          transformResponse: (data: unknown) => data,
          validateStatus: () => true,
          signal: AbortSignal.any([closing.signal, expired]),
        })
        const texts = Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), String(value)] as const)
        hasAnswered = true
        answer = { status: response.status, headers: Object.fromEntries(texts), text: response.data, asked: what }
      } catch (error) {
        if (flight.lost !== undefined) throw flight.lost.error
        throw failure(error, what, { isWrite, flight, expired })
      }
      const { status } = answer
      const isExpected = expect === undefined ? status >= 200 && status < 300 : expect.includes(status)
      if (!isExpected) throw statusError(component, answer, { isWrite, secrets })
      return answer
    },

    close() {
      closing.abort()
      agent?.destroy()
    },
  }
}
