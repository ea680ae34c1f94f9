import type { Pod } from './objects.ts'

const TEMPLATE_HASH = 'pod-template-hash'

/** What a person calls the workload of a pod, such as `statefulset/web`. */
export function workloadOf({ metadata: { name, labels = {}, ownerReferences = [] } }: Pod): string {
  const owner = ownerReferences.find(({ controller }) => controller === true)
  if (owner === undefined) return `pod/${name}`
  const end = `-${labels[TEMPLATE_HASH] ?? ''}`
  if (owner.kind === 'ReplicaSet' && end !== '-' && owner.name.endsWith(end)) return `deployment/${owner.name.slice(0, -end.length)}`
  return `${owner.kind.toLowerCase()}/${owner.name}`
}

/** It can get requests, now or soon. */
export function isAlive({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase !== 'Succeeded' && status?.phase !== 'Failed'
}
