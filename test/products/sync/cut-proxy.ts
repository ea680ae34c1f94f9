import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy between a client and a server of this host, as the network between two clusters. */
export interface CutProxy {
  port: number
  /**
   * - `refused`: connections are reset, also new ones.
   * - `silent`: bytes of both directions are lost, and no connection ends.
   */
  cut(how: 'refused' | 'silent'): void
  /** Ends the cut. Connections that lost bytes are reset. */
  mend(): void
  close(): Promise<void>
}

export async function startCutProxy(to: number): Promise<CutProxy> {
  const open = new Map<Socket, { lost: boolean }>()
  let how: 'whole' | 'refused' | 'silent' = 'whole'

  const server = createServer((client) => {
    if (how === 'refused') {
      client.resetAndDestroy()
      return
    }
    const pair = { lost: how === 'silent' }
    const upstream = connect(to, '127.0.0.1')
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.set(one, pair)
      one.on('data', (bytes: Buffer) => {
        if (how === 'silent') pair.lost = true
        else if (!other.write(bytes)) {
          one.pause()
          other.once('drain', () => one.resume())
        }
      })
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(one)
        if (how !== 'silent') other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  function reset(some: (pair: { lost: boolean }) => boolean): void {
    for (const [socket, pair] of open) if (some(pair)) socket.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut(now) {
      how = now
      if (now === 'refused') reset(() => true)
    },
    mend() {
      how = 'whole'
      reset(({ lost }) => lost)
    },
    async close() {
      server.close()
      reset(() => true)
      await once(server, 'close')
    },
  }
}
