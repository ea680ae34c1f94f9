import type { Service } from '../endpoints/objects.ts'
import { conditionsOf } from '../endpoints/stored-slices.ts'
import type { StoredEndpoint, StoredPod } from '../endpoints/stored.ts'
import type { Writer } from '../reasons/fields.ts'
import { conditionOf } from './explain-pod.ts'

/**
 * The time since which a slice has the pod in this state, and the writer, where the pod tells them: a slice follows condition Ready, and
 * the deletion of the pod. Empty where slice and pod disagree, or the Service publishes addresses that are not ready.
 */
export function sinceWhen({ spec }: Service, pod: StoredPod, endpoint: StoredEndpoint): { since?: string; writtenBy?: Writer } {
  const is = conditionsOf(endpoint)
  const { status, since, writtenBy } = conditionOf(pod, 'Ready')
  const isGoing = pod.metadata.deletionTimestamp !== undefined
  const agrees = is.serving === (status === 'True') && is.terminating === isGoing
  if (!agrees || spec.publishNotReadyAddresses === true) return {}
  const at = isGoing ? deletedAt(pod) : since
  return { ...(at === undefined ? {} : { since: at }), ...(isGoing || writtenBy === undefined ? {} : { writtenBy }) }
}

/** The time of the deletion. The timestamp of a deletion is the end of the grace period. */
function deletedAt({ metadata: { deletionTimestamp = '', deletionGracePeriodSeconds } }: StoredPod): string | undefined {
  const dueAt = Date.parse(deletionTimestamp)
  if (deletionGracePeriodSeconds === undefined || Number.isNaN(dueAt)) return undefined
  // The API server writes times without a fraction.
  return new Date(dueAt - deletionGracePeriodSeconds * 1_000).toISOString().replace('.000Z', 'Z')
}
