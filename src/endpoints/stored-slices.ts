import { SERVICE_NAME, SLICE_CONTROLLER, SLICE_MANAGED_BY } from './endpoint-labels.ts'
import type { StoredEndpoint, StoredSlice } from './stored.ts'

/** The key that a Service, its slices and its Endpoints share. */
export function serviceKey({ metadata: { namespace, name } }: { metadata: { namespace: string; name: string } }): string {
  return `${namespace}/${name}`
}

/** The name of the Service that the slice belongs to, in the namespace of the slice. */
export function serviceNameOf({ metadata: { labels = {} } }: StoredSlice): string | undefined {
  return labels[SERVICE_NAME]
}

export function slicesByService(slices: readonly StoredSlice[]): ReadonlyMap<string, StoredSlice[]> {
  return Map.groupBy(slices, (slice) => `${slice.metadata.namespace}/${serviceNameOf(slice) ?? ''}`)
}

export function managerOf({ metadata: { labels = {} } }: StoredSlice): string | undefined {
  return labels[SLICE_MANAGED_BY]
}

/** The controller of Kubernetes manages the slice. */
export function isByController(slice: StoredSlice): boolean {
  return managerOf(slice) === SLICE_CONTROLLER
}

export function addressesIn({ endpoints = [] }: StoredSlice): string[] {
  return endpoints.flatMap(({ addresses }) => addresses)
}

/** The conditions, with the defaults that the API documents: `ready` is true, `serving` equals `ready`, and `terminating` is false. */
export function conditionsOf({ conditions = {} }: StoredEndpoint): { ready: boolean; serving: boolean; terminating: boolean } {
  const { ready = true, serving = ready, terminating = false } = conditions
  return { ready, serving, terminating }
}
