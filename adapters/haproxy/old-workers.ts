/**
 * Old workers: after a reload, the old worker serves its open requests until they end, and the new worker counts from 0. The master lists
 * the old workers and forwards commands to them.
 */
import { connect, type Socket } from 'node:net'
import { AdapterError, type Call } from '../contract.ts'
import { connectionError, endlessReply, LONGEST_REPLY, LONGEST_TIMER_MS, type RuntimeEndpoint } from './connection.ts'
import { parseSocketAddress } from './options.ts'
import type { ServerState } from './servers-state.ts'
import { parseCounts } from './stats.ts'
import { formatAddress } from '../address.ts'
import { rewriteAddress } from './targets.ts'

/** The end of a complete answer of the master. */
const END = '\n\n'
/** The answer for a worker that has ended. Any other answer without a table leaves the count unknown. */
const GONE = /^Can't find the target PID/
/**
 * The time without data after which the adapter gives up on an answer, in milliseconds. If a worker ends during its answer, the connection
 * to the master stays open.
 */
const SILENCE_MS = 2_000

/**
 * The number of requests in progress on all old workers at the address of a server. `master.socket` is the socket of `haproxy -S`. The
 * address is the key, because a reload may assign the slots of a template to other pods.
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
      // A server without an address, for example one that has left DNS, has only its name as a key.
      const [counts, key] = address === '' ? [byName, name] : [byAddress, rewriteAddress(address)]
      counts.set(key, (counts.get(key) ?? 0) + inFlight)
    }
  }
  return (server) => (byAddress.get(formatAddress(server)) ?? 0) + (byName.get(server.name) ?? 0)
}

/** The statistics of a worker. Undefined if it has ended. */
async function askOldWorker(master: RuntimeEndpoint, pid: string, call: Call, open: Set<Socket>): Promise<string | undefined> {
  try {
    // The query covers all proxies, because a frontend may have the same name, and each worker has its own ids.
    const answer = await askMaster(master, `@!${pid} show stat -1 4 -1`, call, open)
    return GONE.test(answer) ? undefined : answer
  } catch (error) {
    const isFatal = error instanceof AdapterError && error.kind === 'fatal'
    if (isFatal || (await listOldWorkers(master, call, open)).includes(pid)) throw error
    return undefined
  }
}

/** The process ids of the old workers. Rejects if the socket is not the socket of a master. */
export async function listOldWorkers(master: RuntimeEndpoint, call: Call, open: Set<Socket>): Promise<string[]> {
  const pids = parseOldWorkers(await askMaster(master, 'show proc', call, open))
  if (pids !== undefined) return pids
  const message = `${master.socket} is not the socket of a master process: name the one of haproxy -S as master`
  throw new AdapterError(master.component, 'fatal', message)
}

/** The process ids in the section `# old workers` of `show proc`. Undefined if the text is not an answer to it. */
export function parseOldWorkers(text: string): string[] | undefined {
  if (!text.startsWith('#<PID>')) return undefined
  const [, section = ''] = text.split(/^# old workers$/m)
  return [...section.split(/^#/m, 1)[0]!.matchAll(/^(\d+)\s+worker\s/gm)].map(([, pid]) => pid!)
}

/** Sends one command on its own connection. The master answers and closes when this side ends. */
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
      // The master is away for a moment during a reload. The count must not become 0 then.
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
