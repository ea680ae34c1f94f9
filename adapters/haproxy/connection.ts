/**
 * One call on the runtime API: connect, send commands line by line in interactive mode, read their replies, and close.
 *
 * The adapter never keeps a connection between calls. After a reload, a kept connection would stay with the old worker, whose answers
 * are about servers without new traffic, and would stop that worker from exiting. A new connection costs 0.02 ms on a unix socket and
 * always reaches the worker that listens.
 */
import { connect, type Socket } from 'node:net'
import { AdapterError, type AdapterErrorKind, type Call } from '../contract.ts'
import { parseSocketAddress } from './options.ts'

/** The largest reply in characters, as in the http adapter. `show servers state` needs about 150 characters per server. */
export const LONGEST_REPLY = 16 * 1024 * 1024
/**
 * The end of the reply to a line in interactive mode. A line has one command: before HAProxy 3.2, each command in a line with `;` has its
 * own prompt, and since 3.2 the line has one.
 */
const PROMPT = '\n> '
const INTERACTIVE = 'prompt'
/**
 * The maximum number of bytes in one write. HAProxy reads one buffer at a time (`tune.bufsize`, default 16 KB), and 3.2.0 hangs if more
 * data waits. A write is half of a small buffer (4 KB), and the next write follows its replies.
 */
export const LONGEST_WRITE = 2048
const MASTER_PROMPT = 'master> '
export const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface RuntimeSession {
  /** Sends commands that change nothing, in as many writes as necessary. Gives one reply for each command. A failure is retryable. */
  read(commands: readonly string[]): Promise<string[]>
  /** Sends commands that change something, in one write. A failure after the bytes left is ambiguous. */
  write(commands: readonly string[]): Promise<string[]>
}

/** Groups the items into writes, in order, with as many items as fit. An item that is too long gets its own write. */
export function splitIntoWrites<T>(items: readonly T[], commandsOf: (item: T) => readonly string[]): T[][] {
  const writes: T[][] = []
  let length = 0
  for (const item of items) {
    const added = Buffer.byteLength(joinLines(commandsOf(item)))
    const write = writes.at(-1)
    if (write !== undefined && length + added <= LONGEST_WRITE) {
      write.push(item)
      length += added
    } else {
      writes.push([item])
      length = added
    }
  }
  return writes
}

function joinLines(commands: readonly string[]): string {
  return commands.map((command) => `${command}\n`).join('')
}

export interface RuntimeEndpoint {
  /** The name of the load balancer for errors: `haproxy edge`. */
  component: string
  /** The address as `/path` or `host:port`. */
  socket: string
}

export function connectionError({ component, socket }: RuntimeEndpoint, cause: NodeJS.ErrnoException): AdapterError {
  const failed = (kind: AdapterErrorKind, message: string) => new AdapterError(component, kind, message, { cause })
  switch (cause.code) {
    case 'EACCES':
    case 'EPERM':
      return failed(
        'fatal',
        `no permission to open the socket ${socket}: see mode, user and group of its line in the HAProxy config`,
      )
    case 'ENOENT':
      return failed('retryable', `there is no socket ${socket}: is HAProxy running?`)
    case 'ECONNREFUSED':
      return failed('retryable', `nothing listens on the socket ${socket}: is HAProxy running?`)
    default:
      return failed('retryable', `cannot connect to the socket ${socket}: ${cause.message}`)
  }
}

/** The error for a reply without an end. Without a limit, it would fill the memory until the deadline. */
export function endlessReply({ component, socket }: RuntimeEndpoint): AdapterError {
  return new AdapterError(component, 'fatal', `${socket} sends more than HAProxy ever says in one reply`)
}

interface ReplyReader {
  /** Resolves with the next replies when all of them have arrived. */
  next(count: number): Promise<string[]>
  fail(error: Error): void
}

/** Splits the incoming text into replies at the prompts. */
function readReplies(socket: Socket, endpoint: RuntimeEndpoint): ReplyReader {
  let pending = ''
  let replies: string[] = []
  let failure: Error | undefined
  let settle: (() => void) | undefined
  socket.setEncoding('utf8')
  socket.on('data', (chunk: string) => {
    // Two chunks may split a prompt, so the search starts before the new chunk.
    let from = Math.max(0, pending.length - PROMPT.length)
    pending += chunk
    for (let at = pending.indexOf(PROMPT, from); at !== -1; at = pending.indexOf(PROMPT, from)) {
      replies.push(pending.slice(0, at).trim())
      pending = pending.slice(at + PROMPT.length)
      from = 0
    }
    if (pending.length > LONGEST_REPLY) socket.destroy(endlessReply(endpoint))
    if (pending.endsWith(MASTER_PROMPT)) {
      const message = `${endpoint.socket} is the socket of the master process: name a stats socket of the global section`
      socket.destroy(new AdapterError(endpoint.component, 'fatal', message))
    }
    settle?.()
  })
  return {
    next(count) {
      return new Promise((resolve, reject) => {
        settle = () => {
          if (replies.length >= count) resolve(replies.splice(0, count))
          else if (failure !== undefined) reject(failure)
          else return
          settle = undefined
        }
        settle()
      })
    },
    fail(error) {
      failure ??= error
      settle?.()
    },
  }
}

/** Opens a connection for `use` and closes it. The deadline of the call covers all steps. */
export async function withRuntimeSession<T>(
  endpoint: RuntimeEndpoint,
  call: Call,
  open: Set<Socket>,
  use: (session: RuntimeSession) => Promise<T>,
): Promise<T> {
  const socket = connect(parseSocketAddress(endpoint.socket)!)
  const replies = readReplies(socket, endpoint)
  open.add(socket)
  const deadline = setTimeout(
    () => socket.destroy(new Error(`no answer within ${call.deadlineMs} ms`)),
    Math.min(call.deadlineMs, LONGEST_TIMER_MS),
  )
  const connected = new Promise<void>((resolve, reject) => {
    let failure = new Error('the connection was closed')
    socket.once('connect', resolve)
    socket.once('end', () => socket.destroy(new Error('HAProxy closed the connection')))
    socket.on('error', (error) => {
      failure = error
    })
    socket.once('close', () => {
      replies.fail(failure)
      reject(connectionError(endpoint, failure))
    })
  })

  function cut(kind: AdapterErrorKind, cause: unknown): AdapterError {
    if (cause instanceof AdapterError) return cause
    const why = cause instanceof Error ? cause.message : 'the connection was closed'
    return new AdapterError(endpoint.component, kind, `no whole answer from the socket ${endpoint.socket}: ${why}`, {
      cause,
    })
  }

  let isInteractive = false
  async function exchange(commands: readonly string[], kindOfCut: AdapterErrorKind): Promise<string[]> {
    const lines = isInteractive ? commands : [INTERACTIVE, ...commands]
    if (!socket.writable) throw cut('retryable', socket.errored)
    call.assertLive()
    socket.write(joinLines(lines))
    const answers = await replies.next(lines.length).catch((error: unknown) => {
      throw cut(kindOfCut, error)
    })
    const own = isInteractive ? answers : answers.slice(1)
    isInteractive = true
    return own
  }

  async function read(commands: readonly string[]): Promise<string[]> {
    const answers: string[] = []
    for (const write of splitIntoWrites(commands, (command) => [command])) answers.push(...(await exchange(write, 'retryable')))
    return answers
  }

  try {
    await connected
    return await use({
      read,
      write: (commands) => exchange(commands, 'ambiguous'),
    })
  } finally {
    clearTimeout(deadline)
    open.delete(socket)
    socket.destroy()
  }
}
