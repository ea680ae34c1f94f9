import { hasSelector } from '../../endpoints/selectors.ts'
import { SLICE_CONTROLLER, SLICE_MANAGED_BY } from '../../endpoints/endpoint-labels.ts'
import { field, stringField } from '../../kube/json.ts'
import type { ClusterView } from '../cluster/cluster-view.ts'
import type { Answer } from '../decide/question.ts'

/** The mark of an object that rules have altered. A second look takes back what rules no longer want from a marked object alone. */
export const APPLIED_ANNOTATION = 'sluice.dev/rules-applied'

/** The mark that an object is to have once it is stored: `true`, or none. An object that no second look looks at stays as it is. */
export function markOf(
  object: unknown,
  { decision, patch }: Pick<Answer, 'decision' | 'patch'>,
  cluster: ClusterView,
): Record<string, string | undefined> {
  if (!isLookedAt(object, decision, cluster)) return {}
  return { [APPLIED_ANNOTATION]: patch.length > 0 ? 'true' : undefined }
}

/**
 * A controller of Kubernetes makes the object for the selector of a Service. Endpoints of other Services are mirrored with their annotations,
 * and the mirroring controller writes a slice whose annotations are others.
 */
function isLookedAt(object: unknown, { kind, namespace, service }: Answer['decision'], cluster: ClusterView): boolean {
  if (kind === 'EndpointSlice')
    return stringField(field(field(object, 'metadata'), 'labels'), SLICE_MANAGED_BY) === SLICE_CONTROLLER
  const found = service === undefined ? undefined : cluster.service(namespace, service)
  return found === undefined || hasSelector(found)
}

/** Rules have altered the object as it is stored. */
export function isMarked({ metadata }: { readonly metadata: object }): boolean {
  return stringField(field(metadata, 'annotations'), APPLIED_ANNOTATION) === 'true'
}
