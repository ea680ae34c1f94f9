import { field, stringField } from '../../kube/json.ts'
import type { AdmissionRequest } from './review.ts'

/** The namespaces that the webhook acts in. The rules cannot widen them. */
export interface Scope {
  readonly namespaces: ReadonlySet<string>
  /** The namespace of the webhook itself. */
  readonly own: string
}

export const SKIP_REASONS = ['kind', 'subresource', 'operation', 'namespace', 'api-server', 'not-ready', 'stale'] as const
/**
 * - `kind`: neither Endpoints nor EndpointSlices of `discovery.k8s.io/v1`.
 * - `subresource`, `operation`: no create and no update of the object itself.
 * - `namespace`: outside of the allow-list, kube-system, or the namespace of the webhook itself.
 * - `api-server`: the endpoints of `default/kubernetes`, by which webhooks and pods find the API server.
 * - `not-ready`: no rules are loaded yet, or the objects that rules look at are not listed yet.
 * - `stale`: the objects that rules look at have not been current for minutes, so that a decision might be wrong for ever.
 */
export type SkipReason = (typeof SKIP_REASONS)[number]

const SYSTEM = 'kube-system'
const SERVICE_LABEL = 'kubernetes.io/service-name'

/** The namespaces among these that no webhook may act in: kube-system, and its own. */
export function forbiddenNamespaces({ namespaces, own }: Scope): string[] {
  return [SYSTEM, own].filter((one) => namespaces.has(one))
}

/** The reason why the webhook leaves an object as its writer wishes. Undefined where the rules decide. */
export function skippedFor(request: AdmissionRequest, { namespaces, own }: Scope): SkipReason | undefined {
  const { kind, subResource, operation, namespace } = request
  if (kind === undefined) return 'kind'
  if (subResource !== undefined) return 'subresource'
  if (operation !== 'CREATE' && operation !== 'UPDATE') return 'operation'
  if (isApiServer(request)) return 'api-server'
  if (!namespaces.has(namespace) || namespace === SYSTEM || namespace === own) return 'namespace'
  return undefined
}

function isApiServer({ namespace, name, object, oldObject }: AdmissionRequest): boolean {
  if (namespace !== 'default') return false
  const names = [object, oldObject].flatMap((one) => {
    const metadata = field(one, 'metadata')
    return [stringField(metadata, 'name'), stringField(field(metadata, 'labels'), SERVICE_LABEL)]
  })
  return [name, ...names].includes('kubernetes')
}
