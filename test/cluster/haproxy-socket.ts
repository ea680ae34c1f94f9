import { connect } from 'node:net'

/** One server in `show servers state`, version 1. */
export interface ServerState {
  backend: string
  server: string
  address: string
  /** 0 stopped, 1 starting, 2 running, 3 stopping */
  opState: number
  /** Bits: 1 maintenance forced, 8 drain forced, ... */
  adminState: number
  weight: number
}

/** Sends one command line to a stats socket, and returns the reply. */
export function askHaproxy(path: string, line: string, timeoutMs = 5_000): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const socket = connect(path)
  let reply = ''
  socket.setEncoding('utf8')
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer to "${line}" within ${timeoutMs} ms`)))
  socket.on('data', (text: string) => (reply += text))
  socket.on('error', reject)
  socket.on('close', () => resolve(reply))
  socket.end(`${line}\n`)
  return promise
}

export async function readServerStates(path: string): Promise<ServerState[]> {
  const reply = await askHaproxy(path, 'show servers state')
  return reply
    .split('\n')
    .slice(1) // the format's version
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(' '))
    .map((field) => ({
      backend: field[1]!,
      server: field[3]!,
      address: `${field[4]}:${field[18]}`,
      opState: Number(field[5]),
      adminState: Number(field[6]),
      weight: Number(field[7]),
    }))
}
