/** A proxy between the adapter and the socket of a runtime API that breaks calls on demand. */
import { connect, createServer, type Socket } from 'node:net'
import type { Wire, WireFault } from '../bed.ts'

export interface RuntimeProxy extends Wire {
  close(): void
}

function isEffect(lines: string): boolean {
  return lines.includes('set server ')
}

export async function startRuntimeProxy(upstreamPath: string, listenPath: string): Promise<RuntimeProxy> {
  const clients = new Set<Socket>()
  let next: WireFault | undefined
  let effects = 0

  const server = createServer((client) => {
    const upstream = connect(upstreamPath)
    let isMute = false
    let closeOnAnswer = false
    // One connection is one call. The effects of a call may take several writes.
    let hasEffects = false
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
      const lines = data.toString()
      if (next === 'cut-before-effect') {
        next = undefined
        client.destroy()
        return
      }
      if (!isEffect(lines)) return void upstream.write(data)
      if (!hasEffects) effects += 1
      hasEffects = true
      const fault = next
      next = undefined
      if (fault === 'request-lost') return void client.destroy()
      if (fault === 'false-success') return void client.write('\n> '.repeat(lines.trim().split('\n').length))
      closeOnAnswer = fault === 'reply-lost'
      isMute = fault === 'no-answer'
      upstream.write(data)
    })
  })
  server.listen(listenPath)
  await new Promise((resolve) => server.once('listening', resolve))

  return {
    next(fault) {
      if (fault === 'refused') server.close()
      else next = fault
    },
    heal() {
      next = undefined
      if (!server.listening) server.listen(listenPath)
    },
    effectCalls: () => effects,
    close() {
      server.close()
      for (const client of clients) client.destroy()
    },
  }
}
