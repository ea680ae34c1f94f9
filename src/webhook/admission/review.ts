import { z } from 'zod'
import type { EndpointsKind } from '../cluster/cluster-view.ts'

const LONGEST_NAME = 1024
const name = z.string().max(LONGEST_NAME)

/* An AdmissionReview as the API server sends it. Anybody may call the server, so nothing in it is taken for granted. */
const REVIEW = z.object({
  apiVersion: z.literal('admission.k8s.io/v1'),
  kind: z.literal('AdmissionReview'),
  request: z.object({
    uid: z.string().min(1).max(256),
    resource: z.object({ group: name, version: name, resource: name }),
    subResource: name.optional(),
    name: name.optional(),
    namespace: name.optional(),
    operation: z.enum(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
    userInfo: z.object({ username: name.optional(), groups: z.array(name).optional() }).optional(),
    object: z.unknown(),
    oldObject: z.unknown(),
    dryRun: z.boolean().nullish(),
  }),
})

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'

/** The question of the API server about one write. */
export interface AdmissionRequest {
  readonly uid: string
  /** The kind of the object. Undefined for a kind that the webhook does not decide about. */
  readonly kind: EndpointsKind | undefined
  readonly subResource: string | undefined
  readonly operation: Operation
  readonly namespace: string
  /** The name of the object. Empty for a create whose name the API server generates. */
  readonly name: string
  readonly username: string
  readonly groups: readonly string[]
  readonly isDryRun: boolean
  readonly object: unknown
  readonly oldObject: unknown
}

const KINDS: Readonly<Record<string, EndpointsKind>> = {
  '/v1/endpoints': 'Endpoints',
  'discovery.k8s.io/v1/endpointslices': 'EndpointSlice',
}

/** Returns the request of a review; undefined where the value is no AdmissionReview v1. */
export function readReview(value: unknown): AdmissionRequest | undefined {
  const read = REVIEW.safeParse(value)
  if (!read.success) return undefined
  const {
    uid,
    resource,
    subResource,
    operation,
    namespace = '',
    name: given = '',
    userInfo,
    dryRun,
    ...objects
  } = read.data.request
  return {
    uid,
    kind: KINDS[`${resource.group}/${resource.version}/${resource.resource}`],
    subResource: subResource === '' ? undefined : subResource,
    operation,
    namespace,
    name: given,
    username: userInfo?.username ?? '',
    groups: userInfo?.groups ?? [],
    isDryRun: dryRun ?? false,
    object: objects.object,
    oldObject: objects.oldObject,
  }
}

/** The API server writes the uid before the objects. */
const UID_WITHIN_BYTES = 4096
const UID = /"request":\s*\{\s*"uid":\s*"([^"\\]{1,256})"/

/** Finds the uid in the text of a review without parsing it, for a server that has no time for more. */
export function findUid(body: Uint8Array): string | undefined {
  return UID.exec(Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, UID_WITHIN_BYTES)).toString('latin1'))?.[1]
}
