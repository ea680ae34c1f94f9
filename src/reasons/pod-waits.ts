import type { NoFields } from './fields.ts'
import type { Reason } from './reason.ts'

/** What a pod waits for. */
export interface PodWaits {
  /** An earlier owner has left the record of the pod open. */
  'takes-over-record': NoFields
  /** A call came to nothing, and is tried again. */
  'tries-again': { because: Reason }
  /** The settle time after the drain. */
  settling: NoFields
  /** Requests under way. */
  'in-flight': { requests: number }
  'kubelet-has-not-seen-patch': { silentNode?: string }
  /** The kubelet has seen the patch, and the new container is not up yet. */
  'container-not-up': NoFields
  /** The new container runs, and only time without a change proves what it was started from. */
  'quiet-time': { quietMs: number }
  /** The pod is ready, and has to stay so. `floorMs` is present where `minReadySeconds` of the workload is the longer time. */
  'ready-for': { floorMs?: number }
  /** The kubelet was restarted and has probed nothing yet: a probe has time to fail. */
  unprobed: NoFields
  /** A call that nobody answered may still arrive. */
  'late-call': NoFields
  'not-ready-to-be-put-back': NoFields
  /** The container runs another image than its spec asks for. */
  'image-in-doubt': { pod: string; container: string; image: string; runs?: string; quietMs: number }
  'replacement-not-ready': { replacement: string }
  /** The pod terminates; a replacement comes after it. */
  'awaits-end-of-pod': { pod: string; dueAt: string; finalizers: string[] }
  /** A pod in its place, at the address or where its entry is pointed by then. */
  'awaits-replacement': { address?: string }
  /** A replacement has come, and could not take over. */
  'replacement-came': { replacement: string; because?: Reason }
  /** What was drained for another pod at the same address is not settled. */
  'awaits-settlement': { pod: string }
  /** The run starts no further pod. */
  'no-further-start': NoFields
  /** Somebody has paused the run. */
  'run-paused': { by: string }
  /** The pods, or the workload, cannot be watched at this moment. */
  'cannot-watch': { workload?: string }
  /** The pods, or the workload, are being looked at anew. */
  'looks-anew': { workload?: string }
}
