import type { ContainerImage } from '../pods/glossary.ts'
import { isOwnedBy, isSameWorkload } from '../pods/workload-id.ts'
import type { FormerTemplate, Ledger, LedgerWorkload } from './ledger.ts'

/** Returns the template of the workload itself as it was before the run; undefined where the run does not change it. */
export function ownTemplate(recorded: LedgerWorkload): FormerTemplate | undefined {
  return recorded.templates?.find(({ of }) => isSameWorkload(of, recorded))
}

/**
 * Returns the images that the template of a workload goes back to: the images that all pods of the run had, since GitOps or a failed run
 * may have changed the template. Where pods had different images, or pods beside the run have others, the former template decides.
 * @param beside the images of pods of the workload that the run does not cover
 * @returns the images without containers of which nothing is known
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
