import type { Store } from '../api-server/server.ts'
import { isSameJson } from '../api-server/same-json.ts'
import type { WorkloadObject } from './workload.ts'

/** Stores the status of a workload where it differs. */
export function writeStatus(store: Store, resource: string, workload: WorkloadObject, status: object, by: string): void {
  if (isSameJson(workload.status, status)) return
  const { namespace = 'default', name, uid } = workload.metadata
  store.update(resource, namespace, name, (now) => (now.metadata.uid === uid ? { ...now, status } : undefined), by)
}
