import type { KindName } from '../../pods/workload-id.ts'
import type { KindRight } from './kind.ts'

/** The rights that the mechanism `revisioned` needs for a kind. */
export function revisionedRights({ group, plural }: KindName): KindRight[] {
  return [
    {
      group,
      resource: plural,
      verbs: ['get', 'list', 'watch', 'patch'],
      isOfWorkload: true,
      why: 'The template is patched before the pods, so that a pod that is recreated comes back on the new images; get, to read back what a lost answer leaves open.',
    },
    {
      group: 'apps',
      resource: 'controllerrevisions',
      verbs: ['list', 'watch'],
      why: 'The template that a pod was made from: a pod that lacks more than images is not counted as updated.',
    },
  ]
}
