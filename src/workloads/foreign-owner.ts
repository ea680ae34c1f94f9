import type { Refusal } from '../plan/plan.ts'
import type { Owner } from './records.ts'

const KNOWN =
  'sluice upgrades pods without an owner, of StatefulSets and DaemonSets with the update strategy OnDelete, and of Deployments.'

/** Why pods of a controller that sluice does not know are not touched, and what to do instead. */
export function foreignOwnerRefusal(pods: string, owner: Owner): Refusal {
  const { why, hint } = explain(owner)
  return {
    code: 'unsupported-owner',
    message: `${pods}: owned by ${owner.kind} ${owner.name} (${owner.apiVersion}), ${why}`,
    hint,
  }
}

function explain({ kind, apiVersion, name }: Owner): { why: string; hint: string } {
  if (apiVersion.startsWith('apps.kruise.io/')) {
    return {
      why: 'whose controller upgrades pods in place by itself, and would undo a patch of the pods',
      hint: `Change the image in the template of ${kind} ${name}, and drain from its lifecycle hook (spec.lifecycle.inPlaceUpdate).`,
    }
  }
  if (apiVersion.startsWith('batch/')) {
    return {
      why: 'whose pods run to completion: a restart would begin their work anew',
      hint: 'Change the image in the template; the next pods have it.',
    }
  }
  if (kind === 'Node') {
    return {
      why: 'so it is a static pod, of which the API server has a mirror only',
      hint: `Change its manifest on the node ${name}.`,
    }
  }
  return { why: 'of which sluice does not know what it does to patched pods', hint: KNOWN }
}
