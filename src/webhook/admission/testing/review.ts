import type { EndpointsKind } from '../../cluster/cluster-view.ts'
import type { Operation } from '../review.ts'

export interface ReviewOptions {
  kind?: EndpointsKind
  resource?: { group: string; version: string; resource: string }
  uid?: string
  namespace?: string
  name?: string
  operation?: Operation
  subResource?: string
  username?: string
  dryRun?: boolean
  object?: unknown
  oldObject?: unknown
}

const RESOURCES = {
  Endpoints: { group: '', version: 'v1', resource: 'endpoints' },
  EndpointSlice: { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' },
}

/** An AdmissionReview as the API server sends it. */
export function review(options: ReviewOptions = {}) {
  const { kind = 'EndpointSlice', uid = 'u-1', namespace = 'shop', name = 'web', operation = 'UPDATE', object = {} } = options
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: { group: '', version: 'v1', kind },
      resource: options.resource ?? RESOURCES[kind],
      ...(options.subResource !== undefined && { subResource: options.subResource }),
      name,
      namespace,
      operation,
      userInfo: { username: options.username ?? 'system:serviceaccount:kube-system:endpointslice-controller', groups: [] },
      object: operation === 'DELETE' ? null : object,
      oldObject: options.oldObject ?? null,
      dryRun: options.dryRun ?? false,
    },
  }
}
