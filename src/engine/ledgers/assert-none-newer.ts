import { isNewer } from '../../journal/newer-version.ts'
import type { ReadLedger } from '../../journal/ledger.ts'
import { displayName, type WorkloadId } from '../../pods/workload-id.ts'
import { RunError } from '../errors.ts'

/**
 * Throws where a newer sluice has a run of the workloads on record, since the drains of that run are not known here. A ledger whose
 * workloads are unknown may be about any workload.
 */
export function assertNoneNewer(ledgers: readonly ReadLedger[], refs: readonly WorkloadId[]): void {
  const names = refs.map(displayName)
  for (const one of ledgers) {
    if (one.kind === 'read' || !isNewer(one.problem)) continue
    const { run, problem, workloads } = one
    const isOurs = workloads.length === 0 ? names.length > 0 : workloads.some((name) => names.includes(name))
    if (isOurs) throw new RunError('preflight', { code: 'ledger-of-newer-sluice', run, problem })
  }
}
