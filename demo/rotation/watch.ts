import { setTimeout as sleep } from 'node:timers/promises'
import type { RotationChange } from './change.ts'

export interface RotationWatch {
  /** Rejects where a look has failed. */
  stop(): Promise<void>
}

/** A restart keeps a pod out for seconds, so no drain and restore fit between two looks. */
const LOOK_MS = 50

/** Reads the load balancer until it is stopped. `look` returns whether each pod is in rotation. */
export async function watchRotation(
  look: () => Promise<ReadonlyMap<string, boolean>>,
  onChange: (change: RotationChange) => void,
): Promise<RotationWatch> {
  let known = await look()
  const ending = new AbortController()

  async function watch(): Promise<void> {
    while (!ending.signal.aborted) {
      await sleep(LOOK_MS)
      const now = await look()
      for (const [pod, isIn] of now) {
        if (known.get(pod) === isIn) continue
        onChange({ at: Date.now(), pod, isIn })
      }
      known = now
    }
  }

  const watching = watch()
  // `stop` reports a failure. Until then, a rejection must not end the process.
  watching.catch(() => {})
  return {
    async stop() {
      ending.abort()
      await watching
    },
  }
}
