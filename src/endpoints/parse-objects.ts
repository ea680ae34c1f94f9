import { z } from 'zod'
import type { Service } from './objects.ts'
import type { StoredEndpoints, StoredNode, StoredPod, StoredSlice } from './stored.ts'

/* Parsers of objects of the API server. They check the fields that are read, and keep the others. */

const Metadata = z.looseObject({
  name: z.string(),
  labels: z.record(z.string(), z.string()).optional(),
  managedFields: z.array(z.looseObject({ manager: z.string().optional(), time: z.string().optional() })).optional(),
})
const InNamespace = z.looseObject({ ...Metadata.shape, namespace: z.string() })
const Namespaced = z.looseObject({ ...InNamespace.shape, uid: z.string() })
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
  metadata: InNamespace,
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
  metadata: InNamespace,
  subsets: z.array(z.looseObject({ addresses: Addresses.optional(), notReadyAddresses: Addresses.optional() })).optional(),
})

const NodeObject = z.looseObject({
  metadata: Metadata,
  spec: z.looseObject({}).optional(),
  status: z.looseObject({ conditions: z.array(Condition).optional() }).optional(),
})

/** @throws z.ZodError where `raw` is no Pod; the other parsers throw it for their kinds */
export function parsePod(raw: unknown): StoredPod {
  return Pod.parse(withoutNulls(raw)) as unknown as StoredPod
}

export function parseService(raw: unknown): Service {
  return ServiceObject.parse(withoutNulls(raw)) as unknown as Service
}

export function parseSlice(raw: unknown): StoredSlice {
  return Slice.parse(withoutNulls(raw)) as unknown as StoredSlice
}

export function parseEndpoints(raw: unknown): StoredEndpoints {
  return Endpoints.parse(withoutNulls(raw)) as unknown as StoredEndpoints
}

export function parseNode(raw: unknown): StoredNode {
  return NodeObject.parse(withoutNulls(raw)) as unknown as StoredNode
}

/**
 * Removes nulls. Go writes an empty list as null where the field has no `omitempty`, such as the endpoints of an EndpointSlice. Returns the
 * value itself where it has none.
 */
export function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !hasNull(value)) return value
  if (Array.isArray(value)) return value.map(withoutNulls)
  return Object.fromEntries(Object.entries(value).flatMap(([name, part]) => (part === null ? [] : [[name, withoutNulls(part)]])))
}

/** Nulls in a list stay. */
function hasNull(value: object): boolean {
  if (Array.isArray(value)) return value.some((part) => typeof part === 'object' && part !== null && hasNull(part))
  for (const name in value) {
    const part = (value as Record<string, unknown>)[name]
    if (part === null || (typeof part === 'object' && hasNull(part!))) return true
  }
  return false
}
