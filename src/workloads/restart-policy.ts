import { journalOf } from '../journal/journal.ts'
import { asksFor } from '../pods/baseline.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import { isOpen } from '../pods/open-journal.ts'
import type { Refusal } from '../plan/plan.ts'
import { livePods } from './wanted-images.ts'

/**
 * Found by reading: the kubelet does start the container of a changed spec, but where the new image cannot be had at that moment, the
 * pod is at its end, and nothing makes it anew. Not of what is half done: that would stay out.
 */
export function restartPolicyRefusals(asked: readonly ContainerImage[], pods: readonly PodView[]): Refusal[] {
  const concerned = livePods(pods).filter((pod) => !isOpen(journalOf(pod)) && !asksFor(pod, asked))
  const byPolicy = Map.groupBy(concerned, ({ restartPolicy }) => restartPolicy)
  return Array.from(byPolicy).flatMap(([policy, some]): Refusal[] => {
    if (policy === undefined) return []
    return [{ code: 'restart-policy', pods: some.map(({ name }) => name), policy }]
  })
}
