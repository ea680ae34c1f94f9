import { ageOf } from './ages.ts'
import { type Examination, needing, skippedFor } from './check.ts'
import type { ControlPlanePart } from './findings.ts'
import type { Gathered } from './gathered.ts'

const NAMESPACE = 'kube-system'
const DEFAULT_SECONDS = 15
/** Two durations pass before a Lease counts as silent: a renewal may be late, and another process takes over after one duration. */
const DURATIONS = 2

/** Examines the Lease that a part of the control plane renews while it works. A part without leader election has no Lease. */
export function leaseOfPart(gathered: Gathered, part: ControlPlanePart): Examination {
  const { systemLeases } = gathered.listed
  const lease = systemLeases.ok ? systemLeases.value.find(({ metadata }) => metadata.name === part) : undefined
  const leaseMs = (lease?.spec?.leaseDurationSeconds ?? DEFAULT_SECONDS) * 1_000
  const ageMs = ageOf(lease?.spec?.renewTime, gathered.nowAt)
  if (systemLeases.ok && ageMs === undefined)
    return skippedFor({ code: 'nothing-there', resource: `leases/${part}`, namespace: NAMESPACE })
  return needing(gathered, ['systemLeases'], () => {
    if (ageMs === undefined || ageMs <= DURATIONS * leaseMs) return []
    const holder = lease?.spec?.holderIdentity
    return [{ code: 'control-plane-part-silent', part, ...(holder ? { holder } : {}), ageMs, leaseMs }]
  })
}
