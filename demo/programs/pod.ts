/**
 * A simple application in a pod of the demo: it listens once it has warmed up, and on SIGTERM it exits at once, without an end to its
 * requests.
 *
 *   HOST, PORT    the address that it listens at
 *   POD, VERSION  the text of its answers
 *   START_MS      the time from the start of the process until it listens
 *
 * `listening` on standard output tells that the application answers. The process ends with its standard input, since its parent is gone
 * then.
 */
import { createServer } from 'node:http'

const { HOST = '127.0.0.1', PORT = '0', POD = '', VERSION = '', START_MS = '0' } = process.env

process.stdin.on('close', () => process.exit(1)).resume()

const server = createServer((request, response) => {
  request.resume()
  const holdMs = Number(request.headers['x-hold-ms'] ?? 0)
  setTimeout(() => {
    response.writeHead(200, { 'content-type': 'text/plain', 'x-pod': POD, 'x-version': VERSION })
    response.end(`${POD} ${VERSION}\n`)
  }, holdMs)
})
// A connection that the load balancer keeps must not close at the moment of its next use.
server.keepAliveTimeout = 60_000

setTimeout(() => server.listen(Number(PORT), HOST, () => process.stdout.write('listening\n')), Number(START_MS))
