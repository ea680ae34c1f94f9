import type { ClusterFlags } from './flags.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import { parseRequestTimeout } from './request-timeout.ts'
import { parseRef } from '../../library/request/selection.ts'
import { UsageError } from './usage-error.ts'

/** Parses the command line of a command that takes only workloads. Throws a UsageError with all mistakes. */
export function parseWorkloads(
  args: readonly string[],
  flags: Pick<ClusterFlags, 'requestTimeout'>,
): { refs: WorkloadId[]; requestTimeoutMs: number | undefined } {
  const problems: string[] = []
  const refs: WorkloadId[] = []
  for (const argument of args) {
    const parsed = parseRef(argument)
    if (parsed.ok) refs.push(parsed.ref)
    else problems.push(parsed.problem)
  }
  const requestTimeoutMs = parseRequestTimeout(flags.requestTimeout, problems)
  if (problems.length > 0) throw new UsageError(problems)
  return { refs, requestTimeoutMs }
}
