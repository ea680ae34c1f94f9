import type { Socket } from 'node:net'
import { LONGEST_REPLY } from '../connection.ts'

const CHUNK = Buffer.alloc(1024 * 1024, 'x')

/** The number of bytes after which the server stops, even if the client does not give up. */
export const ENDLESS = 2 * LONGEST_REPLY

/** Sends data while the client reads, up to `ENDLESS`. Gives a function for the number of bytes. */
export function sendWithoutEnd(client: Socket): () => number {
  let sent = 0
  const send = (): void => {
    if (client.destroyed || sent > ENDLESS) return
    sent += CHUNK.length
    client.write(CHUNK, send)
  }
  client.on('error', () => {})
  send()
  return () => sent
}
