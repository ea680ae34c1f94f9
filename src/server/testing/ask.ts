import { type Agent as HttpAgent, type IncomingHttpHeaders, request as httpRequest } from 'node:http'
import { type Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { connect, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  body: string
  /** The common name in the certificate of the server. */
  certifiedAs?: string
}

export interface AskOptions {
  method?: string
  body?: string
  headers?: Record<string, string>
  /** The agent of the connection. Without an agent, each request has a connection of its own. */
  agent?: HttpAgent | HttpsAgent
  ca?: string
}

export function ask(url: string, { method = 'GET', body, agent, ...options }: AskOptions = {}): Promise<Answer> {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent: agent ?? false, ...options }, (response) => {
      const chunks: Buffer[] = []
      const peer = (response.socket as Partial<TLSSocket>).getPeerCertificate?.()
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
          // A resumed session may show no certificate.
          ...(peer?.subject === undefined ? {} : { certifiedAs: String(peer.subject.CN) }),
        }),
      )
    })
    outgoing.once('error', reject)
    outgoing.end(body)
  })
}

export interface RawConnection {
  socket: Socket
  /** Returns the text that the server has sent until now. */
  received(): string
  /** Resolves when either side has ended the connection. */
  gone: Promise<void>
}

/** Opens a connection for raw text. `reads` is whether the test reads the answers. */
export async function connectRaw(port: number, { reads = true } = {}): Promise<RawConnection> {
  const socket = connect({ host: '127.0.0.1', port })
  let text = ''
  const gone = new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
  socket.on('error', () => {})
  if (reads) socket.on('data', (chunk) => (text += chunk.toString()))
  await new Promise<void>((resolve) => {
    socket.once('connect', resolve)
  })
  return { socket, received: () => text, gone }
}
