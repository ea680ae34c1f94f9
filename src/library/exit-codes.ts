import type { RunOutcome } from '../engine/events.ts'

/**
 * What the exit code of every command means. Pipelines branch on these: a code never gets another meaning.
 *
 * `plan` (and `upgrade --dry-run`) exits like `kubectl diff`: 0 nothing to do, 1 there are changes, above that as below.
 * `status` exits 0 where nothing is open, 4 where something is (a run at work, or one to go on with), 8 where a person
 * is needed.
 */
export const EXIT = {
  /** Done, or already at the target. */
  done: 0,
  /** The upgrade failed, or sluice itself did. For `plan`: there are changes. */
  failed: 1,
  /** Wrong arguments or config; nothing was touched. */
  usage: 2,
  /** The cluster or the plan says no; nothing was touched. */
  preflight: 3,
  /** A named deadline passed; the same command goes on from there. */
  deadline: 4,
  /** Paused by somebody, and told to end then (`--exit-when-paused`). */
  paused: 5,
  /** Ended by somebody's order, or rolled back: a pod failed, and is back in rotation on its old images. */
  aborted: 6,
  /** Another run holds the workload, or somebody changed it meanwhile. */
  conflict: 7,
  /** What the load balancers do with a pod cannot be known or repaired: a person has to look. */
  needsOperator: 8,
  /** SIGINT; the same command goes on from there. */
  interrupted: 130,
  /** SIGTERM or SIGHUP; the same command goes on from there. */
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export type InterruptSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** SIGHUP (the terminal went away) counts as SIGTERM, so that callers have two codes to know, not three. */
export function exitCodeOfSignal(signal: InterruptSignal): ExitCode {
  return signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated
}

/**
 * What the command line exits with for a run that ends so. `signal` is the one that interrupted the run; without it the run was
 * interrupted because sluice itself failed.
 */
export function exitCodeOf({ outcome }: { outcome: RunOutcome }, signal?: InterruptSignal): ExitCode {
  switch (outcome) {
    case 'done':
      return EXIT.done
    case 'failed':
      return EXIT.failed
    case 'refused':
      return EXIT.preflight
    case 'rolledBack':
      return EXIT.aborted
    case 'deadline':
      return EXIT.deadline
    case 'conflict':
      return EXIT.conflict
    case 'paused':
      return EXIT.paused
    case 'aborted':
      return EXIT.aborted
    case 'needsOperator':
      return EXIT.needsOperator
    case 'interrupted':
      return signal === undefined ? EXIT.failed : exitCodeOfSignal(signal)
  }
}
