import { z } from 'zod'
import type { Service } from '../../endpoints/objects.ts'
import type { ObservedEndpoints, ObservedNode, ObservedPod, ObservedSlice } from '../observed.ts'

/* Objects as the API server gives them: what is read of them is checked, and the rest stays. */

const Metadata = z.looseObject({
  name: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
  managedFields: z.array(z.looseObject({ manager: z.string().optional(), time: z.string().optional() })).optional(),
})
const Namespaced = z.looseObject({ ...Metadata.shape, namespace: z.string(), uid: z.string() })
const Condition = z.looseObject({ type: z.string(), status: z.string() })
const Reference = z.looseObject({ name: z.string().optional(), uid: z.string().optional() })
const Containers = z.array(z.looseObject({ name: z.string() }))

const Pod = z.looseObject({
  metadata: Namespaced,
  spec: z.looseObject({
    containers: Containers,
    initContainers: Containers.optional(),
    readinessGates: z.array(z.looseObject({ conditionType: z.string() })).optional(),
  }),
  status: z.looseObject({ conditions: z.array(Condition).optional(), podIPs: z.array(z.looseObject({})).optional() }).optional(),
})

const ServiceObject = z.looseObject({
  metadata: Namespaced,
  spec: z.looseObject({
    selector: z.record(z.string(), z.string()).optional(),
    ports: z.array(z.looseObject({ port: z.number() })).optional(),
  }),
})

const Slice = z.looseObject({
  metadata: Metadata,
  addressType: z.string(),
  ports: z.array(z.looseObject({ port: z.number().optional() })).optional(),
  endpoints: z
    .array(
      z.looseObject({
        addresses: z.array(z.string()).default([]),
        conditions: z.looseObject({}).optional(),
        targetRef: Reference.optional(),
      }),
    )
    .optional(),
})

const Addresses = z.array(z.looseObject({ ip: z.string(), targetRef: Reference.optional() }))
const Endpoints = z.looseObject({
  metadata: Metadata,
  subsets: z.array(z.looseObject({ addresses: Addresses.optional(), notReadyAddresses: Addresses.optional() })).optional(),
})

const NodeObject = z.looseObject({
  metadata: Metadata,
  spec: z.looseObject({}).optional(),
  status: z.looseObject({ conditions: z.array(Condition).optional() }).optional(),
})

const LeaseObject = z.looseObject({
  spec: z.looseObject({ renewTime: z.string().optional(), leaseDurationSeconds: z.number().optional() }).optional(),
})

/** @throws z.ZodError where it is no such object; so do the others */
export function podOf(raw: unknown): ObservedPod {
  return Pod.parse(withoutNulls(raw)) as unknown as ObservedPod
}

export function serviceOf(raw: unknown): Service {
  return ServiceObject.parse(withoutNulls(raw)) as unknown as Service
}

export function sliceOf(raw: unknown): ObservedSlice {
  return Slice.parse(withoutNulls(raw)) as unknown as ObservedSlice
}

export function endpointsOf(raw: unknown): ObservedEndpoints {
  return Endpoints.parse(withoutNulls(raw)) as unknown as ObservedEndpoints
}

export function nodeOf(raw: unknown): ObservedNode {
  return NodeObject.parse(withoutNulls(raw)) as unknown as ObservedNode
}

export interface NodeLease {
  renewedAt?: string
  durationMs: number
}

/** As the kubelet has it unless it is told another one. */
const NODE_LEASE_SECONDS = 40

export function nodeLeaseOf(raw: unknown): NodeLease {
  const { renewTime, leaseDurationSeconds = NODE_LEASE_SECONDS } = LeaseObject.parse(withoutNulls(raw)).spec ?? {}
  return { ...(renewTime === undefined ? {} : { renewedAt: renewTime }), durationMs: leaseDurationSeconds * 1000 }
}

/** Go writes an empty list as null where the field has no `omitempty`: the endpoints of an EndpointSlice, say. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, part]) => (part === null ? [] : [[name, withoutNulls(part)]])))
}
