import type { KubeClient, PatchOperation } from '../../kube/client.ts'
import type { EndpointsKind } from '../cluster/cluster-view.ts'

/** The annotation that a touch changes. Its value is the time, for people. */
export const TOUCH_ANNOTATION = 'sluice.dev/touched-at'

export interface Touched {
  readonly kind: EndpointsKind | 'Service'
  readonly metadata: {
    readonly namespace: string
    readonly name: string
    readonly resourceVersion?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
}

export interface TouchOptions {
  client: KubeClient
  /** Milliseconds since 1970. */
  at: number
  /** Throws where the write is not to be made any more. Called right before the bytes leave. */
  assertMay(): void
}

const PATHS = {
  Service: (namespace: string) => `/api/v1/namespaces/${namespace}/services`,
  Endpoints: (namespace: string) => `/api/v1/namespaces/${namespace}/endpoints`,
  EndpointSlice: (namespace: string) => `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
} as const

const DEADLINE_MS = 5_000

/**
 * Changes the annotation. An object is touched in the version that was looked at, and not in another one. A Service is touched in any
 * version. Rejects with a KubeError; one of status 409 or 422 means that the object has changed.
 */
export async function touch({ kind, metadata }: Touched, { client, at, assertMay }: TouchOptions): Promise<void> {
  const { namespace, name, resourceVersion, annotations } = metadata
  const value = new Date(at).toISOString()
  const operations: PatchOperation[] = []
  if (kind !== 'Service' && resourceVersion !== undefined)
    operations.push({ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion })
  if (annotations === undefined || Object.keys(annotations).length === 0) {
    operations.push({ op: 'test', path: '/metadata/annotations', value: null })
    operations.push({ op: 'add', path: '/metadata/annotations', value: { [TOUCH_ANNOTATION]: value } })
  } else operations.push({ op: 'add', path: `/metadata/annotations/${TOUCH_ANNOTATION.replaceAll('/', '~1')}`, value })
  const path = `${PATHS[kind](encodeURIComponent(namespace))}/${encodeURIComponent(name)}`
  // A throttled write is not repeated: the next look decides anew.
  await client.patch(path, operations, { deadlineMs: DEADLINE_MS, once: true, beforeSend: assertMay })
}
