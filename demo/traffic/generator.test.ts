import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { type GeneratorOptions, isPicked, startGenerator } from './generator.ts'
import { addLine, byKind, byPod, emptyTally, type Tally } from './tally.ts'

let server: Server | undefined
afterEach(() => {
  server?.close()
  server?.closeAllConnections()
})

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Sends until `enough` requests have ended. */
async function send(url: string, enough: number, options: Partial<GeneratorOptions> = {}): Promise<Tally> {
  const tally = emptyTally()
  const defaults = { ratePerSecond: 500, heldShare: 0, holdMs: 0, freshShare: 0.5, timeoutMs: 10_000 }
  const generator = startGenerator({ url, ...defaults, ...options }, (line) => addLine(tally, line))
  await expect.poll(() => tally.requests, { timeout: 20_000 }).toBeGreaterThanOrEqual(enough)
  await generator.stop()
  return tally
}

test('what is answered has not failed; the body is sent, by POST', async () => {
  const seen = new Set<string>()
  const url = await serve(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    seen.add(`${request.method} ${body}`)
    response.end('yes')
  })
  const tally = await send(url, 50)
  expect(tally.failures).toEqual([])
  expect(seen).toEqual(new Set(['POST {"order":1}']))
})

test('half of the requests have a connection of their own, a tenth is held', async () => {
  const kept: string[] = []
  const held: string[] = []
  const url = await serve((request, response) => {
    kept.push(request.headers.connection ?? '')
    held.push(String(request.headers['x-hold-ms'] ?? ''))
    response.end()
  })
  await send(url, 100, { heldShare: 0.1, holdMs: 300 })
  expect(kept.filter((connection) => connection === 'close').length / kept.length).toBeCloseTo(0.5, 1)
  expect(held.filter((ms) => ms === '300').length / held.length).toBeCloseTo(0.1, 1)
})

test('a status that is not 200 has failed, at the pod that the load balancer names', async () => {
  const url = await serve((_, response) => response.writeHead(502, { 'x-server': 'web-1' }).end())
  const { requests, failures } = await send(url, 20)
  expect(failures).toHaveLength(requests)
  expect([byKind(failures), byPod(failures)]).toEqual([[['502', requests]], [['web-1', requests]]])
})

test('an answer that stops in the middle has failed', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-length': '10', 'x-server': 'web-1' }).write('half', () => response.destroy())
  })
  const { requests, failures } = await send(url, 20)
  expect(failures).toHaveLength(requests)
  expect(byPod(failures).every(([pod]) => pod === 'web-1' || pod === '')).toBe(true)
})

test('a connection that is refused, or cut, has failed', async () => {
  const url = await serve((request) => request.socket.destroy())
  const cut = await send(url, 20)
  expect(byKind(cut.failures)).toEqual([['ECONNRESET', cut.requests]])
  server!.close()
  const refused = await send(url, 20)
  expect(byKind(refused.failures)).toEqual([['ECONNREFUSED', refused.requests]])
})

test('an answer that never comes has failed', async () => {
  const url = await serve(() => {})
  const { requests, failures } = await send(url, 5, { timeoutMs: 50 })
  expect(byKind(failures)).toEqual([['timeout', requests]])
})

test('slow answers do not lower the rate', async () => {
  let open = 0
  let mayAnswer = false
  const waiting: (() => void)[] = []
  const url = await serve((_, response) => {
    open += 1
    if (mayAnswer) response.end()
    else waiting.push(() => response.end())
  })
  const tally = emptyTally()
  const options = { url, ratePerSecond: 500, heldShare: 0, holdMs: 0, freshShare: 0, timeoutMs: 60_000 }
  const generator = startGenerator(options, (line) => addLine(tally, line))
  await expect.poll(() => open, { timeout: 20_000 }).toBeGreaterThan(50)
  expect(tally.requests).toBe(0)
  mayAnswer = true
  for (const answer of waiting) answer()
  await generator.stop()
  expect(tally).toMatchObject({ requests: open, failures: [] })
})

test('a share is spread evenly', () => {
  expect(Array.from({ length: 10 }, (_, number) => (isPicked(number, 0.3) ? 'x' : '.')).join('')).toBe('...x..x..x')
})
