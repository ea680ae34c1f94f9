import { journalOf } from '../journal/journal.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import { openJournal } from '../pods/open-journal.ts'
import type { Refusal } from '../plan/plan.ts'
import type { Subject } from '../reasons/refusals.ts'
import { type TemplateContainers, templateContainers } from './pod-template.ts'

export interface WantedImages {
  images: ContainerImage[]
  refusals: Refusal[]
}

/** Pods that an upgrade is about: one that is going away, or has finished, will not be patched. */
export function livePods(pods: readonly PodView[]): PodView[] {
  return pods.filter(({ deleting, finished }) => !deleting && !finished)
}

/**
 * The template's own images, of those containers that some pod runs with another one, or did before a run that has left it
 * half done: else the same command, gone on with, would be another request once all that is left is patched already.
 */
export function templateImages(template: unknown, pods: readonly PodView[]): ContainerImage[] {
  const present = livePods(pods).flatMap(({ containers }) => containers)
  const former = pods.flatMap((pod) => openJournal(journalOf(pod))?.baseline ?? [])
  const known = [...present, ...former]
  return templateContainers(template).containers.flatMap(({ name, image }) => {
    const differs = known.some((one) => one.name === name && one.image !== image)
    return image !== undefined && differs ? [{ container: name, image }] : []
  })
}

/** Checks that the template (where there is one) and every pod have the containers that were asked for. */
export function checkImages(
  of: Subject,
  asked: readonly ContainerImage[],
  template: TemplateContainers | undefined,
  pods: readonly PodView[],
): Refusal[] {
  const twice = asked.find(({ container }, index) => asked.findIndex((other) => other.container === container) < index)
  const refusals: Refusal[] = twice
    ? [
        {
          code: 'container-twice',
          container: twice.container,
        },
      ]
    : []
  for (const container of new Set(asked.map((one) => one.container))) {
    const wrong = template && checkContainer(of, container, template)
    if (wrong) refusals.push(wrong)
    else refusals.push(...checkPods(container, livePods(pods)))
  }
  return refusals
}

/** One refusal for all the pods that lack the container in the same way. */
function checkPods(container: string, pods: readonly PodView[]): Refusal[] {
  const groups = Map.groupBy(pods, ({ containers, initContainers }) =>
    JSON.stringify([containers.map(({ name }) => name), initContainers.includes(container)]),
  )
  return [...groups.values()].flatMap(
    (group) => checkContainer({ pods: group.map(({ name }) => name) }, container, group[0]!) ?? [],
  )
}

function checkContainer(
  of: Subject,
  container: string,
  { containers, initContainers }: { containers: readonly { name: string }[]; initContainers: readonly string[] },
): Refusal | undefined {
  if (containers.some(({ name }) => name === container)) return undefined
  const known = containers.map(({ name }) => name)
  return { code: initContainers.includes(container) ? 'init-container' : 'unknown-container', of, container, known }
}
