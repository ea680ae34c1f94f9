import type { Observation } from '../../machines/pod-upgrade/context.ts'
import { formerPod } from '../journal/former-pod.ts'
import type { Ledger, LedgerWorkload } from '../journal/ledger.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import { openJournal } from '../pods/open-journal.ts'

/**
 * What these pods of the workload have, which the run is not about; of one that is half done, what it was last in rotation on. One
 * that has all that the run asks for says nothing of what was before: it may have been made since.
 */
export function imagesBeside(run: Ledger, recorded: LedgerWorkload, pods: readonly Observation[]): ContainerImage[] {
  const isAsked = ({ container, image }: ContainerImage): boolean => {
    const asked = imagesAsked(run, recorded, container)
    return asked.length === 0 || asked.includes(image)
  }
  return pods.flatMap(({ pod, stored }) => {
    const all = pod.containers.map(({ name }) => ({ container: name }))
    const { images } = formerPod(pod, all, openJournal(stored))
    return images.every(isAsked) ? [] : images
  })
}

/** Several, where its pods were to get different ones, as in an undo. */
export function imagesAsked({ header: { workloads, images } }: Ledger, { uid }: LedgerWorkload, name: string): string[] {
  if (!workloads.some((one) => one.uid === uid)) return []
  return images.flatMap(({ container, image }) => (container === name ? [image] : []))
}
