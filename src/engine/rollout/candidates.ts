import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { World } from '../world.ts'

/** The pods among which a run looks for the replacement of a gone pod. */
export interface Candidates {
  all(): Observation[]
  /** Reports whether the observation is current. */
  isCurrent(): boolean
  /** Takes in the answer to a read of one of the pods. */
  announce(uid: string, raw: unknown): void
  /** Reports whether the watch of this pod has just brought a line. */
  isHeard(uid: string): boolean
}

/**
 * Includes the pods beside the requested ones. A replacement does not have a label that was set by hand on the gone pod. Such a pod is only
 * put back in rotation.
 */
export function candidatesIn({ store, beside }: Pick<World, 'store' | 'beside'>): Candidates {
  return {
    // The last match counts, so that a requested pod comes before the others.
    all: () => [...beside.all(), ...store.all()],
    isCurrent: () => store.isCurrent() && beside.isCurrent(),
    announce(uid, raw) {
      if (store.get(uid)) store.announce(raw)
      else beside.announce(raw)
    },
    isHeard: (uid) => (store.get(uid) ? store : beside).isHeard(),
  }
}
