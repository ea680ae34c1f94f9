import type { NoFields } from './fields.ts'

/** The observed state of a pod. */
export interface PodFacts {
  /** `waiting`: the kubelet's reason, such as ImagePullBackOff. `said`: the kubelet's message. */
  'container-waiting': { container: string; waiting: string; said?: string }
  'containers-not-ready': { containers: { name: string; waiting?: string }[] }
  /** Condition ContainersReady is not True. */
  'pod-not-ready': NoFields
  /** The conditions of the readiness gates are not True. */
  'readiness-gates-closed': { gates: { type: string; status: string; message?: string }[] }
  /** The kubelet of the node does not report, and so acts on no change. */
  'node-silent': { node?: string }
  /** Ready is False although all containers are ready. */
  'ready-condition-false': NoFields
  'ready-for-too-short': NoFields
  terminating: { dueAt: string; finalizers: string[] }
  /** The EndpointSlices that contain the pod as not ready. */
  'endpoints-not-back': { slices: string[] }
  /** Another client has changed the images of the pod. */
  'images-changed': NoFields
  'restart-unproven': NoFields
  'container-not-replaced': { silentNode?: string }
  /** The kubelet reports an older generation than that of the patch. */
  'kubelet-behind': { generation: number; observed: number; node?: string; silentNode?: string }
}
