import type { Socket } from 'node:net'
import { LONGEST_REPLY } from '../connection.ts'

const CHUNK = Buffer.alloc(1024 * 1024, 'x')

/** More than whoever is to give up may take: without that it ends all the same. */
export const ENDLESS = 2 * LONGEST_REPLY

/** Sends on for as long as the client takes it, up to `ENDLESS`; says how much, in bytes. */
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
