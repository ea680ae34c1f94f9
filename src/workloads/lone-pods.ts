import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { Refusal } from '../plan/plan.ts'
import { POD, pod } from './kinds/pod.ts'
import { refOf } from './kinds/ref.ts'
import { foreignOwnerRefusal } from './foreign-owner.ts'
import type { Ownership, OwnedPod } from './owner.ts'
import { displayName } from '../pods/workload-id.ts'
import type { Reason } from '../reasons/reason.ts'
import { restartPolicyRefusals } from './restart-policy.ts'
import type { TemplateDrift } from './template-drift.ts'
import { templateDriftRefusal, templateDriftWarning } from './template-drift.ts'
import { checkImages } from './wanted-images.ts'
import type { Assessment, Workload } from './workload.ts'

/** Pods without a known workload above them: one bare pod, or the pods of a foreign controller. */
export interface LonePods {
  /** At least one pod. Several pods have a foreign owner in common, and are refused together. */
  pods: readonly OwnedPod[]
  ownership: Exclude<Ownership, { type: 'workload' }>
  acceptTemplateDrift: boolean
}

/** Nothing is watched, prepared or counted for these pods, because no workload is above them. */
export function lonePods({ pods, ownership, acceptTemplateDrift }: LonePods): Workload {
  const [first] = pods
  const { name, namespace, uid } = first!
  const ref = refOf(POD, name, namespace)

  function assess(asked: readonly ContainerImage[], observed: readonly PodView[]): Assessment {
    const images = [...asked]
    if (ownership.type === 'foreign') {
      return { images, refusals: [foreignOwnerRefusal(pods, ownership.owner)], warnings: [] }
    }
    const refusals: Refusal[] = [
      ...checkImages({ workload: displayName(ref) }, asked, undefined, observed),
      ...restartPolicyRefusals(asked, observed),
    ]
    const warnings: Reason[] = []
    if (asked.length === 0) refusals.push({ code: 'no-image', pod: name })
    if (ownership.type === 'parentless') {
      const { kind: made, name: maker } = ownership.owner
      const drift: TemplateDrift = { pod: name, owner: `${made.toLowerCase()}/${maker}`, made, images: [] }
      if (acceptTemplateDrift) warnings.push(templateDriftWarning(drift))
      else refusals.push(templateDriftRefusal(drift))
    }
    return { images, refusals, warnings }
  }

  return {
    kind: pod,
    ref,
    uid,
    selector: {
      ...(pods.length === 1 ? { fieldSelector: `metadata.name=${name}` } : {}),
      selects: ({ name: named }) => pods.some((one) => one.name === named),
    },
    owns: ({ name: named, namespace: within, owner }) =>
      pods.some((one) => one.name === named && one.namespace === within && one.owner?.uid === owner?.uid),
    desired: () => undefined,
    minReadyMs: () => (ownership.type === 'parentless' ? ownership.minReadyMs : 0),
    counted: () => (ownership.type === 'parentless' ? ownership.counted : undefined),
    // Its owner may create a bare pod again under its name.
    replaces: () => true,
    assess,
    prepare: async (_images, { signal }) => signal.throwIfAborted(),
    putBack: async () => ({ kind: 'done' }),
    podOperations: () => [],
    hasRevision: () => true,
    onDrift: () => {},
    isCurrent: () => true,
    isBroken: () => false,
    onChange: () => {},
    refresh: async () => {},
    stop: async () => {},
  }
}
