import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { fetchJson } from './fetch-json.ts'

const ANSWERS: Record<string, [status: number, body: string]> = {
  '/good': [200, '{"servers": [1], "more": true}'],
  '/missing': [404, '{"message": "no such service"}'],
  '/html': [200, '<html>'],
  '/other': [200, '{"servers": "all"}'],
  '/list': [200, '[]'],
}
const page = z.object({ servers: z.array(z.number()) })
const { signal } = new AbortController()

let server: Server
let url: string
beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === '/moved') return void response.writeHead(302, { location: '/good' }).end()
    const [status, body] = ANSWERS[request.url!]!
    response.writeHead(status).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

test('a page is read by its schema', async () => {
  expect(await fetchJson(`${url}/good`, page, signal)).toEqual({ servers: [1] })
})

test.each([
  ['/missing', '/missing: 404 {"message": "no such service"}'],
  ['/html', '/html answers no JSON'],
  ['/other', '/other is not the page that it should be: servers: '],
  ['/list', '/list is not the page that it should be: all of it: '],
  ['/moved', '/moved'],
])('%s is an error that names the page', async (path, message) => {
  await expect(fetchJson(`${url}${path}`, page, signal)).rejects.toThrow(`${url}${message}`)
})

test('no server, and a call that is over, name the page too', async () => {
  await expect(fetchJson('http://127.0.0.1:1/x', page, signal)).rejects.toThrow('http://127.0.0.1:1/x')
  await expect(fetchJson(`${url}/good`, page, AbortSignal.abort())).rejects.toThrow(`${url}/good`)
})
