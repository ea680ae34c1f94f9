import type { Context } from './context.ts'
import type { SeenPod } from './events.ts'
import { FLAPS, FLAPS_WITHIN_MS } from './limits.ts'

export interface Flaps {
  turnedNotReady(pod: SeenPod): void
  gone(uid: string): void
}

/** Finds pods that turn not ready three times within five minutes. Three more turns make a new finding. */
export function createFlaps(context: Context, cluster: string): Flaps {
  const turns = new Map<string, number[]>()
  return {
    turnedNotReady({ metadata: { uid, namespace, name } }) {
      const now = context.now()
      const own = [...(turns.get(uid) ?? []).filter((at) => now - at <= FLAPS_WITHIN_MS), now]
      turns.set(uid, own)
      if (own.length < FLAPS) return
      turns.set(uid, [])
      context.find({ code: 'pod-flaps', cluster, namespace, pod: name, times: own.length, spanMs: now - own[0]! })
    },
    gone: (uid) => void turns.delete(uid),
  }
}
