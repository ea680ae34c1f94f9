import { connect, createServer } from 'node:net'
import type { AddressInfo, ListenOptions, Server, Socket } from 'node:net'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { readServerStates } from './haproxy-socket.ts'
import type { ServerState } from './haproxy-socket.ts'

/** One line with one command of a client, and its reply. */
export interface RecordedCommand {
  /** The number of the connection. Lines with one number came on one connection. */
  connection: number
  /** The time when the whole line had arrived, in ms since the epoch. */
  at: number
  line: string
  reply: string
  /** True where the command was sent on to HAProxy. */
  delivered: boolean
  /** True where the reply was given to the client. */
  replied: boolean
}

/** A command that should change a server, and the real change. */
export interface RecordedEffect {
  at: number
  backend: string
  server: string
  command: string
  kind: 'drain' | 'ready' | 'maint' | 'weight' | 'other'
  /** True where it changed the administrative state or the weight. */
  effective: boolean
  before: { adminState: number; weight: number } | undefined
  after: { adminState: number; weight: number } | undefined
}

/** Faults of the recorder, for tests of its client. A function decides for each line. */
export interface RecorderFaults {
  /** Serves no connection: open ones are cut, and new ones closed at once. */
  cut?: boolean
  /** Does not listen: a connection is refused, which tells the client that nothing was sent. */
  refuse?: boolean
  /** Closes the connection before the command reaches HAProxy. */
  loseCommand?: (line: string) => boolean
  /** Closes the connection after the command reached HAProxy, without a reply. */
  dropReply?: (line: string) => boolean
  /** Gives no reply, and leaves the connection open: the client ends it by its deadline. */
  hangReply?: (line: string) => boolean
  /** The delay before the command goes on to HAProxy, even after the client has gone. */
  delayMs?: (line: string) => number
  /** The delay before the reply goes back. */
  delayReplyMs?: (line: string) => number
}

export interface Recorder {
  /** The Unix socket for the client under test. */
  readonly socket: string
  /** The address host:port on the loopback of the host, which leads to this recorder too. */
  readonly tcpAddress: string
  /** Returns all commands as they were sent. */
  commands(): RecordedCommand[]
  /** Returns the commands that should change a state, with one entry for each command and server. */
  effects(): RecordedEffect[]
  /** Replaces all faults. `{}` ends them. */
  setFaults(faults: RecorderFaults): Promise<void>
  /** Runs a command of an operator, past the recorder but never within a recorded effect. */
  operator(line: string): Promise<string>
  close(): Promise<void>
}

const changing = /^(set server|set weight|enable server|disable server|add server|del server|enable agent|disable agent)\b/
const idleReplyMs = 2_000
const prompt = '\n> '

/**
 * Starts a stats socket that passes all bytes on and records them. Commands that change a state run one at a time, so that the difference
 * between the reads before and after belongs to the command.
 */
export async function startRecorder(
  path: string,
  upstream: () => string,
  ask: (line: string) => Promise<string>,
): Promise<Recorder> {
  const recorded: RecordedCommand[] = []
  const recordedEffects: RecordedEffect[] = []
  const open = new Set<Socket>()
  let faults: RecorderFaults = {}
  let turn: Promise<unknown> = Promise.resolve()
  let connections = 0

  /** Runs work in turn. A failure of one does not stop the next. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work, work)
    turn = result.catch(() => {})
    return result
  }

  function serve(client: Socket): void {
    open.add(client)
    client.on('close', () => open.delete(client))
    client.on('error', () => {})
    if (faults.cut === true) {
      client.destroy()
      return
    }
    const session = startSession(client, upstream())
    const connection = connections++
    let pending = ''
    let queue: Promise<unknown> = Promise.resolve()
    client.setEncoding('utf8')
    client.on('data', (text: string) => {
      pending += text
      const lines = pending.split('\n')
      pending = lines.pop() ?? ''
      for (const line of lines) {
        const at = Date.now()
        queue = queue.then(() => handle(session, { at, connection, line })).catch(() => client.destroy())
      }
    })
    client.on('end', () => void queue.then(() => session.end()))
  }

  async function handle(session: Session, sent: Pick<RecordedCommand, 'at' | 'connection' | 'line'>): Promise<void> {
    const { at, line } = sent
    const entry: RecordedCommand = { ...sent, reply: '', replied: false, delivered: false }
    recorded.push(entry)
    const delay = faults.delayMs?.(line) ?? 0
    if (delay > 0) await sleep(delay)
    if (faults.loseCommand?.(line) === true) {
      session.destroy()
      return
    }
    if (changing.test(line)) {
      await inTurn(async () => {
        const before = await readStates()
        await exchange(session, line, entry)
        const after = await readStates()
        recordedEffects.push(...effectOf(line, at, before, after))
      })
    } else {
      await exchange(session, line, entry)
    }
    if (!entry.delivered || faults.dropReply?.(line) === true) {
      session.destroy()
      return
    }
    if (faults.hangReply?.(line) === true) {
      session.mute()
      return
    }
    const replyDelay = faults.delayReplyMs?.(line) ?? 0
    if (replyDelay > 0) await sleep(replyDelay)
    session.answer(entry.reply)
    entry.replied = true
  }

  async function exchange(session: Session, line: string, entry: RecordedCommand): Promise<void> {
    const reply = await session.ask(line)
    entry.delivered = reply !== undefined
    entry.reply = reply ?? ''
  }

  const readStates = () => readServerStates(upstream()).catch(() => [])

  await rm(path, { force: true })
  const unixServer = createServer({ allowHalfOpen: true }, serve)
  const tcpServer = createServer({ allowHalfOpen: true }, serve)
  await listen(unixServer, { path })
  await listen(tcpServer, { host: '127.0.0.1', port: 0 })
  const { port } = tcpServer.address() as AddressInfo

  async function refuse(): Promise<void> {
    for (const socket of open) socket.destroy()
    await Promise.all([unixServer, tcpServer].filter((server) => server.listening).map(closeServer))
  }

  async function accept(): Promise<void> {
    if (!unixServer.listening) await listen(unixServer, { path })
    if (!tcpServer.listening) await listen(tcpServer, { host: '127.0.0.1', port })
  }

  return {
    socket: path,
    tcpAddress: `127.0.0.1:${port}`,
    commands: () => [...recorded],
    effects: () => [...recordedEffects],
    async setFaults(next) {
      faults = next
      if (next.cut === true) {
        for (const socket of open) socket.destroy()
      }
      await (next.refuse === true ? refuse() : accept())
    },
    operator: (line) => inTurn(() => ask(line)),
    async close() {
      await refuse()
      await rm(path, { force: true })
    },
  }
}

interface Session {
  /** Returns the reply. Undefined where HAProxy cannot have got the command. */
  ask(line: string): Promise<string | undefined>
  answer(reply: string): void
  /** Sends nothing more to the client, and leaves its connection open. */
  mute(): void
  end(): void
  destroy(): void
}

