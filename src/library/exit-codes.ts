import type { RunOutcome } from '../engine/events.ts'

/**
 * The exit code of every command. Pipelines branch on these codes, so a code never gets another meaning.
 *
 * `plan` (and `upgrade --dry-run`) exits like `kubectl diff`: 0 for no changes, 1 for changes, higher codes as below. `status` exits with 0
 * if nothing is open, 4 if a run is at work or can go on, and 8 if a person has to act.
 */
export const EXIT = {
  /** Done, or already at the target. */
  done: 0,
  /** The upgrade failed, or sluice itself failed. For `plan`: there are changes. */
  failed: 1,
  /** Wrong arguments or config; nothing was changed. */
  usage: 2,
  /** The cluster or the plan refuses the upgrade; nothing was changed. */
  preflight: 3,
  /** A named deadline passed; the same command goes on from there. */
  deadline: 4,
  /** The run was paused, and ended because of `--exit-when-paused`. */
  paused: 5,
  /** An order ended the run; or a pod failed, and was rolled back: it is in rotation again on its old images. */
  aborted: 6,
  /** Another run holds the workload, or another writer has changed it. */
  conflict: 7,
  /** The state of a pod in the load balancers is not known, or not repairable; a person has to look. */
  needsOperator: 8,
  /** SIGINT; the same command goes on from there. */
  interrupted: 130,
  /** SIGTERM or SIGHUP; the same command goes on from there. */
  terminated: 143,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export type InterruptSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** SIGHUP (the terminal is gone) has the code of SIGTERM, so that callers need to know two codes only. */
export function exitCodeOfSignal(signal: InterruptSignal): ExitCode {
  return signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated
}

/**
 * The exit code of a run with this outcome. `signal` is the signal that interrupted the run; without a signal, a failure of sluice itself
 * has interrupted it.
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
