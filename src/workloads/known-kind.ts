import { displayName, type WorkloadId } from '../pods/workload-id.ts'
import { WorkloadError } from './errors.ts'
import type { Kind } from './kinds/kind.ts'
import type { Kinds } from './kinds/kinds.ts'

/** The kind of the workload. Throws a WorkloadError if the process does not know it. */
export function knownKind(kinds: Pick<Kinds, 'kindOf'>, workload: WorkloadId): Kind {
  const kind = kinds.kindOf(workload)
  if (kind === undefined) throw new WorkloadError('invalid', { code: 'unknown-kind', workload: displayName(workload) })
  return kind
}
