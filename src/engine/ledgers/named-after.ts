import type { PodView } from '../../pods/glossary.ts'

/** Its ReplicaSet may be gone with it, where the Deployment keeps few: then by the name, which is the Deployment's and a hash. */
export function isNamedAfter(deployment: string, { owner }: Pick<PodView, 'owner'>): boolean {
  return owner?.kind === 'ReplicaSet' && owner.name.replace(/-[^-]+$/, '') === deployment
}
