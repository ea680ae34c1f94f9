import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { World } from '../world.ts'

/** Among whom a run looks for what has come in the place of a pod that is gone. */
export interface Candidates {
  all(): Observation[]
  /** They are known as they are now. */
  isCurrent(): boolean
  /** Takes in the answer to a look at one of them. */
  announce(uid: string, raw: unknown): void
  /** The watch of this pod has brought a line just now. */
  isHeard(uid: string): boolean
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
    announce(uid, raw) {
      if (store.get(uid)) store.announce(raw)
      else beside.announce(raw)
    },
    isHeard: (uid) => (store.get(uid) ? store : beside).isHeard(),
  }
}
