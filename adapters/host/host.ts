/**
 * A host that runs shell scripts: this host, or one behind a command prefix such as `ssh lb1`, `sudo -n` or `docker exec -i lb`. The script
 * goes to the standard input of `sh`, so that no other shell parses it.
 *
 * The shell first confirms that it runs. A failure before that proves that the script has not started. `assertLive` is called right
 * before a script with an effect is sent. The last line of an answer has the status of the script; without it, the answer is incomplete.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { AdapterError, type AdapterErrorKind } from '../contract.ts'

/** The context of a script: the members that `ListCall` and `ChangeCall` share. */
export interface ScriptCall {
  deadlineMs: number
  signal: AbortSignal
  assertLive(): void
}

export interface ScriptAnswer {
  status: number
  /** The standard output and the standard error of the script, also of a failed one. */
  output: Buffer
}

export interface HostOptions {
  /** The start of each error message. */
  component: string
  /** A command that leads to the host; the program to run follows it. Empty: this host. */
  prefix?: readonly string[]
}

export interface Host {
  /** The name for messages: `this host`, `ssh lb1`. */
  name: string
  /**
   * Runs a script of `sh` to its end. Without an answer, the error is `retryable`, or `ambiguous` for a script with an effect. An abort of
   * the signal kills the process group here. The shell, also on another host, ends a moment after the deadline.
   */
  run(script: string, call: ScriptCall, options?: { hasEffect?: boolean }): Promise<ScriptAnswer>
}

const LARGEST_ANSWER = 32 * 1024 * 1024
const KEPT_STDERR = 4_096
/** The time from SIGTERM to SIGKILL, in milliseconds. After SIGTERM, a script can remove its temporary file. */
const GRACE_MS = 1_000
/** The time for the last bytes after the end of a process, in milliseconds. A child process may still hold its pipes. */
const LAST_BYTES_MS = 250
/**
 * The time after an answer until a remaining process is ended, in milliseconds. The master of an ssh connection also serves other calls.
 */
const LINGER_MS = 10_000
/** The exit codes of a shell for a program that is missing or not executable. */
const NO_PROGRAM = new Set([126, 127])
/** The messages of OpenSSH for errors that another attempt cannot fix. */
const SSH_REFUSES = /^(.*Permission denied|Host key verification failed|.*Bad configuration option)/m

