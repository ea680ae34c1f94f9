import { createHash } from 'node:crypto'
import type { Certificates } from '../../../kube/testing/certificates.ts'
import { type ApiServer, type Handler, type ServerOptions, startApiServer } from '../../../kube/testing/api-server.ts'

/** A server of one document with an ETag, as a web server has it. */
export interface DocumentServer extends ApiServer {
  publish(text: string | Buffer): void
  /** The answers by status. */
  answered: Map<number, number>
  /** Answers by the handler from now on; without one, with the document. */
  answerBy(handler: Handler | undefined): void
}

export async function startDocumentServer(
  options: { certificates?: Certificates; etag?: boolean } & ServerOptions = {},
): Promise<DocumentServer> {
  const { certificates, etag: hasEtag = true, ...rest } = options
  const server = await startApiServer({ ...(certificates === undefined ? {} : { tls: { certificates } }), ...rest })
  const answered = new Map<number, number>()
  let document: string | Buffer = ''
  let other: Handler | undefined
  server.handle((seen, response, socket) => {
    response.on('finish', () => answered.set(response.statusCode, (answered.get(response.statusCode) ?? 0) + 1))
    if (other !== undefined) return other(seen, response, socket)
    const etag = `"${createHash('sha256').update(document).digest('hex')}"`
    if (hasEtag) response.setHeader('etag', etag)
    if (hasEtag && seen.headers['if-none-match'] === etag) return void response.writeHead(304).end()
    response.setHeader('content-type', 'application/yaml')
    response.end(document)
  })
  return Object.assign(server, {
    answered,
    publish: (text: string | Buffer) => void (document = text),
    answerBy: (handler: Handler | undefined) => void (other = handler),
  })
}
