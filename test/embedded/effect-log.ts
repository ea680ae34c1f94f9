import { connect, createServer } from 'node:net'

/** One command that sets the state of a server. The commands are in the order of their arrival. */
export interface LoggedEffect {
  server: string
  to: string
  /** The time on the monotonic clock. */
  atMs: number
}

/** Passes on the runtime API of HAProxy, and records the changes made through it. */
export async function startEffectLog(upstreamPath: string, path: string): Promise<{ effects: LoggedEffect[]; stop(): void }> {
  const effects: LoggedEffect[] = []
  const server = createServer((client) => {
    const upstream = connect(upstreamPath)
    let rest = ''
    client.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop()!
      for (const [, name, to] of lines.join('\n').matchAll(/set server \S+?\/(\S+) state (\w+)/g)) {
        effects.push({ server: name!, to: to!, atMs: performance.now() })
      }
    })
    client.pipe(upstream).pipe(client)
    for (const [one, other] of [[client, upstream] as const, [upstream, client] as const]) {
      one.on('error', () => other.destroy())
      one.once('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return { effects, stop: () => server.close() }
}

/** Returns the most servers that were drained at once. */
export function mostDrained(effects: readonly LoggedEffect[]): number {
  const out = new Set<string>()
  let most = 0
  for (const { server, to } of effects) {
    if (to === 'drain') most = Math.max(most, out.add(server).size)
    else out.delete(server)
  }
  return most
}
