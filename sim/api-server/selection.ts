import type { Kind } from './kinds.ts'
import { fieldSelector, labelSelector, type Selects } from './selectors.ts'

/** Returns both selectors of a request. Undefined where every object is selected. @throws Refusal 400 */
export function selection(kind: Kind, query: URLSearchParams): Selects | undefined {
  const byLabels = labelSelector(query.get('labelSelector') ?? '')
  const byFields = fieldSelector(kind.resource, query.get('fieldSelector') ?? '')
  if (byLabels === undefined || byFields === undefined) return byLabels ?? byFields
  return (object) => byLabels(object) && byFields(object)
}
