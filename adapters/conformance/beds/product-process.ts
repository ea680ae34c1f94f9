/** The program of a load balancer in its own process group, which ends with it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { waitUntil } from './haproxy-process.ts'

const WAIT_MS = 20_000

export interface ProductOptions {
  /** The name for messages. */
  name: string
  program: string
  args: readonly string[]
  env?: NodeJS.ProcessEnv
  /** The signal that ends the program. Default: SIGTERM. */
  endBy?: 'SIGTERM' | 'SIGKILL'
  /** True when the program serves. A rejection counts as false. */
  isReady(): Promise<boolean>
}

export interface ProductProcess {
  pid(): number
  /** Ends the program in order, and starts it again. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function startProduct({
  name,
  program,
  args,
  env = process.env,
  endBy = 'SIGTERM',
  isReady,
}: ProductOptions): Promise<ProductProcess> {
  let child: ChildProcess
  const killGroup = (): void => {
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // The process group has ended already.
    }
  }

  async function start(): Promise<void> {
    // The program also ends when this process ends for any reason.
    const own = spawn('setpriv', ['--pdeathsig', endBy.slice('SIG'.length), program, ...args], {
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env,
    })
    child = own
    let output = ''
    for (const stream of [own.stdout, own.stderr])
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-10_000)
      })
    const hasEnded = (): boolean => own.exitCode !== null || own.signalCode !== null
    try {
      await waitUntil(async () => hasEnded() || (await isReady()), `${name} serves`)
      if (hasEnded()) throw new Error(`it ended with ${own.exitCode ?? own.signalCode}`)
    } catch (error) {
      await stop()
      throw new Error(`${name} did not start: ${output}`, { cause: error })
    }
  }

  async function stop(): Promise<void> {
    const own = child
    if (own.exitCode === null && own.signalCode === null) {
      const exited = new Promise((resolve) => own.once('exit', resolve))
      own.kill(endBy)
      const giveUp = setTimeout(killGroup, WAIT_MS)
      await exited
      clearTimeout(giveUp)
    }
    killGroup()
    process.off('exit', killGroup)
  }

  process.on('exit', killGroup)
  await start()
  return {
    pid: () => child.pid!,
    async restart() {
      await stop()
      process.on('exit', killGroup)
      await start()
    },
    stop,
  }
}

/** Maps a port of 127.0.0.1 in the network of the program to a port of 127.0.0.1 here. */
export type Reach = (port: number) => Promise<number>

export const reachDirectly: Reach = (port) => Promise.resolve(port)

/** The first port of a range outside of the ephemeral ports. A free port of the range stays free until the program uses it. */
const FIRST_PORT = 20_000
const PORTS = 10_000

export async function findPort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS)
    const server = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false))
      server.listen(port, '127.0.0.1', () => resolve(true))
    })
    await new Promise((resolve) => server.close(resolve))
    if (isFree) return port
  }
  throw new Error(`no port from ${FIRST_PORT} on is free`)
}
