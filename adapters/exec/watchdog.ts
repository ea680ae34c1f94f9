/** Ends the process group of a program where sluice itself cannot: sluice was killed, or stands still. */
import { type ChildProcess, spawn } from 'node:child_process'

/**
 * `$1` is the group, `$2` are seconds. A line on the standard input says that the program has ended. The input ends where sluice has
 * ended. Without timeout the group is left to sluice, which ends it with the right reason.
 */
const SCRIPT = `command -v timeout >&2 || exit
timeout "$2" sh -c 'echo ready && read -r line' && exit
kill -s TERM -- "-$1"; sleep 1; kill -s KILL -- "-$1"`

const NEEDS = 'it needs sh and timeout in PATH, which end it where sluice is killed'

export interface Watchdog {
  /** Resolves once the group ends without sluice too. Rejects where sh or timeout is missing. */
  ready: Promise<void>
  /** The group has ended. */
  release(): void
}

/** The group ends a second after the deadline, or once sluice is gone: with SIGTERM, and a second later with SIGKILL. */
export function startWatchdog(group: number, deadlineMs: number): Watchdog {
  const seconds = Math.ceil(Math.max(0, deadlineMs) / 1_000) + 1
  const env = { PATH: process.env['PATH'] }
  // In a session of its own: a signal for the group of sluice does not end it.
  const child: ChildProcess = spawn('sh', ['-c', SCRIPT, 'sh', String(group), String(seconds)], {
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  // Without a free file descriptor it has no pipes.
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
