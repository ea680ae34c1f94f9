import type { Resource } from '../api-server/server.ts'
import { type Controller, type ControllerPorts, deleteGracefully, podPath } from './controller.ts'
import { draw } from '../kubelet/delays.ts'

const BY = 'garbage-collector'
const DEPENDENTS: Resource[] = ['replicasets.apps', 'controllerrevisions.apps', 'endpointslices.discovery.k8s.io', 'pods']

/** Deletes the dependents of a deleted owner, as a deletion in the background does. */
export function createGarbageCollector({ clock, random, store, apiServer }: ControllerPorts): Controller {
  function collect(uid: string): void {
    for (const resource of DEPENDENTS) {
      for (const { metadata } of store.list(resource)) {
        if (metadata.ownerReferences?.some((owner) => owner.uid === uid) !== true) continue
        const { namespace = 'default', name } = metadata
        if (resource === 'pods') deleteGracefully(apiServer, podPath(namespace, name), BY)
        else store.remove(resource, namespace, name, BY)
      }
    }
  }

  return {
    onWrite(resource, { verb, before }) {
      if (verb !== 'delete' || before === undefined || !OWNERS.has(resource)) return
      clock.setTimeout(() => collect(before.metadata.uid), draw(random, [20, 200]))
    },
  }
}

const OWNERS = new Set<Resource>(['statefulsets.apps', 'daemonsets.apps', 'deployments.apps', 'replicasets.apps', 'services'])
