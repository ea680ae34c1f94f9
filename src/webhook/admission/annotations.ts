import type { PatchOperation } from '../../pods/patch-operation.ts'
import { field } from '../../kube/json.ts'

/** The annotation that a write changes which would otherwise change nothing. */
export const WRITE_ANNOTATION = 'sluice.dev/write'

/**
 * Changes an annotation of an object whose patch turns an update into nothing. Without it the resourceVersion would stay, and the
 * endpoints controller of some versions of Kubernetes then writes the object no more (src/endpoints/frozen-updates.ts). `uid` is that of
 * the request, and so differs from the stored value.
 */
export function moveOn(object: unknown, uid: string): PatchOperation {
  return addAnnotation(object, WRITE_ANNOTATION, uid)
}

/** `object` is what the operations before this one make. */
export function addAnnotation(object: unknown, name: string, value: string): PatchOperation {
  const annotations = field(field(object, 'metadata'), 'annotations')
  return typeof annotations === 'object' && annotations !== null
    ? { op: 'add', path: `/metadata/annotations/${escaped(name)}`, value }
    : { op: 'add', path: '/metadata/annotations', value: { [name]: value } }
}

/** For an annotation that the object has. */
export function removeAnnotation(name: string): PatchOperation {
  return { op: 'remove', path: `/metadata/annotations/${escaped(name)}` }
}

function escaped(name: string): string {
  return name.replaceAll('/', '~1')
}
