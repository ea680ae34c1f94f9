/** Serves HTTP for a product that fetches its document. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address, ProductServer } from '../../../adapters/contract.ts'

export interface ProductListener {
  port: number
  /** Answers open requests, then closes. */
  close(): Promise<void>
}

/** A request of a product names the state that the product has, and is short. */
const LARGEST_BODY_BYTES = 100_000
/** A client that sends nothing does not delay the close. */
const ANSWERS_TAKE_MS = 1_000

/** Rejects with the system error where it cannot listen. `say` takes lines for the operator. */
export async function listenForProduct(
  product: ProductServer,
  { address, port }: Address,
  say: (line: string) => void,
): Promise<ProductListener> {
  let isReadable = true

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request)
    if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end()
    try {
      const [path = '/'] = (request.url ?? '/').split('?')
      const from = request.socket.remoteAddress ?? ''
      const given = await product.answer({ method: request.method ?? 'GET', path, body, from })
      if (given.notice !== undefined) say(given.notice)
      response.writeHead(given.status, given.contentType === undefined ? {} : { 'content-type': given.contentType })
      response.end(given.body)
      isReadable = true
    } catch (error) {
      // The error is reported once: a product asks several times a second.
      if (isReadable) say((error as Error).message)
      isReadable = false
      response.writeHead(503).end()
    }
  }

  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        const giveUp = setTimeout(() => server.closeAllConnections(), ANSWERS_TAKE_MS)
        server.close(() => {
          clearTimeout(giveUp)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

/** Returns undefined for a body that is too large. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > LARGEST_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
