/**
 * The application in a pod of the demo, as simple ones are: it listens once it has warmed up, and on SIGTERM it dies at
 * once, with whatever it was doing.
 *
 *   HOST, PORT    where it listens
 *   POD, VERSION  what it answers
 *   START_MS      from the start of the process until it listens
 *
 * `listening` on standard output says that it answers. It ends with its standard input: whoever started it is gone then.
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
// A connection that the load balancer keeps must not be closed at the moment when it is used again.
server.keepAliveTimeout = 60_000

setTimeout(() => server.listen(Number(PORT), HOST, () => process.stdout.write('listening\n')), Number(START_MS))
