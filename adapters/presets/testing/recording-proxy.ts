/** A proxy for Caddy's admin API that records each change, so that a test can inspect it, hold it, or send it again. */
import { createServer, type IncomingMessage, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Recorded {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

export interface Answered {
  status: number
  headers: IncomingMessage['headers']
  text: string
}

export interface RecordingProxy {
  url: string
  /** Each PATCH in order of arrival, with the status of its answer once there is one. */
  writes: (Recorded & { status?: number })[]
  /** Runs for each PATCH. The proxy forwards the PATCH when the hook is done. */
  onWrite: ((write: Recorded) => Promise<void> | void) | undefined
  /** Runs for each GET after the answer of Caddy. The proxy forwards the answer when the hook is done. */
  onRead: ((read: Recorded) => Promise<void> | void) | undefined
  /** Runs after each PATCH is done, before the proxy forwards its answer. */
  onDone: ((write: Recorded) => void) | undefined
  close(): void
}

/** Sends the request on its own connection. */
export function sendTo(base: string, { method, url, headers, body }: Recorded): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { connection: _hop, ...kept } = headers
    const sent = sendRequest(base + url, { method, headers: kept, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.once('error', reject)
      answer.once('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

export async function startRecordingProxy(upstreamUrl: string): Promise<RecordingProxy> {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk as string
    const { method = '', url = '', headers } = request
    const recorded: Recorded & { status?: number } = { method, url, headers, body }
    const isWrite = method === 'PATCH'
    if (isWrite) {
      proxy.writes.push(recorded)
      await proxy.onWrite?.(recorded)
    }
    try {
      const answer = await sendTo(upstreamUrl, recorded)
      recorded.status = answer.status
      if (isWrite) proxy.onDone?.(recorded)
      else await proxy.onRead?.(recorded)
      const etag = answer.headers.etag === undefined ? {} : { etag: answer.headers.etag }
      response.writeHead(answer.status, { 'content-type': 'application/json', ...etag }).end(answer.text)
    } catch {
      response.destroy()
    }
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const proxy: RecordingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes: [],
    onWrite: undefined,
    onRead: undefined,
    onDone: undefined,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return proxy
}
