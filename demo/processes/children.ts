import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Program, programFile } from './program-file.ts'

/**
 * The processes of the demo. No process outlives the demo, however it ends: each holds the other end of a pipe to the demo, and ends
 * when the pipe closes. Each has its own process group, so that a Ctrl-C of the terminal reaches the demo alone.
 */
export interface Children {
  /** True once no more processes are started. */
  readonly isOver: boolean
  /** Runs one of the demo's own programs. Its standard output is a pipe. */
  run(program: Program, env: Readonly<Record<string, string>>): Child
  /** Runs a command that does not watch the pipe. */
  runOnLeash(command: readonly string[], options?: LeashOptions): Child
  /** Kills all processes without waiting. For the very end of the demo. */
  kill(): void
  /** Kills all processes, and starts no more. */
  end(): Promise<void>
}

export interface LeashOptions {
  env?: NodeJS.ProcessEnv
  /** `inherit`: the command writes where the demo writes. The default is `pipe`. */
  output?: 'inherit' | 'pipe'
}

export interface Child {
  process: ChildProcess
  /** The exit code, or the name of the signal that ended the process. */
  exit: Promise<number | string>
  kill(signal: NodeJS.Signals): void
  /** Returns the text on standard error, if that is a pipe. */
  complaints(): string
}

export function createChildren(): Children {
  const running = new Set<Child>()
  let isOver = false

  function start(args: readonly string[], env: NodeJS.ProcessEnv, output: 'inherit' | 'pipe'): Child {
    if (isOver) throw new Error('the demo is ending')
    const stdio = ['pipe', output, output === 'inherit' ? 'inherit' : 'pipe'] as const
    const child = spawn(process.execPath, args, { env, detached: true, stdio: [...stdio] })
    // A child that ends first closes its side of the pipe.
    child.stdin?.on('error', () => {})
    let complaints = ''
    child.stderr?.on('data', (text: Buffer) => (complaints += text.toString()))
    const exit = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
    const one: Child = { process: child, exit, kill: (signal) => killGroup(child, signal), complaints: () => complaints.trim() }
    running.add(one)
    const forget = (): void => {
      running.delete(one)
      // A killed leash leaves its command running.
      killGroup(child, 'SIGKILL')
    }
    exit.then(forget, forget)
    return one
  }

  return {
    get isOver() {
      return isOver
    },
    run: (program, env) => start([programFile(program)], { ...process.env, ...env }, 'pipe'),
    runOnLeash: (command, { env = process.env, output = 'pipe' } = {}) => start([programFile('leash'), ...command], env, output),
    kill() {
      isOver = true
      for (const child of running) child.kill('SIGKILL')
    },
    async end() {
      this.kill()
      await Promise.allSettled([...running].map(({ exit }) => exit))
    },
  }
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The process is gone already.
  }
}
