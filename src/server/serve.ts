import { getRequestListener } from '@hono/node-server'
import { createServer as createHttpServer, type Server } from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https'
import { type AddressInfo, isIPv6 } from 'node:net'
import { type Certificate, type CertificateFiles, type CertificateSource, readCertificate } from './certificate.ts'
import { trackConnections } from './connections.ts'
import { type AppOptions, createApp } from './create-app.ts'
import { followCertificate } from './follow-certificate.ts'
import { LIMITS, type Limits } from './limits.ts'
import { type ListenAddress, parseListenAddress } from './listen-address.ts'
import { ServerError, type ServerErrorCode } from './server-error.ts'

export interface ServeOptions extends Pick<AppOptions, 'notReady' | 'metrics' | 'routes'> {
  /** HOST:PORT, [IPV6]:PORT, or :PORT for all addresses. Port 0 stands for a free one. */
  listen: string
  /** The certificate for HTTPS. Without it the server speaks plain HTTP. */
  tls?: CertificateFiles | CertificateSource
  limits?: Partial<Limits>
  /** The time between two reads of the files of the certificate. Default: 10 s. */
  certificateEveryMs?: number
  onEvent?(event: ServerEvent): void
}

/** The events that a log of the server has. Instants are in milliseconds since 1970. */
export type ServerEvent =
  | { type: 'certificateRenewed'; certFile?: string; endsAt: number }
  /** A new certificate cannot be used. The certificate in use stays. */
  | { type: 'certificateRefused'; error: ServerError }
  | { type: 'requestFailed'; path: string; error: unknown }

export interface Served {
  /** For example `https://127.0.0.1:9464`. `localhost` stands for all addresses. */
  url: string
  /** The address that the server is bound to, as the operating system has it. */
  host: string
  port: number
  /** The end of the validity of the first certificate, in milliseconds since 1970. */
  certificateEndsAt?: number
  /**
   * Takes no new connections, and cuts requests that are not answered within `graceMs` (default: 10 s). Meanwhile /readyz answers 503.
   * A second call waits for the first. Returns the number of requests that were cut.
   */
  close(options?: { graceMs?: number }): Promise<{ cut: number }>
}

const CERTIFICATE_EVERY_MS = 10_000
const GRACE_MS = 10_000
const CHECKS_A_LIMIT = 4

/**
 * Serves health (/livez), readiness (/readyz), metrics (/metrics), and the routes of `routes`.
 * @throws ServerError that names the address or the file
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const { listen, tls, onEvent = () => {}, certificateEveryMs = CERTIFICATE_EVERY_MS } = options
  const address = parseListenAddress(listen)
  const limits = { ...LIMITS, ...options.limits }
  const certificate = tls && ('certFile' in tls ? await readCertificate(tls) : tls.current())
  let closed: Promise<{ cut: number }> | undefined

  const app = createApp({
    notReady: () => (closed === undefined ? options.notReady() : [{ code: 'closing' }, ...options.notReady()]),
    metrics: options.metrics,
    routes: options.routes,
    largestBodyBytes: limits.largestBodyBytes,
    failed: (path, error) => onEvent({ type: 'requestFailed', path, error }),
  })
  const settings = {
    maxHeaderSize: limits.largestHeaderBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: Math.ceil(Math.min(limits.headersMs, limits.requestMs) / CHECKS_A_LIMIT),
  }
  const secure = certificate && createHttpsServer({ ...settings, ...certificate, handshakeTimeout: limits.headersMs })
  const server: Server | HttpsServer = secure ?? createHttpServer(settings)
  server.timeout = limits.silenceMs
  server.maxConnections = limits.connections
  const connections = trackConnections(server)
  // A library must not replace the global Request and Response of its process.
  server.on('request', getRequestListener(app.fetch, { overrideGlobalObjects: false, hostname: 'localhost' }))

  const { address: host, port } = await bind(server, address, listen)
  const endFollowing = tls && certificate && secure ? follow(secure, tls, certificate) : undefined

  function follow(of: HttpsServer, source: CertificateFiles | CertificateSource, current: Certificate): () => void {
    const certFile = 'certFile' in source ? source.certFile : undefined
    const renewed = (next: Certificate): void => {
      // New connections get the new certificate. Open connections go on.
      of.setSecureContext(next)
      onEvent({ type: 'certificateRenewed', ...(certFile !== undefined && { certFile }), endsAt: next.endsAt })
    }
    if (!('certFile' in source)) return source.follow(renewed)
    const refused = (error: ServerError): void => onEvent({ type: 'certificateRefused', error })
    return followCertificate({ files: source, current, everyMs: certificateEveryMs, renewed, refused })
  }

  async function end(graceMs: number): Promise<{ cut: number }> {
    endFollowing?.()
    const ended = new Promise<void>((resolve) => server.close(() => resolve()))
    const cut = await connections.drain(graceMs)
    await ended
    return { cut }
  }

  return {
    url: `${tls ? 'https' : 'http'}://${shownHost(address.host === undefined ? 'localhost' : host)}:${port}`,
    host,
    port,
    ...(certificate && { certificateEndsAt: certificate.endsAt }),
    close: ({ graceMs = GRACE_MS } = {}) => (closed ??= end(graceMs)),
  }
}

const CODES: Readonly<Record<string, Extract<ServerErrorCode, `${'address' | 'port'}-${string}`>>> = {
  EADDRINUSE: 'address-in-use',
  EADDRNOTAVAIL: 'address-not-here',
  ENOTFOUND: 'address-not-here',
  EACCES: 'port-not-permitted',
}

async function bind(server: Server, { host, port }: ListenAddress, listen: string): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException): void =>
      reject(new ServerError({ code: CODES[error.code ?? ''] ?? 'listen-failed', listen }, error))
    server.once('error', refused)
    server.listen({ host, port }, () => {
      server.off('error', refused)
      resolve()
    })
  })
  return server.address() as AddressInfo
}

function shownHost(host: string): string {
  return isIPv6(host) ? `[${host}]` : host
}
