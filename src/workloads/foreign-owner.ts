import type { Refusal } from '../plan/plan.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import type { Owner } from './records.ts'

/** The refusal of pods whose controller sluice does not know. */
export function foreignOwnerRefusal(pods: readonly { name: string }[], owner: Owner): Refusal {
  const { kind, name, apiVersion } = owner
  return {
    code: 'unsupported-owner',
    pods: pods.map((pod) => pod.name),
    owner: { kind, name, apiVersion },
    upgrades: upgradesOf(owner),
  }
}

/** The way in which the pods of this owner get other images. */
function upgradesOf({ kind, apiVersion }: Owner): ReasonOf<'unsupported-owner'>['upgrades'] {
  if (apiVersion.startsWith('apps.kruise.io/')) return 'in-place-by-itself'
  if (apiVersion.startsWith('batch/')) return 'never'
  return kind === 'Node' ? 'by-manifest' : 'unknown'
}
