/** How a run behaves: the config, and the flags over it. */
export interface RunSettings {
  /** A number of pods, or a share of them in percent (rounded down, at least 1). */
  maxUnavailable: { count: number } | { percent: number }
  readyForMs: number
  onFailure: 'hold'
  /** For the drain to be confirmed, and again for the traffic to end. */
  drainDeadlineMs: number
  onDrainDeadline: 'fail' | 'proceed'
  /** In place of each adapter's own. */
  settleMs?: number
  /** Counts from the end of the pod's grace period. */
  restartDeadlineMs: number
  readyDeadlineMs: number
  restoreDeadlineMs: number
}
