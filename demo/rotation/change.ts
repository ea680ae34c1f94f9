/** A pod left rotation, or came back, as the load balancer itself showed it. */
export interface RotationChange {
  /** Milliseconds since 1970. */
  at: number
  pod: string
  isIn: boolean
}

/** Counts how often a pod left rotation, and how often it came back. */
export function drainsAndRestores(changes: readonly RotationChange[], pod: string): { drains: number; restores: number } {
  const own = changes.filter((change) => change.pod === pod)
  return { drains: own.filter(({ isIn }) => !isIn).length, restores: own.filter(({ isIn }) => isIn).length }
}

/** Counts the changes beyond the one drain and the one restore that the upgrade of a pod needs. */
export function flips({ drains, restores }: { drains: number; restores: number }): number {
  return Math.max(0, drains - 1) + Math.max(0, restores - 1)
}
