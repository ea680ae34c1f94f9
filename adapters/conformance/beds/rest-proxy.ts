/** A proxy between the adapter and a REST API that breaks calls on demand. */
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Wire, WireFault } from '../bed.ts'

export interface RestProxy extends Wire {
  url: string
  close(): void
}

export interface RestProxyOptions {
  /** Whether a request changes something, from its first bytes. Default: PUT, POST, PATCH and DELETE do. */
  isEffect?(head: string): boolean
}

function changes(head: string): boolean {
  return /^(PUT|POST|PATCH|DELETE) /.test(head)
}

const FALSE_ANSWER = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'

export async function startRestProxy(upstreamUrl: string, { isEffect = changes }: RestProxyOptions = {}): Promise<RestProxy> {
  const { hostname, port } = new URL(upstreamUrl)
  const clients = new Set<Socket>()
  let next: WireFault | undefined
  let effects = 0

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    let isMute = false
    let closeOnAnswer = false
    clients.add(client)
    client.on('error', () => upstream.destroy())
    upstream.on('error', () => client.destroy())
    client.once('close', () => {
      clients.delete(client)
      upstream.destroy()
    })
    upstream.once('close', () => client.destroy())
    upstream.on('data', (answer) => {
      if (closeOnAnswer) client.destroy()
      else if (!isMute) client.write(answer)
    })
    client.on('data', (data) => {
      if (next === 'cut-before-effect') {
        next = undefined
        client.destroy()
        return
      }
      if (!isEffect(data.toString('latin1'))) return void upstream.write(data)
      effects += 1
      const fault = next
      next = undefined
      if (fault === 'request-lost') return void client.destroy()
      if (fault === 'false-success') return void client.write(FALSE_ANSWER)
      closeOnAnswer = fault === 'reply-lost'
      isMute = fault === 'no-answer'
      upstream.write(data)
    })
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const own = (server.address() as AddressInfo).port

  return {
    url: `http://127.0.0.1:${own}`,
    next(fault) {
      if (fault !== 'refused') {
        next = fault
        return
      }
      server.close()
      // Kept connections would stay usable otherwise.
      for (const client of clients) client.destroy()
    },
    heal() {
      next = undefined
      if (!server.listening) server.listen(own, '127.0.0.1')
    },
    effectCalls: () => effects,
    close() {
      server.close()
      for (const client of clients) client.destroy()
    },
  }
}
