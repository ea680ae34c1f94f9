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
  // Whoever reads EndpointSlices misses nothing.
  'endpoints-truncated',
  'written-by-other',
  'node-cordoned',
  'ledger-unreadable',
])

/** Everything is wrong that keeps a pod out of rotation, or differs from what it should be. */
export function severityOf(reason: Reason, about: Subject['type']): Finding['severity'] {
  // A Job leaves such pods behind.
  if (reason.code === 'pod-finished') return about === 'pod' ? 'wrong' : 'note'
  // Endpoints are of the first family alone, and the pod is out of them.
  if (reason.code === 'no-address-of-type') return reason.forEndpoints ? 'wrong' : 'note'
  return NOTES.has(reason.code) ? 'note' : 'wrong'
}
