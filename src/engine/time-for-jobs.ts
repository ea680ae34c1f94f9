import { RunError } from './errors.ts'
import type { LoadBalancer } from './request.ts'
import type { RunSettings } from './settings.ts'

type Deadlines = Pick<RunSettings, 'drainDeadlineMs' | 'restoreDeadlineMs'>

/**
 * A change that was accepted is waited for, and a deadline that comes sooner would call a healthy one failed.
 * @throws RunError of kind `preflight`
 */
export function assertTimeForJobs(
  loadBalancers: readonly LoadBalancer[],
  { drainDeadlineMs, restoreDeadlineMs }: Deadlines,
): void {
  const deadlines = [
    { name: 'drain.deadline', ms: drainDeadlineMs },
    { name: 'deadlines.restore', ms: restoreDeadlineMs },
  ]
  for (const { name, adapter } of loadBalancers) {
    const { longestJobMs } = adapter.capabilities
    const short = longestJobMs === undefined ? undefined : deadlines.find(({ ms }) => ms <= longestJobMs)
    if (longestJobMs === undefined || short === undefined) continue
    throw new RunError('preflight', {
      code: 'deadline-shorter-than-job',
      deadline: short.name,
      deadlineMs: short.ms,
      loadBalancer: name,
      longestMs: longestJobMs,
    })
  }
}
