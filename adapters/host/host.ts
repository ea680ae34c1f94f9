/**
 * A host on which shell scripts run: this one, or the one to which a command prefix leads, such as `ssh lb1`, `sudo -n` or
 * `docker exec -i lb`. A script travels on the standard input of `sh`, so that no other shell on the way reads a word of it.
 *
 * The shell says first that it is there. What fails before that is proven not to have begun. Right before a script with an effect is
 * sent, `assertLive` is asked. The last line of an answer has the status of the script: without it, the answer is not whole.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { AdapterError, type AdapterErrorKind } from '../contract.ts'

/** The circumstances of a script: those of `ListCall` and `ChangeCall`. */
export interface ScriptCall {
  deadlineMs: number
  signal: AbortSignal
  assertLive(): void
}

export interface ScriptAnswer {
  status: number
  /** Standard output, and standard error with it: what a script has printed before it failed. */
  output: Buffer
}

export interface HostOptions {
  /** Begins each error. */
  component: string
  /** What leads to the host, and ends before the program that runs there. Empty: this host. */
  prefix?: readonly string[]
}

export interface Host {
  /** For messages: `this host`, `ssh lb1`. */
  name: string
  /**
   * Runs a script of `sh` to its end. No answer to a script that was sent is `retryable`, and `ambiguous` where it has an effect. Its
   * process group is killed when the signal is aborted; the shell itself, on another host too, ends a moment after the deadline.
   */
  run(script: string, call: ScriptCall, options?: { hasEffect?: boolean }): Promise<ScriptAnswer>
}

const LARGEST_ANSWER = 32 * 1024 * 1024
const KEPT_STDERR = 4_096
/** From SIGTERM, which lets a script remove its temporary file, to SIGKILL. */
const GRACE_MS = 1_000
/** A process that has ended may have left its pipes to a child. */
const LAST_BYTES_MS = 250
/** From its answer to the end of a process that stays: the master of an ssh connection serves other calls too. */
const LINGER_MS = 10_000
/** A shell gives these for a program that is not there, or may not be run. */
const NO_PROGRAM = new Set([126, 127])
/** What OpenSSH says where trying again cannot help. */
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

  /** The shell never said that it is there. */
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
    // A shell of another host does not end with the process here that leads to it.
    const [program, ...words] = [...prefix, 'timeout', String(Math.ceil(Math.max(0, call.deadlineMs) / 1_000) + 1), 'sh']
    // A session of its own: nothing can ask the terminal for a password.
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
        // A login shell may have said something before.
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
    // A shell that is gone does not read: its exit says so.
    child.stdin.on('error', () => {})
    child.once('close', over)
    child.once('exit', (status, signal) => setTimeout(() => over(status, signal), LAST_BYTES_MS).unref())
    call.signal.addEventListener('abort', cut)
    child.stdin.write(`LC_ALL=C; export LC_ALL; echo ${mark}\n`)
    return promise
  }

  return { name, run }
}

/** Nothing of it runs before all of it has come. What the script runs reads no input. */
function framed(script: string, mark: string): string {
  return `{ (\n${script}\n) </dev/null 2>&1; printf '\\n%s %s\\n' ${mark} "$?"; exit; }\n`
}

/** Undefined as long as its last line has not come. */
function parseAnswer(chunks: Buffer[], mark: string): ScriptAnswer | undefined {
  let from = chunks.length
  // Long enough for the last line: most chunks need no look at the others.
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

/** Its answer has come: it ends by itself, and nobody waits for it. */
function leave(child: ChildProcess): void {
  closePipes(child)
  child.unref()
  const late = setTimeout(() => endGroup(child), LINGER_MS).unref()
  child.once('exit', () => clearTimeout(late))
}

/** SIGTERM, and SIGKILL for what is left of the group once its first process has ended, or a while later. */
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
    // All of the group have ended.
  }
}
