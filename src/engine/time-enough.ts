import { RunError } from './errors.ts'
import type { LoadBalancer } from './request.ts'
import type { RunSettings } from './settings.ts'

type Named = Pick<LoadBalancer, 'name' | 'adapter'>
type Times = Pick<RunSettings, 'drainDeadlineMs' | 'restoreDeadlineMs' | 'settleMs'>

/**
 * A change that was accepted is waited for, and so is the time until nobody new comes: a deadline that comes sooner would call a healthy
 * one failed.
 * @throws RunError of kind `preflight`
 */
export function assertTimeEnough(loadBalancers: readonly Named[], times: Times): void {
  for (const loadBalancer of loadBalancers) {
    assertTimeForJobs(loadBalancer, times)
    assertTimeToSettle(loadBalancer, times)
  }
}

/** A restore may have to wait for the end of the drain before it, as a drain for its own. */
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

/** Where the config says how long to wait, that has been checked with it. */
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
