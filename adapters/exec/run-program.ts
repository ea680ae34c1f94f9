/** Runs a program for one call: a document in, a document out, and nothing of it left behind. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { holdersOf, outputsOf } from './output-holders.ts'
import { startWatchdog } from './watchdog.ts'

/** Above what 100,000 entries take. */
const LARGEST_ANSWER_BYTES = 32 * 1024 * 1024
/** Characters of the last that it says, for a message. */
export const KEPT_SAYING = 16_384
/** From SIGTERM to SIGKILL, and from its end until its output is closed. */
const GRACE_MS = 1_000

export interface Program {
  /** A path, which is run as it is: no shell, and no search in PATH. */
  file: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
}

/** How it has ended: `begun` is false where it never ran. */
export type Ended = { begun: true; answer: string; said: string; problem?: string } | { begun: false; problem: string }

/**
 * Resolves when it has ended, and its process group with it. `problem` says why its answer is none: a signal, an exit code, a deadline,
 * too long an answer, or a process that holds its output open. The group ends without sluice too. `assertLive` is asked right before the
 * document is sent; rejects with its error.
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

    /** The first problem is the cause of those that follow. */
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
        // The group is gone.
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
    // It may have ended without reading.
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
      // The processes that it has started end with it. A process that has left the group may still hold the output.
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
      // A program that ends before its watchdog stands got no document: the watchdog's reason is told, where it has one.
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
