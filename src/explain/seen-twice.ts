import type { Reason, ReasonCode, ReasonOf } from '../reasons/reason.ts'
import { verdictOf } from './explain.ts'
import type { Explanation, Finding } from './explanation.ts'

type ForNow = 'no-slice' | 'not-in-slices' | 'slice-differs' | 'slice-ports-differ' | 'stale-address' | 'endpoints-differ'

/** The differences that a controller may be about to correct. */
const FOR_NOW: ReadonlySet<ReasonCode> = new Set<ForNow>([
  'no-slice',
  'not-in-slices',
  'slice-differs',
  'slice-ports-differ',
  'stale-address',
  'endpoints-differ',
])

export function differsForNow({ findings }: Explanation): boolean {
  return findings.some(({ reason }) => FOR_NOW.has(reason.code))
}

/** The second explanation, without the differences that a controller may be about to correct and that the first explanation lacks. */
export function seenTwice(first: Explanation, second: Explanation): Explanation {
  const before = new Set(first.findings.flatMap(({ reason }) => placesOf(reason)))
  const findings = second.findings.flatMap((one) => seenBefore(one, before))
  return { ...second, findings, verdict: verdictOf(findings, second.unread) }
}

function seenBefore(finding: Finding, before: ReadonlySet<string>): Finding[] {
  const { reason } = finding
  if (!isForNow(reason)) return [finding]
  if (reason.code !== 'endpoints-differ') return placesOf(reason).some((place) => before.has(place)) ? [finding] : []
  const pods = reason.pods.filter(({ pod }) => before.has(inEndpoints(reason.service, pod)))
  return pods.length === 0 ? [] : [{ ...finding, reason: { ...reason, pods } }]
}

function isForNow(reason: Reason): reason is ReasonOf<ForNow> {
  return FOR_NOW.has(reason.code)
}

/** The places that the reason is about, whatever the difference is. */
function placesOf(reason: Reason): string[] {
  if (!isForNow(reason)) return []
  switch (reason.code) {
    case 'no-slice':
      return [keyOf(reason.code, reason.service)]
    case 'not-in-slices':
      return [keyOf(reason.code, reason.service, reason.pod)]
    case 'slice-differs':
    case 'slice-ports-differ':
      return [keyOf(reason.code, reason.slice, reason.pod)]
    case 'stale-address':
      return [keyOf(reason.code, reason.object.kind, reason.object.name, reason.address)]
    case 'endpoints-differ':
      return reason.pods.map(({ pod }) => inEndpoints(reason.service, pod))
  }
}

function inEndpoints(service: string, pod: string): string {
  return keyOf('endpoints-differ', service, pod)
}

function keyOf(...names: string[]): string {
  return names.join(' ')
}
