/* What the version of Caddy's upstreams is good for, on the real program. */
import { createServer, type IncomingMessage, request as sendRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findProduct } from '../../test/products/find-product.ts'
import { describeOn } from '../../test/products/program.ts'
import { type CaddyProcess, HANDLER, startCaddy } from '../conformance/beds/caddy-process.ts'
import { drainOne, inspectOne, restoreOne, snapshotOne } from '../conformance/steps.ts'
import type { Adapter, Endpoint, Target } from '../contract.ts'
import { loadAdapter } from '../registry.ts'

interface Recorded {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

const ENDPOINTS: Endpoint[] = [1, 2, 3].map((port) => ({ uid: `u${port}`, pod: `web-${port}`, address: '127.0.0.3', port }))
const [A, B] = ENDPOINTS.map(({ address, port }): Target => ({ id: `${address}:${port}@${address}:${port}`, scope: 'all' })) as [
  Target,
  Target,
]

function send(
  base: string,
  { method, url, headers, body }: Recorded,
): Promise<{ status: number; headers: IncomingMessage['headers']; text: string }> {
  return new Promise((resolve, reject) => {
    const { connection: _hop, ...kept } = headers
    const sent = sendRequest(base + url, { method, headers: kept, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.once('end', () => resolve({ status: answer.statusCode!, headers: answer.headers, text }))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

describeOn(await findProduct('caddy'), (program) => {
  let caddy: CaddyProcess
  let adapter: Adapter
  let writes: Recorded[]
  /** Done once, when a change is on its way. */
  let meanwhile: (() => Promise<void>) | undefined
  const cleanups: (() => unknown)[] = []

  async function recorder(): Promise<string> {
    const server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request.setEncoding('utf8')) body += chunk as string
      const { method = '', url = '', headers } = request
      const recorded = { method, url, headers, body }
      if (method === 'PATCH') {
        writes.push(recorded)
        const first = meanwhile
        meanwhile = undefined
        await first?.()
      }
      const answer = await send(caddy.adminUrl, recorded)
      response
        .writeHead(answer.status, { 'content-type': 'application/json', etag: String(answer.headers['etag'] ?? '') })
        .end(answer.text)
    })
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    cleanups.push(
      () => server.close(),
      () => server.closeAllConnections(),
    )
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  beforeEach(async () => {
    writes = []
    caddy = await startCaddy(program, ENDPOINTS)
    cleanups.push(() => caddy.stop())
    const preset = await loadAdapter('caddy')
    const options = { url: await recorder(), handler: `id/${HANDLER}`, host: caddy.adminHost }
    adapter = preset.create(preset.options.parse(options), { name: 'edge' })
    cleanups.unshift(() => adapter.close())
  })
  afterEach(async () => {
    for (const clean of cleanups.splice(0)) await clean()
  })
  const dials = async (): Promise<string[]> => (await caddy.upstreams()).map(({ dial }) => dial).sort()

  test.each([
    ['with an operation id for each effect, it is refused', ['1', '2', '3', '4'], 412],
    ['with the same id for all, it is not (control)', ['1', '1', '1', '1'], 200],
  ])('a restore that arrives after the next drain: %s', async (_title, [first, second, third, fourth], status) => {
    const by = (operation: string) => ({ operationIds: new Map([[A.id, operation]]) })
    const { prior } = await snapshotOne(adapter, A)
    expect(await drainOne(adapter, A, by(first!))).toEqual({ outcome: 'applied' })
    expect(await restoreOne(adapter, A, prior, by(second!))).toEqual({ outcome: 'applied' })
    expect(await drainOne(adapter, A, by(third!))).toEqual({ outcome: 'applied' })
    expect(await dials()).toEqual(['127.0.0.3:2', '127.0.0.3:3'])
    expect((await send(caddy.adminUrl, writes[1]!)).status).toBe(status)
    expect(await dials()).toHaveLength(status === 412 ? 2 : 3)
    if (status !== 412) return
    expect(await restoreOne(adapter, A, prior, by(fourth!))).toEqual({ outcome: 'applied' })
    for (const drain of [writes[0]!, writes[2]!]) expect((await send(caddy.adminUrl, drain)).status).toBe(412)
    expect(await dials()).toHaveLength(3)
  })

  test('what somebody changes between the reading and the drain survives it: a conflict, and the next try rests on it', async () => {
    meanwhile = async () => caddy.setUpstreams([...(await caddy.upstreams()), { dial: '127.0.0.3:9' }])
    expect(await drainOne(adapter, A)).toMatchObject({ outcome: 'failed', error: { kind: 'conflict' } })
    expect(await dials()).toEqual(['127.0.0.3:1', '127.0.0.3:2', '127.0.0.3:3', '127.0.0.3:9'])
    expect(await drainOne(adapter, A)).toEqual({ outcome: 'applied' })
    expect(await dials()).toEqual(['127.0.0.3:2', '127.0.0.3:3', '127.0.0.3:9'])
  })

  test('two on one array: of both drains none is lost', async () => {
    meanwhile = async () => {
      expect(await drainOne(adapter, B)).toEqual({ outcome: 'applied' })
    }
    expect(await drainOne(adapter, A)).toMatchObject({ outcome: 'failed', error: { kind: 'conflict' } })
    expect(await drainOne(adapter, A)).toEqual({ outcome: 'applied' })
    expect(await dials()).toEqual(['127.0.0.3:3'])
  })

  test('an upstream comes back with all that it had, an @id of its own included', async () => {
    const own = { '@id': 'mine', dial: '127.0.0.3:1', max_requests: 7 }
    await caddy.setUpstreams([own, { dial: '127.0.0.3:2' }])
    const { prior } = await snapshotOne(adapter, A)
    expect(await drainOne(adapter, A)).toEqual({ outcome: 'applied' })
    expect(await restoreOne(adapter, A, prior)).toEqual({ outcome: 'applied' })
    expect((await caddy.upstreams()).find(({ dial }) => dial === own.dial)).toEqual(own)
    expect((await snapshotOne(adapter, B)).prior).toEqual({ dial: '127.0.0.3:2' })
  })

  test.each([
    ['the array is gone', { method: 'DELETE', url: `/id/${HANDLER}/upstreams` }, 'is null, not a list'],
    ['the handler is gone', { method: 'DELETE', url: `/id/${HANDLER}` }, 'unknown object ID'],
  ])('where %s, nothing is taken for drained', async (_title, change, why) => {
    expect((await send(caddy.adminUrl, { ...change, headers: {}, body: '' })).status).toBe(200)
    await expect(inspectOne(adapter, A)).rejects.toThrow(why)
    expect(await drainOne(adapter, A)).toMatchObject({ outcome: 'failed' })
  })
})
