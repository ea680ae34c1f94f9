import { reasonOf } from '../engine/errors.ts'
import { isMissingRight, isNotFound, KubeError } from '../kube/errors.ts'
import { WorkloadError } from '../workloads/errors.ts'
import type { Skip } from './findings.ts'
import type { Read } from './gathered.ts'

/** The resource of a request, as a Role names it. */
export interface Asked {
  /** The name, such as `nodes` or `leases.coordination.k8s.io`. */
  resource: string
  namespace?: string
}

/** Reads a value, or the reason why it could not be read. Rejects with errors that sluice does not know. */
export async function reading<Value>(asked: Asked, read: () => Promise<Value>): Promise<Read<Value>> {
  try {
    return { ok: true, value: await read() }
  } catch (error) {
    if (!(error instanceof KubeError || error instanceof WorkloadError || isReflectorError(error))) throw error
    return { ok: false, because: whySkipped(asked, error) }
  }
}

function isReflectorError(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReflectorError'
}

const COLLECTION = /^\/(?:api\/v1|apis\/([^/]+)\/[^/]+)\/(?:namespaces\/([^/]+)\/)?([a-z]+)$/

/** The resource whose list failed, where `read` makes several lists. */
function listed(asked: Asked, error: unknown): Asked {
  const [, group, namespace, plural] = (error instanceof KubeError && COLLECTION.exec(error.path)) || []
  if (plural === undefined) return asked
  return { resource: group === undefined ? plural : `${plural}.${group}`, ...(namespace === undefined ? {} : { namespace }) }
}

function whySkipped(asked: Asked, error: unknown): Skip {
  const { resource, namespace } = listed(asked, error)
  if (error instanceof KubeError && isMissingRight(error.status, error.message))
    return { code: 'no-right', right: `list ${resource}`, ...(namespace === undefined ? {} : { namespace }) }
  // A list has status 404 only where the API server does not serve the kind.
  if (error instanceof KubeError && error.status === 404 && (isNotFound(error) || error.reason === undefined))
    return { code: 'not-served', resource }
  return { code: 'not-read', resource, because: reasonOf(error) }
}
