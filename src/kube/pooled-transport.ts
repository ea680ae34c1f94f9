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
  /** URL of the API server. A path in it (as behind a gateway) is a prefix of every request's path. */
  server: string
  credentials: Credentials
  /** URL of the proxy, `http:` or `https:`. */
  proxyUrl?: string | undefined
  /** The number of connections for calls; Leases and watches have additional ones. Default 8. */
  connections?: number
  /** The messages for a server that is not trusted. */
  trust?: Trust
}

const CONNECTIONS = 8
const LEASE_CONNECTIONS = 2
const LEASES = '/apis/coordination.k8s.io/'
const CONNECT_TIMEOUT_MS = 10_000
/** A backstop only: callers have shorter deadlines. */
const HEADERS_TIMEOUT_MS = 60_000
const BODY_TIMEOUT_MS = 30_000
/**
 * Far below the 90 s after which an API server closes an idle connection, and the 60 s of common load balancers. A write on a connection
 * that is being closed is lost ambiguously.
 */
const KEEP_ALIVE_MS = 20_000
const TCP_KEEP_ALIVE_MS = 30_000

/**
 * The connections of one TLS identity. Calls and watches do not share connections, because 8 watches would block all calls. Leases have
 * their own, because a renewal that waits behind the PATCHes of 100 pods may come too late.
 */
interface Connections {
  identity: string
  calls: Dispatcher
  leases: Dispatcher
  watches: Dispatcher
}

/** A Transport with a pool of kept connections on HTTP/1.1. On HTTP/2, undici would send a refused PATCH again by itself. */
export function createPooledTransport(options: PooledTransportOptions): Transport {
  const { credentials } = options
  const server = new URL(options.server)
  const pathPrefix = server.pathname.replace(/\/+$/, '')
  const all = new Set<Connections>()
  let current: Connections | undefined
  let closed = false

  /** A renewed client certificate needs new connections. The old ones end with their last request. */
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
      // A server sends 401 before it does anything with a request, so even a write may be sent again.
      if (renewed || !credentials.refused(credential)) return answer
    }
  }

  function explainDistrust(error: unknown): never {
    const { trust, proxyUrl } = options
    // For an `https:` proxy, the certificate in question may be that of the proxy.
    if (trust === undefined || proxyUrl?.startsWith('https:') || !(error instanceof TransportError && isDistrust(error.cause)))
      throw error
    throw new TransportError(trust.distrust, { bytesLeft: error.bytesLeft, hint: trust.hint, cause: error.cause })
  }

  /** A plugin may take longer than the caller waits. It continues for the next caller. */
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
      // undici treats a connection as busy until the next turn of the event loop. An immediate next call would open another connection,
      // with a handshake.
      await nextTurn()
      return answer
    },

    stream(request, onLine, onOpen) {
      return exchange(request, ({ watches }, dispatchOptions) =>
        dispatch({
          dispatcher: watches,
          // A watch may be silent for any time; its reader has a limit of its own.
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

/** `connections` null: as many connections as there are requests. */
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
    // The connect timeout ends when the proxy is reached. A silent proxy, as during a failover, would block a connection for undici's five
    // minutes, and the two connections for Leases would soon be used up.
    clientFactory: (proxy, options) => new Pool(proxy, { ...options, headersTimeout: CONNECT_TIMEOUT_MS }),
  })
}

function identityOf(tls: TlsIdentity): string {
  const hash = createHash('sha256')
  for (const [name, value] of Object.entries(tls)) {
    // Lengths separate the fields, so that different fields cannot give the same key.
    if (value !== undefined)
      hash.update(`${name}:${String(value).length}:`).update(Buffer.isBuffer(value) ? value : String(value))
  }
  return hash.digest('base64')
}
