import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { Refusal, WorkloadRef } from '../plan/plan.ts'
import { deletingRefusal } from './gone.ts'
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
  /** What this workload has made. */
  made: readonly MadeRecord[]
  acceptTemplateDrift: boolean
}

/** What an upgrade of such a workload's pods would take; pure. Its template is never touched: that would roll out new pods. */
export function assessPodsAlone(world: PodsAloneWorld, asked: readonly ContainerImage[], pods: readonly PodView[]): Assessment {
  const { kind, through, ref, workload, acceptTemplateDrift } = world
  const owner = displayName(ref)
  const images = asked.length > 0 ? [...asked] : templateImages(workload.template, pods)
  const refusals = [...stateRefusals(world), ...checkImages(owner, asked, templateContainers(workload.template), pods)]
  const warnings: string[] = []
  const change = imageChanges(workload.template, images)
  if (change.length > 0) {
    const drift = {
      owner,
      because: `a change of the template of a ${kind.kind} makes a new ${through.kind}, which replaces every pod without a drain`,
      images: change.map(({ container, from }) => `${container} stays ${from}`).join(', '),
    }
    if (acceptTemplateDrift) warnings.push(templateDriftWarning(drift))
    else refusals.push(templateDriftRefusal(drift))
  }
  return { images, refusals, warnings }
}

function stateRefusals({ through, ref, workload, made }: PodsAloneWorld): Refusal[] {
  const owner = displayName(ref)
  if (workload.deleting) return [deletingRefusal(owner)]
  if (workload.paused) {
    return [
      {
        code: 'workload-paused',
        message: `${owner} is paused: whoever resumes it may start a rollout that replaces the pods`,
        hint: 'Resume it, and run again once its rollout is over.',
        command: `kubectl -n ${ref.namespace} rollout resume ${owner}`,
      },
    ]
  }
  const active = made.filter((one) => one.active).map(({ name }) => name)
  const why =
    workload.observedGeneration < workload.generation
      ? `its controller has not observed generation ${workload.generation} yet (it is at ${workload.observedGeneration})`
      : active.length > 1
        ? `it has pods of ${active.length} ${through.kind}s (${active.sort().join(', ')})`
        : workload.updatedReplicas < workload.replicas
          ? `${workload.updatedReplicas} of its ${workload.replicas} pods are of its newest template`
          : undefined
  if (why === undefined) return []
  return [
    {
      code: 'rollout-in-progress',
      message: `${owner} is in the middle of a rollout, which replaces pods: ${why}`,
      hint: 'Wait for its end.',
      command: `kubectl -n ${ref.namespace} rollout status ${owner}`,
    },
  ]
}
