import { type ExpectedTemplate, deviation } from './expected-template.ts'
import type { WorkloadRecord } from './records.ts'
import type { Drift } from './workload.ts'

export interface DriftWatch {
  /** From here on, another template is drift. */
  pin(expected: ExpectedTemplate): void
  /** From here on, nothing is. */
  unpin(): void
  /** Looks at the newest version; to be called whenever something was observed. */
  check(): void
  onDrift(listener: (drift: Drift) => void): void
}

/** Tells once when a workload is no longer as it was pinned. */
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
