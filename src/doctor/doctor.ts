import { reportOf } from './check.ts'
import { CHECKS } from './checks/index.ts'
import { type DoctorPorts, type DoctorRequest, gather } from './gather.ts'
import type { FindingCode } from './findings.ts'
import type { Gathered } from './gathered.ts'
import type { DoctorReport } from './report.ts'

/** Examines a cluster, its load balancers and the records of sluice. The report names the objects that could not be read. */
export async function examine(
  { ignore, ...request }: DoctorRequest & { ignore?: readonly FindingCode[] },
  ports: DoctorPorts,
): Promise<DoctorReport> {
  return diagnose(await gather(request, ports), ignore)
}

/** Runs all checks on the gathered data. Findings with an ignored code are counted, and not reported. */
export function diagnose(gathered: Gathered, ignore: readonly FindingCode[] = []): DoctorReport {
  const checks = CHECKS.map((check) => reportOf(check, check.examine(gathered), ignore))
  const has = (outcome: 'failed' | 'warning'): boolean => checks.some((one) => one.outcome === outcome)
  return {
    ...(gathered.namespace === undefined ? {} : { namespace: gathered.namespace }),
    outcome: has('failed') ? 'failed' : has('warning') ? 'warning' : 'passed',
    checks,
  }
}
