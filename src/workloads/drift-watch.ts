import { type ExpectedTemplate, deviation } from './expected-template.ts'
import type { WorkloadRecord } from './records.ts'
import type { Drift } from './workload.ts'

export interface DriftWatch {
  /** Sets the expected template; from now on a different template is drift. */
  pin(expected: ExpectedTemplate): void
  /** Ends the watch for drift. */
  unpin(): void
  /** Checks the newest version; the caller calls it after every observation. */
  check(): void
  onDrift(listener: (drift: Drift) => void): void
}

/** Reports once if a workload deviates from its pinned template. */
export function createDriftWatch(newest: () => WorkloadRecord | undefined): DriftWatch {
  const listeners: ((drift: Drift) => void)[] = []
  let pinned: ExpectedTemplate | undefined
  let drift: Drift | undefined

  function check(): void {
    if (pinned === undefined || drift !== undefined) return
    const reason = deviation(pinned, newest())
    if (reason === undefined) return
    drift = { reason }
    for (const listener of listeners) listener(drift)
  }

  return {
    pin(expected) {
      pinned = expected
      check()
    },
    unpin: () => (pinned = undefined),
    check,
    onDrift(listener) {
      listeners.push(listener)
      if (drift) listener(drift)
    },
  }
}
