import type { Reason, ReasonCode } from '../reasons/reason.ts'
import type { Finding, Subject } from './explanation.ts'

const NOTES: ReadonlySet<ReasonCode> = new Set([
  'no-selector',
  'external-name',
  'headless-without-ports',
  'not-ready-published',
  'old-annotation-ignored',
  'hostname-left-out',
  'host-network',
  'no-address-of-type',
  'selector-nearly',
  'slices-of-others',
  'endpoints-missing',
  // Clients that read EndpointSlices miss nothing.
  'endpoints-truncated',
  'written-by-other',
  'node-cordoned',
  'ledger-unreadable',
])

/** A reason is wrong where it keeps a pod out of rotation, or names a difference from the desired state. */
export function severityOf(reason: Reason, about: Subject['type']): Finding['severity'] {
  // A Job leaves finished pods behind.
  if (reason.code === 'pod-finished') return about === 'pod' ? 'wrong' : 'note'
  // Endpoints have only the first family, so the pod is not in them.
  if (reason.code === 'no-address-of-type') return reason.forEndpoints ? 'wrong' : 'note'
  return NOTES.has(reason.code) ? 'note' : 'wrong'
}
