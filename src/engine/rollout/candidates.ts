import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { World } from '../world.ts'

/** Among whom a run looks for what has come in the place of a pod that is gone. */
export interface Candidates {
  all(): Observation[]
  /** They are known as they are now. */
  isCurrent(): boolean
  /** Takes in an answer of the API server about one of them. */
  observe(uid: string, raw: unknown): void
}

/**
 * Those beside the pods that were asked for too. Found by a breaker: the label of a run was set by hand, so that the pod in the place of
 * one that was drained did not have it; it was ready, and stayed out. Nothing else is done with one that was not asked for.
 */
export function candidatesIn({ store, beside }: Pick<World, 'store' | 'beside'>): Candidates {
  return {
    // Of several the last counts: one that was asked for, where there is such a one.
    all: () => [...beside.all(), ...store.all()],
    isCurrent: () => store.isCurrent() && beside.isCurrent(),
    observe(uid, raw) {
      if (store.get(uid)) store.observe(raw)
      else beside.observe(raw)
    },
  }
}
