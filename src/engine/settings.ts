/** The behavior of a run: the config, and the flags that override it. */
export interface RunSettings {
  /** The number of pods that may be unavailable, or a share of the pods in percent (rounded down, at least 1). */
  maxUnavailable: { count: number } | { percent: number }
  readyForMs: number
  /**
   * The treatment of a pod that fails after its patch: `hold` leaves it out, `rollback` returns it to its former images. Both stop the run.
   */
  onFailure: 'hold' | 'rollback'
  /** The time for the drain to be confirmed, and again for the traffic to end. */
  drainDeadlineMs: number
  onDrainDeadline: 'fail' | 'proceed'
  /** The settle time that replaces the one of each adapter. */
  settleMs?: number
  /** The containers whose change alone needs no drain, by name. */
  drainNotFor?: readonly string[]
  /** The time for the restart, counted from the end of the pod's grace period. */
  restartDeadlineMs: number
  /** The time for the restart on the way back to the former images. The kubelet may delay that restart for minutes. */
  rollbackDeadlineMs: number
  readyDeadlineMs: number
  restoreDeadlineMs: number
}
