import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { Refusal, WorkloadRef } from '../plan/plan.ts'
import type { Reason } from '../reasons/reason.ts'
import { imageChanges, templateContainers, withImages } from './pod-template.ts'
import type { RevisionRecord, WorkloadRecord } from './records.ts'
import { displayName } from '../pods/workload-id.ts'
import { type Difference, differences } from './template-difference.ts'
import { ON_DELETE, updateStrategyRefusal } from './update-strategy.ts'
import { checkImages, livePods, templateImages } from './wanted-images.ts'
import type { Assessment } from './workload.ts'

export interface RevisionedWorld {
  ref: WorkloadRef
  workload: WorkloadRecord
  /** The revisions of the workload, by the value of the label on their pods. */
  revisions: ReadonlyMap<string, RevisionRecord>
}

/** Assesses an upgrade of the pods of a StatefulSet or DaemonSet. Pure. */
export function assessRevisioned(
  { ref, workload, revisions }: RevisionedWorld,
  asked: readonly ContainerImage[],
  pods: readonly PodView[],
): Assessment {
  const owner = displayName(ref)
  const containers = templateContainers(workload.template)
  const images = asked.length > 0 ? [...asked] : templateImages(workload.template, pods)
  const refusals: Refusal[] = []
  if (workload.deleting) refusals.push({ code: 'workload-deleting', workload: owner })
  if (workload.updateStrategy !== ON_DELETE) refusals.push(updateStrategyRefusal(ref, workload.updateStrategy))
  const wrongImages = checkImages({ workload: owner }, asked, containers, pods)
  refusals.push(...wrongImages)
  // If a container does not exist, the target template does not exist either.
  if (wrongImages.length > 0) return { images, refusals, warnings: [] }

  const target = withImages(workload.template, images)
  const { lies, warnings } = compareWithTarget({ owner, revisions, target, images }, livePods(pods))
  refusals.push(...lies)
  const change = imageChanges(workload.template, images)
  if (change.length === 0) return { images, refusals, warnings }
  const count = livePods(pods).length
  if (count < workload.replicas) {
    warnings.push({ code: 'part-of-workload', workload: owner, pods: count, replicas: workload.replicas })
  }
  return { images, template: { workload: ref, change }, refusals, warnings }
}

interface Comparison {
  owner: string
  revisions: ReadonlyMap<string, RevisionRecord>
  /** The template with the wanted images. */
  target: unknown
  images: readonly ContainerImage[]
}

/**
 * A pod with the label of the update revision counts as updated, even if it lacks other changes of the template. So the revision that the
 * pod was made from may differ from the target only in images that the pod runs or is about to run.
 */
function compareWithTarget(comparison: Comparison, pods: readonly PodView[]): { lies: Refusal[]; warnings: Reason[] } {
  const { owner, revisions, target, images } = comparison
  const upgraded = new Set(images.map(({ container }) => container))
  const targetImages = new Map(templateContainers(target).containers.map(({ name, image }) => [name, image]))
  const unknown: PodView[] = []
  const different = new Map<string, { found: Difference[]; pods: PodView[] }>()
  const strange = new Map<string, { name: string; image: string; wanted: string | undefined; pods: string[] }>()

  for (const [label, group] of Map.groupBy(pods, ({ revision }) => revision)) {
    const revision = label === undefined ? undefined : revisions.get(label)
    if (revision === undefined) {
      unknown.push(...group)
      continue
    }
    const all = differences(revision.template, target, 'spec.template')
    for (const pod of group) {
      const right = pod.containers.filter(({ name, image }) => upgraded.has(name) || image === targetImages.get(name))
      const harmless = new Set(right.map(({ name }) => imagePath(name)))
      const found = all.filter(({ path }) => !harmless.has(path))
      if (found.length > 0) {
        const same = getOrAdd(different, JSON.stringify(found), () => ({ found, pods: [] }))
        same.pods.push(pod)
        continue
      }
      for (const { name, image } of pod.containers.filter((one) => !right.includes(one) && targetImages.has(one.name))) {
        const wanted = targetImages.get(name)
        const key = JSON.stringify([name, image, wanted])
        getOrAdd(strange, key, () => ({ name, image, wanted, pods: [] })).pods.push(pod.name)
      }
    }
  }

  const lies = [...different.values()].map((group) => differentRevision(owner, group, images))
  return {
    lies: unknown.length > 0 ? [unknownRevision(owner, unknown), ...lies] : lies,
    warnings: [...strange.values()].map(({ name: container, image, wanted, pods: some }) => ({
      code: 'other-image-stays',
      pods: some,
      workload: owner,
      container,
      image,
      ...(wanted === undefined ? {} : { templateImage: wanted }),
    })),
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const present = map.get(key)
  if (present !== undefined) return present
  const made = make()
  map.set(key, made)
  return made
}

function unknownRevision(workload: string, pods: readonly PodView[]): Refusal {
  const { revision } = pods[0]!
  return { code: 'revision-unknown', workload, pods: namesOf(pods), ...(revision === undefined ? {} : { revision }) }
}

function differentRevision(
  workload: string,
  { found, pods }: { found: readonly Difference[]; pods: readonly PodView[] },
  images: readonly ContainerImage[],
): Refusal {
  const others = found.flatMap(({ path, after }) => {
    const container = /\.containers\[([^\]]+)\]\.image$/.exec(path)?.[1]
    return container !== undefined && typeof after === 'string' ? [{ container, image: after }] : []
  })
  return {
    code: 'revision-differs',
    workload,
    pods: namesOf(pods),
    differences: [...found],
    ...(others.length === found.length ? { images: [...images, ...others] } : {}),
  }
}

function namesOf(pods: readonly PodView[]): string[] {
  return pods.map(({ name }) => name)
}

function imagePath(container: string): string {
  return `spec.template.spec.containers[${container}].image`
}
