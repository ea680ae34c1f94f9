import type { Adapter } from '../../../adapters/contract.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import type { Place } from './find-targets.ts'
import { plain } from './target-key.ts'

/**
 * Reports whether the recorded target and the found one are the same entry, whatever its address is by now.
 * @param adapterOf the adapter of the load balancer with that name; undefined where the config has none
 */
export function isSameEntry(
  before: JournalTarget,
  { loadBalancer, target }: Place,
  adapterOf: (name: string) => Pick<Adapter, 'entryOf'> | undefined,
): boolean {
  if (before.loadBalancer !== loadBalancer || before.scope !== target.scope) return false
  if (before.target === target.id) return true
  const adapter = adapterOf(loadBalancer)
  return adapter?.entryOf !== undefined && adapter.entryOf(plain(before)) === adapter.entryOf(target)
}
