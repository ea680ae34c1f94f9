import { ageOf } from './ages.ts'
import { type Examination, needing, skippedFor } from './check.ts'
import type { ControlPlanePart } from './findings.ts'
import type { Gathered } from './gathered.ts'

const NAMESPACE = 'kube-system'
const DEFAULT_SECONDS = 15
/** A renewal may be late, and another process takes over after one duration. */
const DURATIONS = 2

/** The Lease by which one process of a part of the control plane is at work. A part without leader election has none. */
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
