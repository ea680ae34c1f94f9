import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { Refusal, WorkloadRef } from '../plan/plan.ts'
import type { Reason } from '../reasons/reason.ts'
import { imageChanges, templateContainers } from './pod-template.ts'
import type { Kind, Through } from './kinds/kind.ts'
import type { MadeRecord, WorkloadRecord } from './records.ts'
import { displayName } from '../pods/workload-id.ts'
import { templateDriftRefusal, templateDriftWarning } from './template-drift.ts'
import { checkImages, templateImages } from './wanted-images.ts'
import type { Assessment } from './workload.ts'

export interface PodsAloneWorld {
  kind: Pick<Kind, 'kind'>
  through: Pick<Through, 'kind'>
  ref: WorkloadRef
  workload: WorkloadRecord
  /** The objects that the workload's controller has made, such as ReplicaSets. */
  made: readonly MadeRecord[]
  acceptTemplateDrift: boolean
}

/** Assesses an upgrade of the pods of a workload whose template is never written, because a new template would roll out new pods. Pure. */
export function assessPodsAlone(world: PodsAloneWorld, asked: readonly ContainerImage[], pods: readonly PodView[]): Assessment {
  const { kind, through, ref, workload, acceptTemplateDrift } = world
  const owner = displayName(ref)
  const images = asked.length > 0 ? [...asked] : templateImages(workload.template, pods)
  const refusals = [
    ...stateRefusals(world),
    ...checkImages({ workload: owner }, asked, templateContainers(workload.template), pods),
  ]
  const warnings: Reason[] = []
  const change = imageChanges(workload.template, images)
  if (change.length > 0) {
    const drift = {
      owner,
      made: through.kind,
      by: kind.kind,
      images: change.map(({ container, from }) => ({ container, image: from })),
    }
    if (acceptTemplateDrift) warnings.push(templateDriftWarning(drift))
    else refusals.push(templateDriftRefusal(drift))
  }
  return { images, refusals, warnings }
}

function stateRefusals({ through, ref, workload, made }: PodsAloneWorld): Refusal[] {
  const owner = displayName(ref)
  if (workload.deleting) return [{ code: 'workload-deleting', workload: owner }]
  if (workload.paused) {
    return [
      {
        code: 'workload-paused',
        workload: owner,
        resume: { command: 'kubectl', namespace: ref.namespace, args: ['rollout', 'resume', owner] },
      },
    ]
  }
  const active = made.filter((one) => one.active).map(({ name }) => name)
  const { generation, observedGeneration, updatedReplicas: updated, replicas } = workload
  const because: Reason | undefined =
    observedGeneration < generation
      ? { code: 'controller-behind', generation, observed: observedGeneration }
      : active.length > 1
        ? { code: 'pods-of-several', made: through.kind, names: active.sort() }
        : updated < replicas
          ? { code: 'pods-behind-template', updated, replicas }
          : undefined
  if (because === undefined) return []
  return [
    {
      code: 'rollout-in-progress',
      workload: owner,
      because,
      watch: { command: 'kubectl', namespace: ref.namespace, args: ['rollout', 'status', owner] },
    },
  ]
}
