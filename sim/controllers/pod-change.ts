import { isSameJson } from '../api-server/same-json.ts'
import { type Pod, isReady } from '../kubelet/pod.ts'

/** Reports whether a write of a pod can matter to a controller. Most writes of the kubelet do not. */
export function matters(before: Pod | undefined, after: Pod | undefined): boolean {
  if (before === undefined || after === undefined) return true
  return (
    before.status?.podIP !== after.status?.podIP ||
    isReady(before) !== isReady(after) ||
    before.status?.phase !== after.status?.phase ||
    before.spec.nodeName !== after.spec.nodeName ||
    before.metadata.deletionTimestamp !== after.metadata.deletionTimestamp ||
    !isSameJson(before.metadata.labels, after.metadata.labels)
  )
}
