import type { Service } from '../endpoints/objects.ts'
import { conditionsOf } from '../endpoints/stored-slices.ts'
import type { StoredEndpoint, StoredPod } from '../endpoints/stored.ts'
import type { Writer } from '../reasons/fields.ts'
import { conditionOf } from './explain-pod.ts'

/**
 * Since when a slice has a pod as it has it, and by whom, where the pod tells: a slice follows condition Ready, and the deletion of the pod.
 * Nothing where the slice says something else than the pod does by now, or has addresses whether they are ready or not.
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

/** The timestamp of a deletion is when its grace is over. */
function deletedAt({ metadata: { deletionTimestamp = '', deletionGracePeriodSeconds } }: StoredPod): string | undefined {
  const dueAt = Date.parse(deletionTimestamp)
  if (deletionGracePeriodSeconds === undefined || Number.isNaN(dueAt)) return undefined
  // As the API server writes it.
  return new Date(dueAt - deletionGracePeriodSeconds * 1_000).toISOString().replace('.000Z', 'Z')
}
