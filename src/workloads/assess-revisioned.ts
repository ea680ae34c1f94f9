import type { ContainerImage, PodView } from '../pods/glossary.ts'
import type { Refusal, WorkloadRef } from '../plan/plan.ts'
import { podNames } from './pod-names.ts'
import { imageChanges, templateContainers, withImages } from './pod-template.ts'
import type { RevisionRecord, WorkloadRecord } from './records.ts'
import { deletingRefusal } from './gone.ts'
import { displayName } from '../pods/workload-id.ts'
import { type Difference, describeDifferences, differences } from './template-difference.ts'
import { ON_DELETE, updateStrategyRefusal } from './update-strategy.ts'
import { checkImages, livePods, templateImages } from './wanted-images.ts'
import { imageWords } from '../pods/image-words.ts'
import type { Assessment } from './workload.ts'

export interface RevisionedWorld {
  ref: WorkloadRef
  workload: WorkloadRecord
  /** The revisions of this workload, by the value of the label that their pods carry. */
  revisions: ReadonlyMap<string, RevisionRecord>
}

/** What an upgrade of a StatefulSet's or DaemonSet's pods would take; pure. */
export function assessRevisioned(
  { ref, workload, revisions }: RevisionedWorld,
  asked: readonly ContainerImage[],
  pods: readonly PodView[],
): Assessment {
  const owner = displayName(ref)
  const containers = templateContainers(workload.template)
  const images = asked.length > 0 ? [...asked] : templateImages(workload.template, pods)
  const refusals: Refusal[] = []
  if (workload.deleting) refusals.push(deletingRefusal(owner))
  if (workload.updateStrategy !== ON_DELETE) refusals.push(updateStrategyRefusal(ref, workload.updateStrategy))
  const wrongImages = checkImages(owner, asked, containers, pods)
  refusals.push(...wrongImages)
  // With a container that does not exist, a target to compare with does not exist either.
  if (wrongImages.length > 0) return { images, refusals, warnings: [] }

  const target = withImages(workload.template, images)
  const { lies, warnings } = compareWithTarget({ owner, revisions, target, images }, livePods(pods))
  refusals.push(...lies)
  const change = imageChanges(workload.template, images)
  if (change.length === 0) return { images, refusals, warnings }
  const count = livePods(pods).length
  if (count < workload.replicas) {
    warnings.push(
      `${owner}: this run has ${count} of its ${workload.replicas} pods; ` +
        'the others keep their images until they are upgraded or recreated, and then get the new ones',
    )
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
 * The revision label can lie. A pod that gets the label of the update revision counts as updated, whatever else of
 * the template it lacks: so the revision it was made from and the target may differ in nothing but images that the
 * pod runs, or is about to.
 */
function compareWithTarget(comparison: Comparison, pods: readonly PodView[]): { lies: Refusal[]; warnings: string[] } {
  const { owner, revisions, target, images } = comparison
  const upgraded = new Set(images.map(({ container }) => container))
  const targetImages = new Map(templateContainers(target).containers.map(({ name, image }) => [name, image]))
  const unknown: PodView[] = []
  const different = new Map<string, { found: Difference[]; pods: PodView[] }>()
  const strange = new Map<string, { name: string }[]>()

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
        const same = getOrAdd(different, describeDifferences(found), () => ({ found, pods: [] }))
        same.pods.push(pod)
        continue
      }
      for (const { name, image } of pod.containers.filter((one) => !right.includes(one) && targetImages.has(one.name))) {
        const wanted = targetImages.get(name)
        const text = `container ${name} runs ${image} where the template of ${owner} has ${wanted}; it is left as it is`
        getOrAdd(strange, text, () => []).push(pod)
      }
    }
  }

  const lies = [...different].map(([description, group]) => differentRevision(owner, description, group, images))
  return {
    lies: unknown.length > 0 ? [unknownRevision(owner, unknown), ...lies] : lies,
    warnings: [...strange].map(([text, group]) => `${podNames(group)}: ${text}`),
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const present = map.get(key)
  if (present !== undefined) return present
  const made = make()
  map.set(key, made)
  return made
}

/** Found by a fresh user: it was told to delete the pods, and not what that does to their requests. */
const COST = 'A pod that is deleted restarts without a drain, and may come back at another address.'

function unknownRevision(owner: string, pods: readonly PodView[]): Refusal {
  return {
    code: 'revision-unknown',
    message: `${podNames(pods)}: no ControllerRevision of ${owner} is known under the label controller-revision-hash (${pods[0]!.revision ?? 'missing'}), so what else of the template would change cannot be told`,
    hint: `Delete the ${pods.length === 1 ? 'pod' : 'pods'} to have them recreated from the template of ${owner}. ${COST}`,
  }
}

function differentRevision(
  owner: string,
  description: string,
  { found, pods }: { found: readonly Difference[]; pods: readonly PodView[] },
  images: readonly ContainerImage[],
): Refusal {
  const others = found.flatMap(({ path, after }) => {
    const container = /\.containers\[([^\]]+)\]\.image$/.exec(path)?.[1]
    return container !== undefined && typeof after === 'string' ? [{ container, image: after }] : []
  })
  const onlyImages = others.length === found.length
  const command = imageWords([...images, ...others])
  return {
    code: 'revision-differs',
    message: `${podNames(pods)}: the template of ${owner} differs from what they were made from in more than the images of this upgrade, and they would count as updated without it: ${description}`,
    hint: onlyImages
      ? `Upgrade these images too: ${command}`
      : `A pod takes such a change only when it is recreated: take it back in the template, or delete the pods to have it. ${COST}`,
  }
}

function imagePath(container: string): string {
  return `spec.template.spec.containers[${container}].image`
}
