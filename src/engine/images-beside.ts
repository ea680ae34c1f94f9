import type { Observation } from '../../machines/pod-upgrade/context.ts'
import { formerPod } from '../journal/former-pod.ts'
import type { Ledger, LedgerWorkload } from '../journal/ledger.ts'
import type { ContainerImage } from '../pods/glossary.ts'
import { openJournal } from '../pods/open-journal.ts'

/**
 * The images of the workload's pods that the run is not about. For a half-done pod these are the images with which it was last in rotation.
 * A pod that has all images of the run tells nothing of the time before, unless another run has brought it there.
 * @param later the runs that began since, the newest first. Their records have the images before them
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

/** The images that the run asked for. There are several where its pods were to get different ones, as in an undo. */
export function imagesAsked({ header: { workloads, images } }: Ledger, { uid }: LedgerWorkload, name: string): string[] {
  if (!workloads.some((one) => one.uid === uid)) return []
  return images.flatMap(({ container, image }) => (container === name ? [image] : []))
}
