import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Dispatcher, Pool, ProxyAgent } from 'undici'
import { isDistrust, type Trust } from './certificate-authority.ts'
import type { Credential, Credentials, TlsIdentity } from './credential.ts'
import { describeCause } from './describe-cause.ts'
import { dispatch } from './dispatch.ts'
import { createLineSplitter } from './line-splitter.ts'
import { type Transport, TransportError, type TransportRequest, type TransportResponse } from './transport.ts'

export interface PooledTransportOptions {
  /** URL of the API server; a path in it (as behind a gateway) goes before every request's own. */
  server: string
  credentials: Credentials
  /** `http:` or `https:`. */
  proxyUrl?: string | undefined
  /** Connections for calls; Leases, and each watch, have their own besides. Default 8. */
  connections?: number
  /** What is said where the server is not trusted. */
  trust?: Trust
}

const CONNECTIONS = 8
const LEASE_CONNECTIONS = 2
const LEASES = '/apis/coordination.k8s.io/'
const CONNECT_TIMEOUT_MS = 10_000
/** Backstops only: callers have deadlines of their own, shorter than these. */
const HEADERS_TIMEOUT_MS = 60_000
const BODY_TIMEOUT_MS = 30_000
/**
 * Far below the 90 s after which an API server closes an idle connection, and the 60 s of common load balancers: a
 * write on a connection that is being closed is lost ambiguously.
 */
const KEEP_ALIVE_MS = 20_000
const TCP_KEEP_ALIVE_MS = 30_000

/**
 * The connections of one TLS identity. Calls and watches do not share them: 8 watches would starve all calls. Nor do calls
 * and Leases: a renewal that waited behind the PATCHes of 100 pods came too late, and the pods had to wait for it.
 */
interface Connections {
  identity: string
  calls: Dispatcher
  leases: Dispatcher
  watches: Dispatcher
}

/** A Transport on one pool of kept connections, on HTTP/1.1: on HTTP/2, undici sends a refused PATCH again by itself. */
export function createPooledTransport(options: PooledTransportOptions): Transport {
  const { credentials } = options
  const server = new URL(options.server)
  const pathPrefix = server.pathname.replace(/\/+$/, '')
  const all = new Set<Connections>()
  let current: Connections | undefined
  let closed = false

  /** A renewed client certificate needs new connections; the old ones end with what is still running on them. */
  function connectionsFor(tls: TlsIdentity): Connections {
    const identity = identityOf(tls)
    if (current?.identity === identity) return current
    const retired = current
    current = {
      identity,
      calls: open(server, tls, options.proxyUrl, options.connections ?? CONNECTIONS),
      leases: open(server, tls, options.proxyUrl, LEASE_CONNECTIONS),
      watches: open(server, tls, options.proxyUrl, null),
    }
    all.add(current)
    if (retired !== undefined) {
      void Promise.allSettled(dispatchersOf(retired).map((one) => one.close())).then(() => all.delete(retired))
    }
    return current
  }

  async function exchange(
    request: TransportRequest,
    run: (connections: Connections, options: Dispatcher.DispatchOptions) => Promise<TransportResponse>,
  ): Promise<TransportResponse> {
    for (let renewed = false; ; renewed = true) {
      const credential = await credentialFor(request.signal)
      if (closed) throw new TransportError('the transport is closed', { bytesLeft: false })
      const answer = await run(connectionsFor(credential.tls), {
        origin: server.origin,
        path: pathPrefix + request.path,
        method: request.method,
        headers: { ...request.headers, ...credential.headers },
        body: request.body ?? null,
      }).catch(explainDistrust)
      if (answer.status !== 401) {
        credentials.accepted(credential)
        return answer
      }
      // 401 comes before everything else that a server does with a request, so a write may go out again.
      if (renewed || !credentials.refused(credential)) return answer
    }
  }

  function explainDistrust(error: unknown): never {
    const { trust, proxyUrl } = options
    // Of a proxy with TLS of its own it may be its certificate.
    if (trust === undefined || proxyUrl?.startsWith('https:') || !(error instanceof TransportError && isDistrust(error.cause)))
      throw error
    throw new TransportError(trust.distrust, { bytesLeft: error.bytesLeft, hint: trust.hint, cause: error.cause })
  }

  /** A plugin may take longer than the caller waits; it goes on for the next one. */
  function credentialFor(signal: AbortSignal | undefined): Promise<Credential> {
    return new Promise((resolve, reject) => {
      const fail = (message: string, cause: unknown) => reject(new TransportError(message, { bytesLeft: false, cause }))
      if (closed) return fail('the transport is closed', undefined)
      const onAbort = () => fail('given up while waiting for credentials', signal?.reason)
      if (signal?.aborted === true) return onAbort()
      signal?.addEventListener('abort', onAbort)
      credentials
        .current()
        .then(resolve, (error: unknown) => fail(describeCause(error), error))
        .finally(() => signal?.removeEventListener('abort', onAbort))
    })
  }

  return {
    async send(request) {
      const answer = await exchange(request, ({ calls, leases }, dispatchOptions) =>
        dispatch({
          dispatcher: request.path.startsWith(LEASES) ? leases : calls,
          options: { ...dispatchOptions, headersTimeout: HEADERS_TIMEOUT_MS, bodyTimeout: BODY_TIMEOUT_MS },
          signal: request.signal,
          beforeSend: request.beforeSend,
        }),
      )
      // undici takes a connection for busy until the next turn of the event loop: a call that comes right after another would
      // open one of its own, with a handshake.
      await nextTurn()
      return answer
    },

    stream(request, onLine, onOpen) {
      return exchange(request, ({ watches }, dispatchOptions) =>
        dispatch({
          dispatcher: watches,
          // A watch may be silent for as long as it likes; who reads it knows how long that is.
          options: { ...dispatchOptions, headersTimeout: HEADERS_TIMEOUT_MS, bodyTimeout: 0 },
          signal: request.signal,
          onChunk: createLineSplitter(onLine),
          onOpen,
        }),
      )
    },

    async close() {
      closed = true
      credentials.close()
      await Promise.all([...all].flatMap(dispatchersOf).map((one) => one.destroy()))
    },
  }
}

function dispatchersOf({ calls, leases, watches }: Connections): Dispatcher[] {
  return [calls, leases, watches]
}

/** `connections` null: as many as there are requests. */
function open(server: URL, tls: TlsIdentity, proxyUrl: string | undefined, connections: number | null): Dispatcher {
  const identity = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined))
  const common = {
    connections,
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
  }
  const tcp = { keepAlive: true, keepAliveInitialDelay: TCP_KEEP_ALIVE_MS }
  if (proxyUrl === undefined) return new Pool(server.origin, { ...common, connect: { ...identity, ...tcp } })
  return new ProxyAgent({
    ...common,
    uri: proxyUrl,
    requestTls: { ...identity, ...tcp },
    proxyTls: { allowH2: false, ...tcp },
    // The timeout of a connect ends where the proxy is reached. One that then says nothing, as in a failover, would hold a
    // connection for undici's five minutes, whatever became of the request, and the two for Leases are gone soon.
    clientFactory: (proxy, options) => new Pool(proxy, { ...options, headersTimeout: CONNECT_TIMEOUT_MS }),
  })
}

function identityOf(tls: TlsIdentity): string {
  const hash = createHash('sha256')
  for (const [name, value] of Object.entries(tls)) {
    // Lengths keep one field's end apart from the next one's start.
    if (value !== undefined)
      hash.update(`${name}:${String(value).length}:`).update(Buffer.isBuffer(value) ? value : String(value))
  }
  return hash.digest('base64')
}
