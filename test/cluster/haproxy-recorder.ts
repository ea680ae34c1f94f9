import { connect, createServer } from 'node:net'
import type { AddressInfo, ListenOptions, Server, Socket } from 'node:net'
import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { readServerStates } from './haproxy-socket.ts'
import type { ServerState } from './haproxy-socket.ts'

/** One line that a client sent, with one command, and what came back. */
export interface RecordedCommand {
  /** Counted up: lines with one number came on one connection. */
  connection: number
  /** When the whole line had arrived, in ms since the epoch. */
  at: number
  line: string
  reply: string
  /** It was sent on to HAProxy. */
  delivered: boolean
  /** The reply was given to the client. */
  replied: boolean
}

/** A command that names a server and is meant to change it, with what it really changed. */
export interface RecordedEffect {
  at: number
  backend: string
  server: string
  command: string
  kind: 'drain' | 'ready' | 'maint' | 'weight' | 'other'
  /** It changed the administrative state or the weight. */
  effective: boolean
  before: { adminState: number; weight: number } | undefined
  after: { adminState: number; weight: number } | undefined
}

/** Misbehaviour of the recorder, for tests of what its client makes of it. A function decides line by line. */
export interface RecorderFaults {
  /** No connection is served: existing ones are cut, new ones closed at once. */
  cut?: boolean
  /** Nothing listens: whoever connects is refused, which tells him that nothing was sent. */
  refuse?: boolean
  /** The connection is closed before the command gets to HAProxy. */
  loseCommand?: (line: string) => boolean
  /** HAProxy does the command, but the client gets no answer: the connection is closed. */
  dropReply?: (line: string) => boolean
  /** As above, but the connection stays open and silent: the client's own deadline must end it. */
  hangReply?: (line: string) => boolean
  /** Waits before the command goes on to HAProxy, even when the client has gone away meanwhile. */
  delayMs?: (line: string) => number
  /** Waits before the answer goes back. */
  delayReplyMs?: (line: string) => number
}

export interface Recorder {
  /** Unix socket for the client under test. */
  readonly socket: string
  /** host:port on the host's loopback, leading to the same recorder. */
  readonly tcpAddress: string
  /** Everything that was sent, as it was sent. */
  commands(): RecordedCommand[]
  /** The state-changing ones, one entry for each command and server. */
  effects(): RecordedEffect[]
  /** Replaces all faults; `{}` ends them. */
  setFaults(faults: RecorderFaults): Promise<void>
  /** Runs a command as an operator would, past the recorder but not in the middle of a recorded effect. */
  operator(line: string): Promise<string>
  close(): Promise<void>
}

const changing = /^(set server|set weight|enable server|disable server|add server|del server|enable agent|disable agent)\b/
const idleReplyMs = 2_000
const prompt = '\n> '

/**
 * A stats socket that passes every byte on and writes down what it saw. State-changing commands go
 * one at a time, so that the difference it reads before and after belongs to that command.
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

  /** One after the other; a failure of one does not stop the next. */
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
  /** Undefined where HAProxy cannot have got it. */
  ask(line: string): Promise<string | undefined>
  answer(reply: string): void
  /** The client keeps its connection and hears nothing more. */
  mute(): void
  end(): void
  destroy(): void
}

/**
 * One client's connection and its counterpart. HAProxy closes after the first line unless the client
 * has asked for the prompt; in that mode the reply to a line ends with "\n> ".
 */
function startSession(client: Socket, path: string): Session {
  const upstream = connect({ path, allowHalfOpen: true })
  let received = ''
  let interactive = false
  let muted = false
  let ended = false
  let failed = false
  /** A command's reply is awaited or held back: the end of the connection waits for that. */
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
    // What was sent on stays sent: only the answer has nowhere to go.
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
