import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Child {
  process: ChildProcess
  stdout(): string
  stderr(): string
  /** Waits until stderr or stdout contains this text. Fails with all output where the process ends without it. */
  sees(text: string): Promise<void>
  /** Resolves with the exit code, or with the name of the signal that killed the process. */
  end(): Promise<number | string>
  isOver(): boolean
}

/**
 * Starts this Node on a script of the repository, with an environment without influence on the output. NODE_OPTIONS passes through,
 * since `npm run check:reached` preloads a module with it.
 */
export function startChild(args: readonly string[], options: { env?: Record<string, string>; cwd?: string } = {}): Child {
  const { PATH = '', HOME = '', NODE_OPTIONS = '' } = process.env
  const child = spawn(process.execPath, args, {
    env: { PATH, HOME, NODE_OPTIONS, ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  }
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  return {
    process: child,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    sees: async (text) => {
      while (!(output.stdout + output.stderr).includes(text)) {
        if (isOver()) throw new Error(`The process ended without ${JSON.stringify(text)}:\n${output.stdout}${output.stderr}`)
        await sleep(10)
      }
    },
    end: () => ended,
    isOver,
  }
}
