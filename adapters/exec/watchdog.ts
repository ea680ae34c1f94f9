/** Ends the process group of a program if sluice itself cannot, because sluice was killed or is stopped. */
import { type ChildProcess, spawn } from 'node:child_process'

/**
 * A script. `$1` is the process group, and `$2` is the time in seconds. A line on stdin means that the program has ended. The end of stdin
 * means that sluice has ended. Without `timeout` the script only exits, and sluice ends the group and gives the reason.
 */
const SCRIPT = `command -v timeout >&2 || exit
timeout "$2" sh -c 'echo ready && read -r line' && exit
kill -s TERM -- "-$1"; sleep 1; kill -s KILL -- "-$1"`

const NEEDS = 'it needs sh and timeout in PATH, which end it where sluice is killed'

export interface Watchdog {
  /** Resolves when the watchdog runs. Rejects if sh or timeout is missing. */
  ready: Promise<void>
  /** Tells the watchdog that the group has ended. */
  release(): void
}

/**
 * Starts the watchdog. It ends the group a second after the deadline or when sluice has ended: with SIGTERM, and with SIGKILL a second
 * later.
 */
export function startWatchdog(group: number, deadlineMs: number): Watchdog {
  const seconds = Math.ceil(Math.max(0, deadlineMs) / 1_000) + 1
  const env = { PATH: process.env['PATH'] }
  // The watchdog has its own session, so that a signal to the group of sluice does not end it.
  const child: ChildProcess = spawn('sh', ['-c', SCRIPT, 'sh', String(group), String(seconds)], {
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // The child has no pipes if no file descriptor is free.
  child.stdin?.on('error', () => {})
  return {
    ready: new Promise((resolve, reject) => {
      child.once('error', ({ code, message }: NodeJS.ErrnoException) => reject(new Error(code === 'ENOENT' ? NEEDS : message)))
      child.stdout?.once('data', () => resolve())
      child.once('close', () => reject(new Error(NEEDS)))
    }),
    release: () => void child.stdin?.end('\n'),
  }
}
