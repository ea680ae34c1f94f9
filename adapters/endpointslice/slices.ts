/** The schemas of a Service and its EndpointSlices, and the reasons why sluice cannot use them. */
import { z } from 'zod'

const conditions = z.looseObject({
  ready: z.boolean().nullish(),
  serving: z.boolean().nullish(),
  terminating: z.boolean().nullish(),
})

const sliceSchema = z.looseObject({
  metadata: z.looseObject({
    name: z.string().min(1),
    resourceVersion: z.string().min(1),
    labels: z.record(z.string(), z.string()).nullish(),
    annotations: z.record(z.string(), z.string()).nullish(),
  }),
  addressType: z.string(),
  endpoints: z.array(z.looseObject({ addresses: z.array(z.string()).min(1), conditions: conditions.nullish() })).nullish(),
  ports: z.array(z.looseObject({ name: z.string().nullish(), port: z.int().nullish() })).nullish(),
})

/** A slice with all fields of the answer, including unknown ones, because the adapter writes the complete slice back. */
export type Slice = z.infer<typeof sliceSchema>
export type SliceEndpoint = NonNullable<Slice['endpoints']>[number]

export const sliceList = z.looseObject({ items: z.array(sliceSchema) })
export const writtenSlice = z.looseObject({ kind: z.literal('EndpointSlice'), metadata: z.looseObject({ name: z.string() }) })

export const serviceSchema = z.looseObject({
  kind: z.literal('Service'),
  spec: z.looseObject({ type: z.string().nullish(), selector: z.record(z.string(), z.string()).nullish() }),
})
export type Service = z.infer<typeof serviceSchema>

export const SERVICE_LABEL = 'kubernetes.io/service-name'
const MANAGER_LABEL = 'endpointslice.kubernetes.io/managed-by'
const CONTROLLER = 'endpointslice-controller.k8s.io'
const MIRRORING = 'endpointslicemirroring-controller.k8s.io'
/** The address type of a slice with names instead of addresses. No pod can be found by a name, and kube-proxy ignores such a slice. */
const NAMES = 'FQDN'

/** `isForGood`: another read does not help. */
export interface Problem {
  message: string
  isForGood: boolean
}

/** The reason why sluice must not write slices of this Service. */
export function serviceProblem({ spec }: Service, what: string): Problem | undefined {
  const { selector, type } = spec
  if (selector != null && Object.keys(selector).length > 0) {
    const shown = Object.entries(selector).map(([key, value]) => `${key}=${value}`)
    const message =
      `${what} has spec.selector ${shown.join(',')}: the endpoint slice controller writes its slices, and would undo a drain. ` +
      `Remove the selector and make the slices yourself, or name another load balancer that leads to the pods`
    return { message, isForGood: true }
  }
  if (type === 'ExternalName')
    return {
      message: `${what} has spec.type ExternalName, which has no endpoints: name the Service that has the slices`,
      isForGood: true,
    }
  return undefined
}

/** The reason why no slice can contain a pod. */
export function absenceProblem(slices: readonly Slice[], service: string, what: string): Problem | undefined {
  if (slices.length > 0) return undefined
  const message = `${what} has no EndpointSlice: none in its namespace has the label ${SERVICE_LABEL}: ${service}. Give it to those that you made`
  return { message, isForGood: false }
}

/** The reason why sluice must not write this slice, or finds no pod in it. */
export function sliceProblem(slice: Slice, service: string): Problem | undefined {
  const { metadata, endpoints, ports } = slice
  const what = `the EndpointSlice ${metadata.name}`
  const manager = metadata.labels?.[MANAGER_LABEL]
  if (manager === MIRRORING) {
    const message =
      `${what} has the label ${MANAGER_LABEL} ${MIRRORING}: it is mirrored from the Endpoints ${service}, and a drain would be ` +
      `undone. Make a slice of those addresses without that label, with ${SERVICE_LABEL}: ${service}, and delete the Endpoints`
    return { message, isForGood: true }
  }
  if (manager === CONTROLLER) {
    const message =
      `${what} has the label ${MANAGER_LABEL} ${CONTROLLER}: it is left from a selector that the Service had. ` +
      `Delete it where slices of your own have its addresses, or remove that label to make it yours`
    return { message, isForGood: true }
  }
  if (isOfNames(slice)) return undefined
  const several = (endpoints ?? []).findIndex(({ addresses }) => addresses.length > 1)
  if (several !== -1) {
    const shown = endpoints![several]!.addresses.join(', ')
    const message = `${what} has endpoints[${several}].addresses ${shown}: a drain would be of all of them. Give each an endpoint of its own`
    return { message, isForGood: false }
  }
  if ((endpoints ?? []).length === 0) return undefined
  const unnumbered = (ports ?? []).findIndex(({ port }) => port == null)
  if (ports == null || ports.length === 0 || unnumbered !== -1) {
    const field = unnumbered > -1 ? `ports[${unnumbered}].port` : 'ports'
    const message = `${what} has no ${field}: a pod is found by its address and port. Write the port at which the pods listen`
    return { message, isForGood: false }
  }
  return undefined
}

export function isOfNames({ addressType }: Slice): boolean {
  return addressType === NAMES
}

/** The port numbers of a slice without duplicates. Two protocols may share one port. */
export function portsOf({ ports }: Slice): number[] {
  return [...new Set((ports ?? []).flatMap(({ port }) => (port == null ? [] : [port])))]
}
