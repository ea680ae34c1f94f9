import type { ContainerImage } from '../pods/glossary.ts'
import type { Ledger, LedgerWorkload } from './ledger.ts'

/**
 * The images that the template of a workload goes back to: those that all pods of the run had, so that a template that
 * GitOps had changed before the run, or an earlier run that failed, is not taken for what worked. Where the pods had
 * different ones, it is what the template itself had.
 * @returns containers that nothing is known of are left out
 */
export function formerTemplate({ entries }: Ledger, { kind, name, before = [] }: LedgerWorkload): ContainerImage[] {
  const images = new Map<string, Set<string>>()
  const own = [...entries.values()].filter(({ owner }) => owner?.kind === kind && owner.name === name)
  for (const { container, image } of own.flatMap((entry) => entry.before?.images ?? []))
    images.set(container, (images.get(container) ?? new Set()).add(image))
  const containers = new Set([...images.keys(), ...before.map(({ container }) => container)])
  return Array.from(containers).flatMap((container): ContainerImage[] => {
    const [only, ...others] = images.get(container) ?? []
    const image = only !== undefined && others.length === 0 ? only : before.find((one) => one.container === container)?.image
    return image === undefined ? [] : [{ container, image }]
  })
}
