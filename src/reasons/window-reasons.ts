import type { Reason } from './reason.ts'

/** The state of a pod that takes a place in the window. */
export type Occupancy = 'upgrading' | 'left' | 'missing' | 'not-ready' | 'ready-too-short' | 'operator' | 'unserved' | 'starts'

export interface WindowReasons {
  /** No other pod may leave rotation. `size` is absent if the waiting pods themselves cannot start. */
  'window-taken': {
    size?: number
    /** The pods by name, if they are few. */
    pods: { pod: string; standing: Occupancy; because?: Reason }[]
    /** The workloads that lack pods. */
    lacking: { workload: string; pods: number; leaving: { pod: string; because: Reason }[] }[]
    /** The number of pods by state, if there are many pods. */
    counts: { standing: Occupancy; pods: number }[]
  }
  /** A workload lacks pods. `countAsOut`: pods that are still to be created count as out of rotation. */
  'lacks-pods': {
    workload: string
    present: number
    desired: number
    leaving: { pod: string; because: Reason }[]
    countAsOut?: true
  }
  /** The window stayed full for the whole ready deadline, and nothing in the run could free a place. */
  'window-stalled': { because: Reason; forMs: number }
}
