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

/** The pods that an upgrade can patch: neither deleted nor finished. */
export function livePods(pods: readonly PodView[]): PodView[] {
  return pods.filter(({ deleting, finished }) => !deleting && !finished)
}

/**
 * The template's images of those containers that run another image in some pod, or did so before a half-done run. With the latter, a
 * repeated command stays the same request, even after every remaining pod is patched.
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

/** Checks that the template, if there is one, and every pod have the requested containers. */
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

/** One refusal for all pods with an identical lack. */
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
