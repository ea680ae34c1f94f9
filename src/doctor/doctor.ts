import { reportOf } from './check.ts'
import { CHECKS } from './checks/index.ts'
import { type DoctorPorts, type DoctorRequest, gather } from './gather.ts'
import type { Gathered } from './gathered.ts'
import type { DoctorReport } from './report.ts'

/** Looks at a cluster, its load balancers and the records of sluice. What cannot be read is said in the report. */
export async function examine(request: DoctorRequest, ports: DoctorPorts): Promise<DoctorReport> {
  return diagnose(await gather(request, ports))
}

/** All checks on what was gathered. */
export function diagnose(gathered: Gathered): DoctorReport {
  const checks = CHECKS.map((check) => reportOf(check, check.examine(gathered)))
  const has = (outcome: 'failed' | 'warning'): boolean => checks.some((one) => one.outcome === outcome)
  return {
    ...(gathered.namespace === undefined ? {} : { namespace: gathered.namespace }),
    outcome: has('failed') ? 'failed' : has('warning') ? 'warning' : 'passed',
    checks,
  }
}
