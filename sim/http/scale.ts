import type { ApiAnswer, ApiRequest, KubeObject } from '../api-server/server.ts'
import { SCALABLE } from './discovery.ts'

const SCALE = /^(\/apis\/apps\/v1\/namespaces\/[^/]+\/([a-z]+)\/[^/]+)\/scale(\?.*)?$/

/** Answers requests of the scale subresource: a view of the replicas of an object. */
export function scaleAnswer(request: ApiRequest, handle: (request: ApiRequest) => ApiAnswer): ApiAnswer | undefined {
  const [, object = '', plural = '', query = ''] = SCALE.exec(request.path) ?? []
  if (!SCALABLE.has(plural)) return undefined
  const whole = handle({ ...request, ...asPatch(request), path: object + query })
  return whole.status === 200 ? { ...whole, text: JSON.stringify(scaleOf(JSON.parse(whole.text) as Scalable)) } : whole
}

/** Turns a replacement into a patch of the replicas, on the version that the client has read. */
function asPatch({ method, headers, body = '{}' }: ApiRequest): Partial<ApiRequest> {
  if (method !== 'PUT') return {}
  const { metadata, spec } = JSON.parse(body) as Partial<Scalable>
  const resourceVersion = metadata?.resourceVersion
  const patch = { metadata: resourceVersion === undefined ? {} : { resourceVersion }, spec: { replicas: spec?.replicas } }
  const type = { 'content-type': 'application/merge-patch+json' }
  return { method: 'PATCH', headers: { ...headers, ...type }, body: JSON.stringify(patch) }
}

interface Scalable extends KubeObject {
  spec: { replicas?: number; selector?: { matchLabels?: Record<string, string> } }
  status?: { replicas?: number }
}

function scaleOf({ metadata, spec, status }: Scalable): unknown {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata
  const labels = Object.entries(spec.selector?.matchLabels ?? {})
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: spec.replicas ?? 1 },
    status: { replicas: status?.replicas ?? 0, selector: labels.map(([key, value]) => `${key}=${value}`).join(',') },
  }
}
