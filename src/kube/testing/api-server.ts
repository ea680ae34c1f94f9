import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Certificates, KeyPair } from './certificates.ts'

export interface SeenRequest {
  method: string
  url: string
  headers: IncomingMessage['headers']
  rawHeaders: string[]
  body: string
  /** The common name of the client's certificate. */
  commonName: string | undefined
  servername: string | false | null
}

export type Handler = (seen: SeenRequest, response: ServerResponse, socket: Socket) => void

export interface ApiServer {
  url: string
  port: number
  /** The complete requests that have arrived. */
  seen: SeenRequest[]
  /** The number of connections made so far. */
  connections(): number
  open(): number
  handle(handler: Handler): void
  close(): Promise<void>
}

export interface ServerOptions {
  /** Absent for plain HTTP. */
  tls?: { certificates: Certificates; identity?: KeyPair }
  keepAliveTimeout?: number
  /** Default 127.0.0.1. */
  host?: '127.0.0.1' | '::1'
}

export const answerOk: Handler = (_seen, response) => {
  response.setHeader('content-type', 'application/json')
  response.end('{"ok":true}')
}

/** A real server on a free port of the loopback interface. */
export async function startApiServer({
  tls,
  keepAliveTimeout = 60_000,
  host = '127.0.0.1',
}: ServerOptions = {}): Promise<ApiServer> {
  let handler = answerOk
  let connections = 0
  const sockets = new Set<Socket>()
  const seen: SeenRequest[] = []

  function receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const socket = request.socket as TLSSocket
      const entry: SeenRequest = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: request.headers,
        rawHeaders: request.rawHeaders,
        body: Buffer.concat(chunks).toString('utf8'),
        commonName: tls === undefined ? undefined : [socket.getPeerCertificate().subject?.CN].flat()[0],
        servername: tls === undefined ? null : ((socket as TLSSocket & { servername?: string | false }).servername ?? null),
      }
      seen.push(entry)
      handler(entry, response, socket)
    })
  }

  const server =
    tls === undefined
      ? createHttpServer(receive)
      : createHttpsServer(
          { ...(tls.identity ?? tls.certificates.server), ca: tls.certificates.ca, requestCert: true, rejectUnauthorized: false },
          receive,
        )
  server.keepAliveTimeout = keepAliveTimeout
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${host === '::1' ? '[::1]' : host}:${port}`,
    port,
    seen,
    connections: () => connections,
    open: () => sockets.size,
    handle: (next) => {
      handler = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
