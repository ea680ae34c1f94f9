import type { WorkloadId } from '../pods/workload-id.ts'

/** The subject of an order. */
export interface Ordered {
  /** The workloads and pods as the caller named them, such as `statefulset/web`. */
  asked: string
  /** These workloads as objects; for a pod, the owner of the pod. */
  workloads: readonly WorkloadId[]
  /** The open runs that the order applies to, the newest first. */
  runs: readonly string[]
  /** The holder of the Lease of a workload that was asked for: a process at work, or a process that was killed. */
  holder?: string
}