/**
 * Connects a client with HAProxy. HAProxy closes after the first line unless the client has asked for the prompt. In that mode, the reply
 * to a line ends with "\n> ".
 */
function startSession(client: Socket, path: string): Session {
  const upstream = connect({ path, allowHalfOpen: true })
  let received = ''
  let interactive = false
  let muted = false
  let ended = false
  let failed = false
  /** True while a reply is awaited or held back. The end of the connection waits for the reply. */
  let busy = false
  let wake: (() => void) | undefined
  upstream.setEncoding('utf8')
  upstream.on('data', (text: string) => {
    received += text
    wake?.()
  })
  upstream.on('error', () => (failed = true))
  upstream.on('close', finish)
  upstream.on('end', finish)
  client.on('close', () => {
    // Commands that were sent on stay sent. Only their replies are lost.
    muted = true
  })

  function finish(): void {
    ended = true
    if (!busy && !muted) client.end()
    wake?.()
  }

  function replyIsComplete(): boolean {
    return ended || (interactive && received.endsWith(prompt))
  }

  async function waitForReply(): Promise<void> {
    const deadline = performance.now() + idleReplyMs
    while (!replyIsComplete() && performance.now() < deadline) {
      const { promise, resolve } = Promise.withResolvers<void>()
      wake = resolve
      await Promise.race([promise, sleep(deadline - performance.now())])
    }
    wake = undefined
  }

  return {
    async ask(line) {
      if (line === 'prompt') interactive = true
      if (!upstream.writable) return undefined
      busy = true
      upstream.write(`${line}\n`)
      if (!interactive) upstream.end()
      await waitForReply()
      const reply = received
      received = ''
      return failed && reply === '' ? undefined : reply
    },
    answer(reply) {
      busy = false
      if (muted) return
      client.write(reply)
      if (ended) client.end()
    },
    mute() {
      muted = true
    },
    end() {
      upstream.end()
      if (!muted) client.end()
    },
    destroy() {
      upstream.destroy()
      client.destroy()
    },
  }
}

function effectOf(command: string, at: number, before: ServerState[], after: ServerState[]): RecordedEffect[] {
  const target = /^(?:set server|set weight|enable server|disable server|enable agent|disable agent)\s+(\S+?)\/(\S+)/.exec(
    command,
  )
  if (target === null) return []
  const [, backend, server] = target as unknown as [string, string, string]
  const pick = (states: ServerState[]) => {
    const state = states.find((candidate) => candidate.backend === backend && candidate.server === server)
    return state === undefined ? undefined : { adminState: state.adminState, weight: state.weight }
  }
  const was = pick(before)
  const is = pick(after)
  const effective = was?.adminState !== is?.adminState || was?.weight !== is?.weight
  return [{ at, backend, server, command, kind: kindOf(command), effective, before: was, after: is }]
}

function kindOf(command: string): RecordedEffect['kind'] {
  const state = /\bstate\s+(\w+)$/.exec(command)?.[1]
  if (state === 'drain' || state === 'ready' || state === 'maint') return state
  if (command.startsWith('disable server')) return 'maint'
  if (command.startsWith('enable server')) return 'ready'
  return /\bweight\b/.test(command) ? 'weight' : 'other'
}

async function listen(server: Server, options: ListenOptions): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(options, () => {
    server.off('error', reject)
    resolve()
  })
  await promise
  server.unref()
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}
