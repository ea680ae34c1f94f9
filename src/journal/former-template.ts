import type { ContainerImage } from '../pods/glossary.ts'
import { isOwnedBy, isSameWorkload } from '../pods/workload-id.ts'
import type { FormerTemplate, Ledger, LedgerWorkload } from './ledger.ts'

/** The template of the workload itself, as it was before the run; undefined where the run does not change it. */
export function ownTemplate(recorded: LedgerWorkload): FormerTemplate | undefined {
  return recorded.templates?.find(({ of }) => isSameWorkload(of, recorded))
}

/**
 * The images that the template of a workload goes back to: those that all pods of the run had, so that a template that
 * GitOps had changed before the run, or an earlier run that failed, is not taken for what worked. Where the pods had
 * different ones, it is what the template itself had; so it is where those beside them have others. Found by reading: a run about
 * the one pod that was behind was aborted, and the template got the images of that one, which no other had any more.
 * @param beside images of pods of the workload that the run is not about
 * @returns containers that nothing is known of are left out
 */
export function formerTemplate(
  { entries }: Ledger,
  recorded: LedgerWorkload,
  beside: readonly ContainerImage[] = [],
): ContainerImage[] {
  const before = ownTemplate(recorded)?.images ?? []
  const images = new Map<string, Set<string>>()
  const own = [...entries.values()].filter((entry) => isOwnedBy(entry, recorded))
  for (const { container, image } of own.flatMap((entry) => entry.before?.images ?? []))
    images.set(container, (images.get(container) ?? new Set()).add(image))
  const containers = new Set([...images.keys(), ...before.map(({ container }) => container)])
  return Array.from(containers).flatMap((container): ContainerImage[] => {
    const [only, ...others] = images.get(container) ?? []
    const isOfAll = others.length === 0 && beside.every((one) => one.container !== container || one.image === only)
    const image = only !== undefined && isOfAll ? only : before.find((one) => one.container === container)?.image
    return image === undefined ? [] : [{ container, image }]
  })
}
