/**
 * After a reload the old worker serves what it has until that ends, and the new one counts from 0. The master knows
 * the old workers and passes commands on to them.
 */
import { connect, type Socket } from 'node:net'
import { AdapterError, type Call } from '../contract.ts'
import { connectionError, LONGEST_TIMER_MS, type RuntimeEndpoint } from './connection.ts'
import { parseSocketAddress } from './options.ts'
import { parseInFlight } from './stats.ts'

/** Ends a whole answer of the master. */
const END = '\n\n'

/** In flight on all old workers, by server name. `master.socket` is the one of `haproxy -S`. */
export async function readOldInFlight(
  master: RuntimeEndpoint,
  backend: string,
  call: Call,
  open: Set<Socket>,
): Promise<Map<string, number>> {
  const pids = parseOldWorkers(await askMaster(master, 'show proc', call, open))
  const inFlight = new Map<string, number>()
  for (const pid of pids) {
    // Of all proxies: by name it might be a frontend's, and ids are another worker's own. A worker that has ended meanwhile is answered with an error, which holds no server.
    const answer = await askMaster(master, `@!${pid} show stat -1 4 -1`, call, open)
    for (const [name, count] of parseInFlight(answer, backend)) inFlight.set(name, (inFlight.get(name) ?? 0) + count)
  }
  return inFlight
}

/** The process ids in the section `# old workers` of `show proc`. */
export function parseOldWorkers(text: string): string[] {
  const [, section = ''] = text.split(/^# old workers$/m)
  return [...section.split(/^#/m, 1)[0]!.matchAll(/^(\d+)\s+worker\s/gm)].map(([, pid]) => pid!)
}

/** One command on a connection of its own; the master answers and closes when it sees the end of ours. */
function askMaster(master: RuntimeEndpoint, command: string, call: Call, open: Set<Socket>): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(parseSocketAddress(master.socket)!)
    let answer = ''
    let failure = new Error('the connection was closed')
    open.add(socket)
    const deadline = setTimeout(
      () => socket.destroy(new Error(`no answer within ${call.deadlineMs} ms`)),
      Math.min(call.deadlineMs, LONGEST_TIMER_MS),
    )
    socket.setEncoding('utf8')
    socket.once('connect', () => {
      try {
        call.assertLive()
        socket.end(`${command}\n`)
      } catch (error) {
        reject(error)
        socket.destroy()
      }
    })
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.on('error', (error) => {
      failure = error
    })
    socket.once('close', () => {
      clearTimeout(deadline)
      open.delete(socket)
      if (answer.endsWith(END)) resolve(answer)
      // The master is away for a moment while it replaces itself; the count must not be taken for 0 then.
      else if (answer === '') reject(connectionError(master, failure))
      else reject(new AdapterError(master.component, 'retryable', `half an answer from the master socket ${master.socket}`))
    })
  })
}
