import type { NoFields } from './fields.ts'
import type { Reason } from './reason.ts'

/** The conditions that a pod waits for. */
export interface PodWaits {
  /** The pod's record from an earlier owner is open, and is taken over first. */
  'takes-over-record': NoFields
  /** A call failed, and is tried again. */
  'tries-again': { because: Reason }
  /** The settle time after the drain. */
  settling: NoFields
  /** Requests under way. */
  'in-flight': { requests: number }
  'kubelet-has-not-seen-patch': { silentNode?: string }
  /** The kubelet has seen the patch, and the new container does not run yet. */
  'container-not-up': NoFields
  /** The new container runs, and only a time without changes proves the image that it was started from. */
  'quiet-time': { quietMs: number }
  /** The pod is ready, and has to stay so. `floorMs` is present if `minReadySeconds` of the workload is the longer time. */
  'ready-for': { floorMs?: number }
  /** The kubelet was restarted and has not probed yet; the probe gets time to fail. */
  unprobed: NoFields
  /** A call without an answer may still arrive. */
  'late-call': NoFields
  'not-ready-to-be-put-back': NoFields
  /** The container runs another image than its spec requires. */
  'image-in-doubt': { pod: string; container: string; image: string; runs?: string; quietMs: number }
  'replacement-not-ready': { replacement: string }
  /** The pod terminates; its replacement follows. */
  'awaits-end-of-pod': { pod: string; dueAt: string; finalizers: string[] }
  /** A replacement at the address of the pod, or at the address that its entry has by then. */
  'awaits-replacement': { address?: string }
  /** A replacement has come, and could not take over. */
  'replacement-came': { replacement: string; because?: Reason }
  /** The entry of another pod at the same address is drained and not settled. */
  'awaits-settlement': { pod: string }
  /** The run starts no further pod. */
  'no-further-start': NoFields
  /** The run is paused. `by`: the giver of the pause. */
  'run-paused': { by: string }
  /** Watching the pods, or the workload, fails at the moment. */
  'cannot-watch': { workload?: string }
  /** The pods, or the workload, are being read anew. */
  'looks-anew': { workload?: string }
}
