/** How a run behaves: the config, and the flags over it. */
export interface RunSettings {
  /** A number of pods, or a share of them in percent (rounded down, at least 1). */
  maxUnavailable: { count: number } | { percent: number }
  readyForMs: number
  /** What becomes of a pod that fails after its patch: it stays out, or goes back to its former images. Either way no further pod starts. */
  onFailure: 'hold' | 'rollback'
  /** For the drain to be confirmed, and again for the traffic to end. */
  drainDeadlineMs: number
  onDrainDeadline: 'fail' | 'proceed'
  /** In place of each adapter's own. */
  settleMs?: number
  /** Names of containers whose change alone needs no drain. */
  drainNotFor?: readonly string[]
  /** Counts from the end of the pod's grace period. */
  restartDeadlineMs: number
  /** In its place on the way back to the former images, which the kubelet may hold back for minutes. */
  rollbackDeadlineMs: number
  readyDeadlineMs: number
  restoreDeadlineMs: number
}
