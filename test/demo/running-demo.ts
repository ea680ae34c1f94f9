import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const ROOT = resolve(import.meta.dirname, '../..')
const MARK = 'SLUICE_DEMO_UNDER_TEST'

/** A demo that somebody has started, in a process group of its own as a shell would do it. */
export interface RunningDemo {
  process: ChildProcess
  output(): string
  /** Waits until the output has this; fails with all output where the demo ends without it. */
  sees(text: string): Promise<void>
  /** As the keys do it: to the whole group. */
  signal(signal: NodeJS.Signals): void
  /** The exit code, or the name of the signal that ended it. */
  exit: Promise<number | string>
  /** The processes that it has started, and that still run: all of them have its environment. */
  processes(): string[]
  /** What it has left in the temporary folder. */
  files(): string[]
  /** Kills whatever still runs. */
  remove(): void
}

/** Linux tells the environment of other processes; elsewhere nobody can say what runs. */
export const whyNotCounted = process.platform === 'linux' ? undefined : 'processes are counted on Linux alone'

export function startDemo([command, ...args]: readonly [string, ...string[]], env: NodeJS.ProcessEnv = {}): RunningDemo {
  const folder = mkdtempSync(join(tmpdir(), 'demo-test-'))
  const mark = randomUUID()
  const child = spawn(command, args, {
    cwd: ROOT,
    detached: true,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: folder, [MARK]: mark, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    process: child,
    output: () => output,
    async sees(text) {
      while (!output.includes(text)) {
        if (isOver()) throw new Error(`The demo ended without ${JSON.stringify(text)}:\n${output}`)
        await sleep(20)
      }
    },
    signal: (signal) => process.kill(-child.pid!, signal),
    exit: once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string),
    processes: () => processesWith(`${MARK}=${mark}`),
    // What Node itself keeps there is of use to the next one.
    files: () => readdirSync(folder).filter((file) => file !== 'node-compile-cache'),
    remove() {
      if (!isOver()) process.kill(-child.pid!, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function processesWith(variable: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(variable)) return []
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()]
    } catch {
      return [] // it has ended meanwhile
    }
  })
}
