/**
 * After a reload the old worker serves what it has until that ends, and the new one counts from 0. The master knows
 * the old workers and passes commands on to them.
 */
import { connect, type Socket } from 'node:net'
import { AdapterError, type Call } from '../contract.ts'
import { connectionError, endlessReply, LONGEST_REPLY, LONGEST_TIMER_MS, type RuntimeEndpoint } from './connection.ts'
import { parseSocketAddress } from './options.ts'
import type { ServerState } from './servers-state.ts'
import { parseCounts } from './stats.ts'
import { formatAddress } from '../address.ts'
import { rewriteAddress } from './targets.ts'

/** Ends a whole answer of the master. */
const END = '\n\n'
/** The answer where a worker has ended meanwhile. Any other without a table leaves open what is in flight. */
const GONE = /^Can't find the target PID/
/** A worker that ends amid its answer leaves the connection to the master open: after this silence the master is asked again. */
const SILENCE_MS = 2_000

/**
 * What is in flight on all old workers at the address of a server. `master.socket` is the one of `haproxy -S`.
 * By address: the new config may have another name for it, as slots of a template are dealt out anew with a reload.
 */
export async function readOldInFlight(
  master: RuntimeEndpoint,
  backend: string,
  call: Call,
  open: Set<Socket>,
): Promise<(server: ServerState) => number> {
  const pids = await listOldWorkers(master, call, open)
  const byAddress = new Map<string, number>()
  const byName = new Map<string, number>()
  for (const pid of pids) {
    const answer = await askOldWorker(master, pid, call, open)
    if (answer === undefined) continue
    if (!answer.startsWith('# ')) {
      const message = `the old worker ${pid} does not say what it serves: ${answer.split('\n', 1)[0]}`
      throw new AdapterError(master.component, 'retryable', message)
    }
    for (const { name, address, inFlight } of parseCounts(answer, backend)) {
      // Without an address, as of one that DNS knows no more, the name is all there is.
      const [counts, key] = address === '' ? [byName, name] : [byAddress, rewriteAddress(address)]
      counts.set(key, (counts.get(key) ?? 0) + inFlight)
    }
  }
  return (server) => (byAddress.get(formatAddress(server)) ?? 0) + (byName.get(server.name) ?? 0)
}

/** The statistics of a worker; undefined where it has ended. */
async function askOldWorker(master: RuntimeEndpoint, pid: string, call: Call, open: Set<Socket>): Promise<string | undefined> {
  try {
    // Of all proxies: by name it might be a frontend's, and ids are another worker's own.
    const answer = await askMaster(master, `@!${pid} show stat -1 4 -1`, call, open)
    return GONE.test(answer) ? undefined : answer
  } catch (error) {
    const isFatal = error instanceof AdapterError && error.kind === 'fatal'
    if (isFatal || (await listOldWorkers(master, call, open)).includes(pid)) throw error
    return undefined
  }
}

/** The process ids of the old workers; rejects where the socket is none of a master. */
export async function listOldWorkers(master: RuntimeEndpoint, call: Call, open: Set<Socket>): Promise<string[]> {
  const pids = parseOldWorkers(await askMaster(master, 'show proc', call, open))
  if (pids !== undefined) return pids
  const message = `${master.socket} is not the socket of a master process: name the one of haproxy -S as master`
  throw new AdapterError(master.component, 'fatal', message)
}

/** Those in the section `# old workers` of `show proc`; undefined where the text is none of its answers. */
export function parseOldWorkers(text: string): string[] | undefined {
  if (!text.startsWith('#<PID>')) return undefined
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
    const giveUp = (afterMs: number): void => void socket.destroy(new Error(`no answer within ${afterMs} ms`))
    const deadline = setTimeout(giveUp, Math.min(call.deadlineMs, LONGEST_TIMER_MS), call.deadlineMs)
    socket.setTimeout(SILENCE_MS, () => giveUp(SILENCE_MS))
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
      if (answer.length <= LONGEST_REPLY) return
      reject(endlessReply(master))
      socket.destroy()
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
      else reject(halfAnswer(master, failure))
    })
  })
}

function halfAnswer({ component, socket }: RuntimeEndpoint, cause: Error): AdapterError {
  return new AdapterError(component, 'retryable', `half an answer from the master socket ${socket}: ${cause.message}`, {
    cause,
  })
}
