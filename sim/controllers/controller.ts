import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import type { ApiServer, Resource, Store, StoredWrite } from '../api-server/server.ts'

/** Reacts to stored writes, and corrects the objects in its care. */
export interface Controller {
  onWrite(resource: Resource, write: StoredWrite): void
}

export interface ControllerPorts {
  clock: Clock
  random: Random
  store: Store
  apiServer: ApiServer
}

/** Deletes a pod as a client does: with the grace period of the pod. */
export function deleteGracefully(apiServer: ApiServer, path: string, by: string): void {
  apiServer.handle({ method: 'DELETE', path, headers: {} }, by)
}

export function podPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`
}
