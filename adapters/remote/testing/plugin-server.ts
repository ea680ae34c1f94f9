/** The demo load balancer behind a server that implements the documents of plugins. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

const STATES = { ready: 'in', drain: 'draining', maint: 'out' } as const
const NAMES = { in: 'ready', draining: 'drain', out: 'maint' } as const

const state = z.enum(['in', 'draining', 'out'])
const Request = z.object({
  call: z.enum(['list', 'drain', 'restore']),
  settings: z.object({ url: z.string() }),
  entries: z.array(z.object({ name: z.string(), former: z.object({ state, prior: z.json() }).optional() })).default([]),
})
const Servers = z.object({
  servers: z.array(
    z.object({
      name: z.string(),
      address: z.string(),
      state: z.enum(['ready', 'drain', 'maint']),
      weight: z.number(),
      inFlight: z.number(),
      healthy: z.boolean(),
    }),
  ),
})

export interface PluginServer {
  url: string
  close(): void
}

async function answerTo(document: string, authorization: string | undefined): Promise<unknown> {
  const { call, settings, entries } = Request.parse(JSON.parse(document))
  const headers = { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) }
  if (call === 'list') {
    const { servers } = Servers.parse(await (await fetch(`${settings.url}/servers`, { headers })).json())
    return {
      v: 1,
      entries: servers.map(({ address, state: own, healthy, ...server }) => {
        const at = address.lastIndexOf(':')
        const host = address.slice(0, at).replace(/^\[|\]$/g, '')
        return { ...server, address: host, port: Number(address.slice(at + 1)), state: STATES[own], routable: healthy }
      }),
    }
  }
  for (const { name, former } of entries) {
    const change = former === undefined ? { state: 'drain' } : { state: NAMES[former.state], weight: former.prior }
    const url = `${settings.url}/servers/${encodeURIComponent(name)}`
    const { status } = await fetch(url, { method: 'PUT', headers, body: JSON.stringify(change) })
    if (status === 403) return { v: 1, error: { kind: 'fatal', message: 'auth has no right to change this' } }
    if (status !== 200) return { v: 1, error: { kind: 'ambiguous', message: `${name}: ${status}` } }
  }
  return { v: 1 }
}

function failure(error: Error & { cause?: NodeJS.ErrnoException }): unknown {
  const isUnsent = error.cause?.code === 'ECONNREFUSED'
  return { v: 1, error: { kind: isUnsent ? 'retryable' : 'ambiguous', message: error.cause?.message ?? error.message } }
}

/** Starts the server. `answer` replaces its own answers. */
export async function startPluginServer(answer?: (document: string) => string | Promise<string>): Promise<PluginServer> {
  const server = createServer((request, response) => {
    const { authorization } = request.headers
    void text(request)
      .then((document) =>
        answer
          ? answer(document)
          : answerTo(document, authorization)
              .catch(failure)
              .then((said) => JSON.stringify(said)),
      )
      .then((said) => response.setHeader('content-type', 'application/json').end(said))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
