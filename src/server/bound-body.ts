import type { MiddlewareHandler } from 'hono'

/**
 * Answers 413 to a body that is longer. Hono's own `bodyLimit` makes a Request of what is none unless the globals of the process are
 * replaced, which this server does not do.
 */
export function boundBody(largestBytes: number): MiddlewareHandler {
  return async (context, next) => {
    const { raw } = context.req
    const refused = (): Response => context.json({ code: 'body-too-large' }, 413)
    if (raw.body === null) return next()
    // Node itself reads no more of a body than its length says.
    const length = raw.headers.has('transfer-encoding') ? null : raw.headers.get('content-length')
    if (length !== null) return Number(length) > largestBytes ? refused() : next()
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
