import type { PatchOperation } from '../../pods/patch-operation.ts'
import { field, stringField } from '../../kube/json.ts'

/** The annotation that a write changes which would otherwise change nothing. */
export const WRITE_ANNOTATION = 'sluice.dev/write'

/**
 * Changes an annotation of an object whose patch turns an update into nothing. Without it the resourceVersion would stay, and the
 * endpoints controller of some versions of Kubernetes then writes the object no more (src/endpoints/frozen-updates.ts). `uid` is that of
 * the request, and so differs from the stored value.
 */
export function moveOn(object: unknown, uid: string): PatchOperation[] {
  return annotate(object, { [WRITE_ANNOTATION]: uid })
}

/**
 * The operations after which the object has these annotations, and none of a name whose value is undefined. Empty where it is so already. All
 * annotations of one object take one call: the first annotation of an object makes its map anew.
 */
export function annotate(object: unknown, wanted: Readonly<Record<string, string | undefined>>): PatchOperation[] {
  const annotations = field(field(object, 'metadata'), 'annotations')
  const changes = Object.entries(wanted).filter(([name, value]) => stringField(annotations, name) !== value)
  if (typeof annotations === 'object' && annotations !== null)
    return changes.map(([name, value]): PatchOperation => {
      const path = `/metadata/annotations/${name.replaceAll('/', '~1')}`
      return value === undefined ? { op: 'remove', path } : { op: 'add', path, value }
    })
  return changes.length === 0 ? [] : [{ op: 'add', path: '/metadata/annotations', value: Object.fromEntries(changes) }]
}
