#!/usr/bin/env node
// A small load balancer in place of yours: it forwards HTTP round robin, and has an API to take servers out and to put them back.
//
//   GET    /servers             [{"name": "web-0", "address": "10.0.0.1", "port": 8080, "down": false, "requests": 3}]
//   PUT    /servers/NAME/down   stops new requests; requests in progress continue
//   DELETE /servers/NAME/down   allows new allows new requests again
//
//   node load-balancer.mjs 9100 9101 web-0=127.0.0.1:8081 web-1=127.0.0.1:8082
//
// listens on port 9100 for the API, and on port 9101 for requests.
import { createServer, request } from 'node:http'
import { pathToFileURL } from 'node:url'

/** `servers`: `[{ name, address, port }]`. A port of 0 is any free one. */
export async function startLoadBalancer({ servers: configured, apiPort = 0, requestPort = 0 }) {
  const servers = configured.map((server) => ({ ...server, down: false, requests: 0 }))
  let turn = 0

  const front = createServer((client, response) => {
    const inRotation = servers.filter(({ down }) => !down)
    if (inRotation.length === 0) return void response.writeHead(503).end('no server is in rotation\n')
    const server = inRotation[turn++ % inRotation.length]
    server.requests += 1
    const { method, url: path } = client
    const headers = endToEnd(client.headers)
    const upstream = request({ host: server.address, port: server.port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode, endToEnd(answer.headers))
      answer.on('error', () => response.destroy())
      answer.pipe(response)
    })
    upstream.on('error', () =>
      response.headersSent ? response.destroy() : response.writeHead(502).end(`${server.name} is away\n`),
    )
    response.once('close', () => {
      server.requests -= 1
      upstream.destroy()
    })
    client.pipe(upstream)
  })

  const api = createServer(({ method, url }, response) => {
    const answer = (status, body) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (method === 'GET' && url === '/servers') return void answer(200, servers)
    const name = /^\/servers\/([^/]+)\/down$/.exec(url)?.[1]
    const server = servers.find((one) => encodeURIComponent(one.name) === name)
    if (server === undefined) return void answer(404, { error: `there is no ${url}` })
    if (method !== 'PUT' && method !== 'DELETE') return void answer(405, { error: `${method} is neither PUT nor DELETE` })
    server.down = method === 'PUT'
    answer(200, server)
  })

  return {
    apiUrl: await listen(api, apiPort),
    requestUrl: await listen(front, requestPort),
    servers,
    /** Forgets what was set, as a new process does. */
    restart() {
      for (const server of servers) server.down = false
    },
    close() {
      for (const server of [api, front]) {
        server.close()
        server.closeAllConnections()
      }
    },
  }
}

const OF_ONE_CONNECTION = new Set(['connection', 'keep-alive', 'transfer-encoding'])

function endToEnd(headers) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.has(name)))
}

function listen(server, port) {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`))
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [apiPort, requestPort, ...given] = process.argv.slice(2)
  const servers = given.map((text) => {
    const [, name, address, port] = /^([^=]+)=(.+):(\d+)$/.exec(text) ?? []
    if (name === undefined) throw new Error(`${text} is no NAME=ADDRESS:PORT`)
    return { name, address, port: Number(port) }
  })
  const { apiUrl, requestUrl } = await startLoadBalancer({ servers, apiPort: Number(apiPort), requestPort: Number(requestPort) })
  console.log(`API ${apiUrl}, requests ${requestUrl}`)
}
