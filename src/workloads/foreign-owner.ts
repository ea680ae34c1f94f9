import type { Refusal } from '../plan/plan.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import type { Owner } from './records.ts'

/** Why pods of a controller that sluice does not know are not touched. */
export function foreignOwnerRefusal(pods: readonly { name: string }[], owner: Owner): Refusal {
  const { kind, name, apiVersion } = owner
  return {
    code: 'unsupported-owner',
    pods: pods.map((pod) => pod.name),
    owner: { kind, name, apiVersion },
    upgrades: upgradesOf(owner),
  }
}

/** How the pods of this owner come to other images. */
function upgradesOf({ kind, apiVersion }: Owner): ReasonOf<'unsupported-owner'>['upgrades'] {
  if (apiVersion.startsWith('apps.kruise.io/')) return 'in-place-by-itself'
  if (apiVersion.startsWith('batch/')) return 'never'
  return kind === 'Node' ? 'by-manifest' : 'unknown'
}
