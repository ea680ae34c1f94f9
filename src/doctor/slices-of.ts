import { SERVICE_NAME, SLICE_CONTROLLER, SLICE_MANAGED_BY } from '../endpoints/endpoint-labels.ts'
import type { EndpointSlice, Service } from './objects.ts'

/** The key that a Service and its slices share. */
export function serviceKey({ metadata: { namespace, name } }: Service): string {
  return `${namespace}/${name}`
}

/** By the Service that they are of. */
export function slicesByService(slices: readonly EndpointSlice[]): ReadonlyMap<string, EndpointSlice[]> {
  return Map.groupBy(slices, ({ metadata: { namespace, labels } }) => `${namespace}/${labels?.[SERVICE_NAME] ?? ''}`)
}

export function managerOf({ metadata: { labels } }: EndpointSlice): string {
  return labels?.[SLICE_MANAGED_BY] ?? ''
}

export function isByController(slice: EndpointSlice): boolean {
  return managerOf(slice) === SLICE_CONTROLLER
}

export function addressesIn({ endpoints }: EndpointSlice): string[] {
  return (endpoints ?? []).flatMap(({ addresses }) => addresses)
}

/** The controllers keep its endpoints. */
export function hasSelector({ spec: { type, selector = {} } }: Service): boolean {
  return type !== 'ExternalName' && Object.keys(selector).length > 0
}
