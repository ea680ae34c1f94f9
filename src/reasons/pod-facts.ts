import type { NoFields } from './fields.ts'

/** How a pod stands, as observed. */
export interface PodFacts {
  /** `waiting`: the kubelet's own reason, such as ImagePullBackOff. `said`: in the words of the kubelet. */
  'container-waiting': { container: string; waiting: string; said?: string }
  'containers-not-ready': { containers: { name: string; waiting?: string }[] }
  /** Condition ContainersReady is not True. */
  'pod-not-ready': NoFields
  /** The readiness gates are not True. */
  'readiness-gates-closed': { gates: { type: string; status: string; message?: string }[] }
  /** The node's kubelet does not report: it carries nothing out. */
  'node-silent': { node?: string }
  /** Ready is False although all containers are ready. */
  'ready-condition-false': NoFields
  'ready-for-too-short': NoFields
  terminating: { dueAt: string; finalizers: string[] }
  /** The EndpointSlices that have the pod, and not as ready. */
  'endpoints-not-back': { slices: string[] }
  /** Somebody else has changed the images of the pod. */
  'images-changed': NoFields
  'restart-unproven': NoFields
  'container-not-replaced': { silentNode?: string }
  /** The kubelet reports an older generation than that of the patch. */
  'kubelet-behind': { generation: number; observed: number; node?: string; silentNode?: string }
}
