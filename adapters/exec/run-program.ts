/** Runs a program for one call: one document in, one document out. No process of it remains. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { holdersOf, outputsOf } from './output-holders.ts'
import { startWatchdog } from './watchdog.ts'

/** The maximum size of an answer in bytes. It is above the size of 100,000 entries. */
const LARGEST_ANSWER_BYTES = 32 * 1024 * 1024
/** The number of characters that are kept from the end of stderr, for a message. */
export const KEPT_SAYING = 16_384
/** The time from SIGTERM to SIGKILL, and from the end of the program until its output is closed, in milliseconds. */
const GRACE_MS = 1_000

export interface Program {
  /** The path of the program. It runs without a shell and without a search in PATH. */
  file: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
}

/** The end of a program. `begun` is false if it never ran. */
export type Ended = { begun: true; answer: string; said: string; problem?: string } | { begun: false; problem: string }

/**
 * Runs the program. Resolves when its process group has ended; the group also ends if sluice does. `problem` is the reason why the answer
 * is invalid: a signal, an exit code, a deadline, a long answer, or an open output. Calls `assertLive` right before it sends the document,
 * and rejects with its error.
 */
export function runProgram(
  { file, args, env, cwd }: Program,
  input: string,
  { deadlineMs, signal, assertLive }: { deadlineMs: number; signal: AbortSignal; assertLive(): void },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let child: ChildProcessWithoutNullStreams
    try {
      child = spawn(file, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    } catch (error) {
      resolve({ begun: false, problem: whyNotStarted(error) })
      return
    }
    const { pid, stdin, stdout, stderr } = child
    const outputs = pid === undefined ? new Set<string>() : outputsOf(pid)
    const watchdog = pid === undefined ? undefined : startWatchdog(pid, deadlineMs)
    const chunks: Buffer[] = []
    let length = 0
    let said = ''
    let problem: string | undefined
    const timers = new Set<NodeJS.Timeout>()

    function after(ms: number, act: () => void): void {
      timers.add(setTimeout(act, ms))
    }

    /** Only the first problem counts, because it causes the later ones. */
    function end(why: string): void {
      if (problem !== undefined) return
      problem = why
      killGroup('SIGTERM')
      after(GRACE_MS, () => killGroup('SIGKILL'))
    }

    function killGroup(name: NodeJS.Signals): void {
      try {
        if (pid !== undefined) process.kill(-pid, name)
      } catch {
        // The process group has ended already.
      }
    }

    const onAbort = (): void => end('sluice was closed meanwhile')
    signal.addEventListener('abort', onAbort)
    after(Math.max(0, deadlineMs), () => end(`it had no answer within ${Math.round(deadlineMs)} ms`))

    child.once('error', (error) => {
      if (pid === undefined) settle({ begun: false, problem: whyNotStarted(error) })
    })
    stdout.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= LARGEST_ANSWER_BYTES) chunks.push(chunk)
      else end(`its answer is longer than ${LARGEST_ANSWER_BYTES} bytes`)
    })
    stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said = (said + chunk).slice(-KEPT_SAYING)
    })
    // The program may have ended without reading.
    stdin.on('error', () => {})
    watchdog?.ready.then(send, (error: unknown) => {
      killGroup('SIGKILL')
      settle({ begun: false, problem: messageOf(error) })
    })

    function send(): void {
      if (problem !== undefined) return
      try {
        assertLive()
      } catch (error) {
        killGroup('SIGKILL')
        reject(error as Error)
        return
      }
      stdin.end(input)
    }

    child.once('exit', (code, killedBy) => {
      if (code !== 0) problem ??= killedBy === null ? `it has ended with exit code ${code}` : `it was ended by ${killedBy}`
      // Child processes end with the program. A process that has left the group may still hold the output.
      killGroup('SIGKILL')
      watchdog?.release()
      after(GRACE_MS, () => {
        const [holder = 'a process that it has started'] = holdersOf(outputs)
        problem ??= `it has ended, and ${holder} holds its output open`
        stdout.destroy()
        stderr.destroy()
      })
    })
    child.once('close', () => {
      const answer = Buffer.concat(chunks).toString('utf8')
      // A program that ends before its watchdog is ready got no document. The reason is then the failure of the watchdog, if there is one.
      void watchdog?.ready.then(
        () => settle({ begun: true, answer, said, ...(problem === undefined ? {} : { problem }) }),
        () => {},
      )
    })

    function settle(ended: Ended): void {
      for (const timer of timers) clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(ended)
    }
  })
}

const START_WAYS: Record<string, string> = {
  EACCES: 'it may not be executed; run chmod +x on it',
  ENOENT: 'there is no such file, or the interpreter that its first line names is not there',
}

function whyNotStarted(error: unknown): string {
  const way = START_WAYS[(error as NodeJS.ErrnoException).code ?? '']
  return way === undefined ? messageOf(error) : `${way} (${messageOf(error)})`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
