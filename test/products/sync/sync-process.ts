import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

const LOOKS_EVERY_MS = 20

/** A program of this repository that copies endpoints, in its own process. */
export interface SyncProcess {
  /** Returns stderr and stdout so far. */
  said(): string
  isAlive(): boolean
  /** Resolves once the output matches. Rejects if the process ends before. */
  until(pattern: RegExp): Promise<void>
  /** Ends the process at once. */
  kill(): Promise<void>
  /** Ends the process in order, and returns its exit code. */
  stop(): Promise<number | null>
}

export function startSyncProcess(args: readonly string[], env: NodeJS.ProcessEnv = process.env): SyncProcess {
  // It also ends when this process ends for any reason.
  const all = ['--pdeathsig', 'KILL', process.execPath, ...args]
  const child: ChildProcess = spawn('setpriv', all, { stdio: ['ignore', 'pipe', 'pipe'], env })
  let said = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null
  const exited = once(child, 'exit')

  async function end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (isAlive()) child.kill(signal)
    await exited
  }
  return {
    said: () => said,
    isAlive,
    async until(pattern) {
      while (!pattern.test(said)) {
        if (!isAlive()) throw new Error(`it ended with ${child.exitCode ?? child.signalCode}: ${said}`)
        await sleep(LOOKS_EVERY_MS)
      }
    },
    kill: () => end('SIGKILL'),
    async stop() {
      await end('SIGTERM')
      return child.exitCode
    },
  }
}
