import type { Adapter } from '../../../adapters/contract.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import type { Place } from './find-targets.ts'
import { plain } from './target-key.ts'

/**
 * What is on record, and what was found, are one entry, whatever address it has by now.
 * @param adapterOf of the load balancer of that name; undefined where the config has none
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
