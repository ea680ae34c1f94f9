import type { Observation } from '../../machines/pod-upgrade/context.ts'
import { formerPod } from '../journal/former-pod.ts'
import type { Ledger, LedgerWorkload } from '../journal/ledger.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import { openJournal } from '../pods/open-journal.ts'

/**
 * What these pods of the workload have, which the run is not about; of one that is half done, what it was last in rotation on. One
 * that has all that the run asks for says nothing of what was before: it may have been made since, unless another run has brought it
 * there. Found by reading: one pod was upgraded, and then all; an undo of that took the template back too, which it had found so.
 * @param later runs that have begun since, the newest first. Found by reading: what they had made of a pod was taken for what it had
 */
export function imagesBeside(
  run: Ledger,
  recorded: LedgerWorkload,
  pods: readonly Observation[],
  later: readonly Ledger[] = [],
): ContainerImage[] {
  const isAsked = ({ container, image }: ContainerImage): boolean => {
    const asked = imagesAsked(run, recorded, container)
    return asked.length === 0 || asked.includes(image)
  }
  return pods.flatMap(({ pod, stored }) => {
    const since = later.findLast(({ entries }) => entries.get(pod.uid)?.before)?.entries.get(pod.uid)?.before?.images
    const all = pod.containers.map(({ name }) => ({ container: name }))
    const { images: last } = formerPod(pod, all, openJournal(stored))
    const images = last.map((one) => since?.find(({ container }) => container === one.container) ?? one)
    const isBroughtByAnother = since === undefined && stored.kind === 'read' && stored.journal.run !== run.header.run
    return images.every(isAsked) && !isBroughtByAnother ? [] : images
  })
}

/** Several, where its pods were to get different ones, as in an undo. */
export function imagesAsked({ header: { workloads, images } }: Ledger, { uid }: LedgerWorkload, name: string): string[] {
  if (!workloads.some((one) => one.uid === uid)) return []
  return images.flatMap(({ container, image }) => (container === name ? [image] : []))
}
