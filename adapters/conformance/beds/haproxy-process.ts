/** A real HAProxy in master-worker mode in its own folder, on unix sockets. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Endpoint } from '../../contract.ts'

const WAIT_MS = 20_000

/** The reason why the tests with a real HAProxy cannot run here. Undefined if they can. */
export function whyNoHaproxy(): string | undefined {
  const { error, status } = spawnSync('haproxy', ['-v'], { stdio: 'ignore' })
  return error === undefined && status === 0 ? undefined : 'haproxy is not installed (Debian: apt-get install haproxy)'
}

export interface HaproxyProcess {
  /** The folder. `stop` removes it. */
  folder: string
  front: string
  adminSocket: string
  /** A socket of level operator, which may read but not change servers. */
  operatorSocket: string
  masterSocket: string
  /** Sends one line on its own connection. */
  ask(line: string): Promise<string>
  /** Reloads HAProxy, with the config as it is or changed. */
  reload(change?: (config: string) => string): Promise<void>
  stop(): Promise<void>
}

export interface HaproxyOptions {
  /** The path of the program. Default: the installed one. */
  program?: string
  /** The endpoints of the servers w0, w1, … */
  endpoints: readonly Endpoint[]
  /** The number of servers with health checks, from the first. Default: 3. */
  checked?: number
  /** More lines for the backend, or new sections. */
  moreLines?: readonly string[]
  globalLines?: readonly string[]
  /** The name of the frontend. Default: `front`. */
  frontend?: string
  mode?: 'http' | 'tcp'
}

export function configuration(folder: string, options: HaproxyOptions): string {
  const { endpoints, checked = 3, moreLines = [], globalLines = [], frontend = 'front', mode = 'http' } = options
  return [
    'global',
    `  stats socket ${folder}/admin.sock mode 600 level admin`,
    `  stats socket ${folder}/operator.sock mode 600 level operator`,
    '  stats timeout 30s',
    '  hard-stop-after 60s',
    '  maxconn 200',
    ...globalLines.map((line) => `  ${line}`),
    'defaults',
    `  mode ${mode}`,
    '  timeout connect 2s',
    '  timeout client 60s',
    '  timeout server 60s',
    `frontend ${frontend}`,
    `  bind unix@${folder}/front.sock`,
    '  default_backend web',
    'backend web',
    '  balance roundrobin',
    ...endpoints.map(({ address, port }, index) => {
      const check = index < checked ? ' check inter 50ms fall 1 rise 1' : ''
      return `  server w${index} ${address.includes(':') ? `[${address}]` : address}:${port}${check}`
    }),
    ...moreLines.map((line) => `  ${line}`),
    '',
  ].join('\n')
}

/** Sends one line on its own connection, which HAProxy closes after the answer. Rejects if there is no answer. */
export function askSocket(path: string, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    let answer = ''
    socket.setEncoding('utf8')
    socket.setTimeout(WAIT_MS, () => socket.destroy(new Error(`no answer to ${line}`)))
    // The master keeps a connection open until the client ends its side.
    socket.once('connect', () => socket.end(`${line}\n`))
    socket.on('data', (chunk: string) => {
      answer += chunk
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(answer.trim()))
  })
}

export async function waitUntil(condition: () => Promise<boolean>, what: string): Promise<void> {
  const giveUpAt = performance.now() + WAIT_MS
  while (!(await condition().catch(() => false))) {
    if (performance.now() > giveUpAt) throw new Error(`Never: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export async function startHaproxy(options: HaproxyOptions): Promise<HaproxyProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-haproxy-'))
  const configFile = join(folder, 'haproxy.cfg')
  const masterSocket = join(folder, 'master.sock')
  const adminSocket = join(folder, 'admin.sock')
  writeFileSync(configFile, configuration(folder, options))
  // The master has its own process group, so all its child processes end with it.
  const master = spawn(options.program ?? 'haproxy', ['-W', '-S', masterSocket, '-f', configFile], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [master.stdout, master.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  const killGroup = () => killProcessGroup(master)
  const cleanUp = () => {
    killGroup()
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', cleanUp)

  const ask = (line: string) => askSocket(adminSocket, line)
  const info = async (key: string): Promise<string> => new RegExp(`^${key}: (.*)$`, 'm').exec(await ask('show info'))?.[1] ?? ''

  async function stop(): Promise<void> {
    const exited = new Promise((resolve) => master.once('exit', resolve))
    if (master.exitCode === null && master.signalCode === null) {
      // The master ends its workers, including old ones, and reaps them.
      master.kill('SIGTERM')
      const giveUp = setTimeout(killGroup, WAIT_MS)
      await exited
      clearTimeout(giveUp)
    }
    process.off('exit', cleanUp)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await waitUntil(async () => {
      if (master.exitCode !== null) return true
      // The worker serves a moment before the master handles signals.
      return (await info('Pid')) !== '' && (await askSocket(masterSocket, 'show proc')) !== ''
    }, 'HAProxy runs')
    if (master.exitCode !== null) throw new Error(`it ended with ${master.exitCode}`)
  } catch (error) {
    await stop()
    throw new Error(`HAProxy did not start: ${output}`, { cause: error })
  }
  return {
    folder,
    front: join(folder, 'front.sock'),
    adminSocket,
    operatorSocket: join(folder, 'operator.sock'),
    masterSocket,
    ask,
    async reload(change) {
      if (change !== undefined) writeFileSync(configFile, change(readFileSync(configFile, 'utf8')))
      const before = await info('Pid')
      master.kill('SIGUSR2')
      await waitUntil(async () => {
        const pid = await info('Pid')
        return pid !== '' && pid !== before && (await info('Stopping')) === '0'
      }, 'a new worker serves')
    },
    stop,
  }
}

function killProcessGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process group has ended already.
  }
}