export function createHost({ component, prefix = [] }: HostOptions): Host {
  const name = prefix.length === 0 ? 'this host' : prefix.join(' ')

  function failed(kind: AdapterErrorKind, message: string, cause?: unknown): AdapterError {
    return new AdapterError(component, kind, message, { cause })
  }

  function notStarted(program: string, cause: NodeJS.ErrnoException): AdapterError {
    switch (cause.code) {
      case 'ENOENT':
        return failed('fatal', `there is no program ${program}: install it, or name it with its path`, cause)
      case 'EACCES':
      case 'EPERM':
        return failed('fatal', `no permission to run ${program}: see its mode and owner`, cause)
      default:
        return failed('retryable', `cannot start ${program}: ${cause.message}`, cause)
    }
  }

  /** The error if the shell has not confirmed that it runs. */
  function notReached(how: string, status: number | null, stderr: string): AdapterError {
    const said = lastLines(stderr)
    const message = `no shell on ${name}: ${said === '' ? how : said}`
    if (status !== null && NO_PROGRAM.has(status)) return failed('fatal', `${message} (it needs sh and timeout there)`)
    return failed(SSH_REFUSES.test(stderr) ? 'fatal' : 'retryable', message)
  }

  function run(script: string, call: ScriptCall, { hasEffect = false } = {}): Promise<ScriptAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ScriptAnswer>()
    if (call.signal.aborted) return Promise.reject(failed('retryable', `nothing was run on ${name}: the call is over`))
    const mark = randomBytes(12).toString('hex')
    // The time limit is for a shell on another host, which does not end with the local process.
    const [program, ...words] = [...prefix, 'timeout', String(Math.ceil(Math.max(0, call.deadlineMs) / 1_000) + 1), 'sh']
    // The process has its own session, so that no program can ask the terminal for a password.
    const child = spawn(program!, words, { detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
    let chunks: Buffer[] = []
    let length = 0
    let stderr = ''
    let isSent = false
    let isOver = false

    function finish(finishing: () => void): void {
      if (isOver) return
      isOver = true
      call.signal.removeEventListener('abort', cut)
      finishing()
    }
    function fail(error: unknown): void {
      finish(() => {
        reject(error as Error)
        endGroup(child)
      })
    }
    function broken(how: string, status: number | null = null): AdapterError {
      if (!isSent) return notReached(how, status, stderr)
      const said = lastLines(stderr)
      const message = `no whole answer from ${name}: ${how}${said === '' ? '' : `: ${said}`}`
      return failed(hasEffect ? 'ambiguous' : 'retryable', message)
    }
    function cut(): void {
      fail(broken('it was given up'))
    }
    function send(): void {
      try {
        if (hasEffect) call.assertLive()
      } catch (error) {
        fail(error)
        return
      }
      isSent = true
      chunks = []
      length = 0
      child.stdin.end(framed(script, mark))
    }
    function take(chunk: Buffer): void {
      if (isOver) return
      chunks.push(chunk)
      length += chunk.length
      if (length > LARGEST_ANSWER) {
        fail(failed('fatal', `an answer from ${name} is longer than ${LARGEST_ANSWER} bytes`))
      } else if (!isSent) {
        // A login shell may print other text first.
        if (Buffer.concat(chunks).includes(`${mark}\n`)) send()
      } else {
        const answer = parseAnswer(chunks, mark)
        if (answer === undefined) return
        finish(() => {
          resolve(answer)
          leave(child)
        })
      }
    }
    function over(status: number | null, signal: NodeJS.Signals | null): void {
      fail(broken(signal === null ? `exit code ${status}` : `it was ended by ${signal}`, status))
    }

    child.once('error', (error) => fail(notStarted(program!, error)))
    child.stdout.on('data', take)
    child.stderr.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString('utf8')).slice(-KEPT_STDERR)
    })
    // A shell that has ended does not read. Its exit gives the error.
    child.stdin.on('error', () => {})
    child.once('close', over)
    child.once('exit', (status, signal) => setTimeout(() => over(status, signal), LAST_BYTES_MS).unref())
    call.signal.addEventListener('abort', cut)
    child.stdin.write(`LC_ALL=C; export LC_ALL; echo ${mark}\n`)
    return promise
  }

  return { name, run }
}

/** Wraps the script so that it starts only when it has arrived completely. Commands in the script get no input. */
function framed(script: string, mark: string): string {
  return `{ (\n${script}\n) </dev/null 2>&1; printf '\\n%s %s\\n' ${mark} "$?"; exit; }\n`
}

/** The answer. Undefined until its last line has arrived. */
function parseAnswer(chunks: Buffer[], mark: string): ScriptAnswer | undefined {
  let from = chunks.length
  // Only the end of the output is searched for the last line, because most chunks do not need more.
  for (let length = 0; from > 0 && length < 2 * mark.length;) length += chunks[(from -= 1)]!.length
  const [line, status] = new RegExp(`\\n${mark} (\\d+)\\n$`).exec(Buffer.concat(chunks.slice(from)).toString('latin1')) ?? []
  if (line === undefined) return undefined
  return { status: Number(status), output: Buffer.concat(chunks).subarray(0, -line.length) }
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join('; ')
}

function closePipes(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
}

/** Leaves a process that has given its answer. It ends by itself, and no call waits for it. */
function leave(child: ChildProcess): void {
  closePipes(child)
  child.unref()
  const late = setTimeout(() => endGroup(child), LINGER_MS).unref()
  child.once('exit', () => clearTimeout(late))
}

/** Sends SIGTERM to the process group. Sends SIGKILL to the rest of the group when its first process has ended, or after some time. */
function endGroup(child: ChildProcess): void {
  closePipes(child)
  const { pid } = child
  if (pid === undefined) return
  if (child.exitCode !== null || child.signalCode !== null) {
    signalGroup(pid, 'SIGKILL')
    return
  }
  signalGroup(pid, 'SIGTERM')
  const kill = setTimeout(() => signalGroup(pid, 'SIGKILL'), GRACE_MS)
  child.once('exit', () => {
    clearTimeout(kill)
    signalGroup(pid, 'SIGKILL')
  })
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // All processes of the group have ended.
  }
}
