import type { Reason } from './reason.ts'

/** How a pod stands that takes a place in the window. */
export type Occupancy = 'upgrading' | 'left' | 'missing' | 'not-ready' | 'ready-too-short' | 'operator' | 'unserved' | 'starts'

export interface WindowReasons {
  /** No other pod may leave rotation. `size` is absent where the waiting pods themselves cannot start. */
  'window-taken': {
    size?: number
    /** A few pods by name, or */
    pods: { pod: string; standing: Occupancy; because?: Reason }[]
    /** workloads that lack pods, */
    lacking: { workload: string; pods: number; leaving: { pod: string; because: Reason }[] }[]
    /** or of many pods how many stand how. */
    counts: { standing: Occupancy; pods: number }[]
  }
  /** A workload lacks pods. `countAsOut`: pods that are still to be made count as out of rotation. */
  'lacks-pods': {
    workload: string
    present: number
    desired: number
    leaving: { pod: string; because: Reason }[]
    countAsOut?: true
  }
  /** The window stayed full for the whole ready deadline, and nothing of the run could free a place. */
  'window-stalled': { because: Reason; forMs: number }
}
