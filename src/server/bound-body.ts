import type { MiddlewareHandler } from 'hono'

/**
 * Answers 413 to a request with a longer body. Hono's own `bodyLimit` works only where the global Request of the process is replaced, which
 * this server does not do.
 */
export function boundBody(largestBytes: number): MiddlewareHandler {
  return async (context, next) => {
    const { raw } = context.req
    const refused = (): Response => context.json({ code: 'body-too-large' }, 413)
    // Node reads no more of a body than `content-length` says. To look at `raw.body` has a stream made for each request.
    const length = raw.headers.has('transfer-encoding') ? null : raw.headers.get('content-length')
    if (length !== null) return Number(length) > largestBytes ? refused() : next()
    if (raw.body === null) return next()
    const chunks: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of raw.body) {
      bytes += chunk.length
      if (bytes > largestBytes) return refused()
      chunks.push(chunk)
    }
    const { url, method, headers, signal } = raw
    context.req.raw = new Request(url, { method, headers, signal, body: Buffer.concat(chunks) })
    return next()
  }
}
