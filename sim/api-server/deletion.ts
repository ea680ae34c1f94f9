import { timestamp } from './identity.ts'
import type { KubeObject } from './server.ts'

/**
 * Returns the object after a deletion, and whether it is removed now. The API server only marks a pod on a node for deletion: its kubelet
 * removes it after its containers have ended. An object with finalizers stays until they are gone.
 */
export function deleted(object: KubeObject, asked: number | undefined, wallNow: number): { object: KubeObject; isEnd: boolean } {
  const seconds = graceOf(object, asked)
  const isEnd = seconds === 0 && !isHeld(object)
  if (isEnd && object.kind !== 'Pod') return { object, isEnd }
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, generation } = object.metadata
  // A second deletion can only shorten the grace of the first.
  if (deletionTimestamp !== undefined && (asked === undefined || seconds >= deletionGracePeriodSeconds)) return { object, isEnd }
  const metadata = {
    ...object.metadata,
    deletionTimestamp: timestamp(wallNow + seconds * 1000),
    deletionGracePeriodSeconds: seconds,
    ...(generation === undefined || deletionTimestamp !== undefined ? {} : { generation: generation + 1 }),
  }
  return { object: { ...object, metadata }, isEnd }
}

function graceOf(object: KubeObject, asked: number | undefined): number {
  if (object.kind !== 'Pod') return 0
  const { nodeName, terminationGracePeriodSeconds } = (object['spec'] ?? {}) as Record<string, unknown>
  const { phase } = (object['status'] ?? {}) as Record<string, unknown>
  if (nodeName === undefined || phase === 'Succeeded' || phase === 'Failed') return 0
  return asked ?? (typeof terminationGracePeriodSeconds === 'number' ? terminationGracePeriodSeconds : 30)
}

function isHeld({ metadata: { finalizers } }: KubeObject): boolean {
  return Array.isArray(finalizers) && finalizers.length > 0
}

/** Reports whether an object that was deleted before has lost its last finalizer. */
export function isReleased(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && !isHeld(object)
}
