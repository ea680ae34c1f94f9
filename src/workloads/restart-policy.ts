import { journalOf } from '../journal/journal.ts'
import { asksFor } from '../pods/baseline.ts'
import type { ContainerImage, PodView } from '../pods/glossary.ts'
import { isOpen } from '../pods/open-journal.ts'
import type { Refusal } from '../plan/plan.ts'
import { livePods } from './wanted-images.ts'

/**
 * Refuses pods whose restart policy is not Always. The kubelet starts the container of a changed spec, but if the new image is not
 * available at that moment, the pod is finished, and no controller replaces it. Half-done pods are not refused, because they would stay out
 * of rotation.
 */
export function restartPolicyRefusals(asked: readonly ContainerImage[], pods: readonly PodView[]): Refusal[] {
  const concerned = livePods(pods).filter((pod) => !isOpen(journalOf(pod)) && !asksFor(pod, asked))
  const byPolicy = Map.groupBy(concerned, ({ restartPolicy }) => restartPolicy)
  return Array.from(byPolicy).flatMap(([policy, some]): Refusal[] => {
    if (policy === undefined) return []
    return [{ code: 'restart-policy', pods: some.map(({ name }) => name), policy }]
  })
}
