import { RunError } from './errors.ts'
import type { LoadBalancer } from './request.ts'
import type { RunSettings } from './settings.ts'

type Named = Pick<LoadBalancer, 'name' | 'adapter'>
type Times = Pick<RunSettings, 'drainDeadlineMs' | 'restoreDeadlineMs' | 'settleMs'>

/**
 * Checks that the deadlines are longer than the jobs and settle times of the load balancers. A shorter deadline would call a healthy pod
 * failed.
 * @throws RunError of kind `preflight`
 */
export function assertTimeEnough(loadBalancers: readonly Named[], times: Times): void {
  for (const loadBalancer of loadBalancers) {
    assertTimeForJobs(loadBalancer, times)
    assertTimeToSettle(loadBalancer, times)
  }
}

/** A restore may have to wait for the job of the drain before it. */
function assertTimeForJobs({ name, adapter }: Named, { drainDeadlineMs, restoreDeadlineMs }: Times): void {
  const deadlines = [
    { name: 'drain.deadline', ms: drainDeadlineMs },
    { name: 'deadlines.restore', ms: restoreDeadlineMs },
  ]
  const { longestJobMs = 0, longestEmptyingMs = 0 } = adapter.capabilities
  const longestMs = Math.max(longestJobMs, longestEmptyingMs)
  const short = longestMs === 0 ? undefined : deadlines.find(({ ms }) => ms <= longestMs)
  if (short === undefined) return
  throw new RunError('preflight', {
    code: 'deadline-shorter-than-job',
    deadline: short.name,
    deadlineMs: short.ms,
    loadBalancer: name,
    longestMs,
  })
}

/** A settle time in the config was checked with the config. */
function assertTimeToSettle({ name, adapter }: Named, { drainDeadlineMs, settleMs: said }: Times): void {
  const { settleMs } = adapter.capabilities
  const isShort = said === undefined && drainDeadlineMs <= settleMs
  if (!isShort) return
  throw new RunError('preflight', {
    code: 'deadline-shorter-than-settle',
    deadline: 'drain.deadline',
    deadlineMs: drainDeadlineMs,
    loadBalancer: name,
    settleMs,
  })
}
