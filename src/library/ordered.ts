import type { WorkloadId } from '../pods/workload-id.ts'

/** What an order is about. */
export interface Ordered {
  /** As they were asked for, such as `statefulset/web`. */
  asked: string
  /** The same; in place of a pod, what owns it. */
  workloads: readonly WorkloadId[]
  /** The open runs that the order means, the newest first. */
  runs: readonly string[]
  /** Who has the Lease of what was asked for, and is at work or was killed there. */
  holder?: string
}
