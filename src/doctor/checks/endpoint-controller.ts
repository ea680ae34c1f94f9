import { type Check, found, skippedFor } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Probe } from '../gathered.ts'

/** A controller without a backlog creates the EndpointSlice within some hundred milliseconds. */
export const SLOW_MS = 5_000

/** The controller creates the EndpointSlice of a new Service at once. The check runs only on request, because it writes. */
export const endpointController: Check = {
  name: 'endpoint-controller',
  examine: ({ probe }) =>
    probe === undefined ? skippedFor({ code: 'probe-not-asked-for' }) : found([...lagOf(probe), ...leftOf(probe)]),
}

function lagOf({ namespace, lagMs, waitedMs, refused }: Probe): Finding[] {
  if (refused !== undefined) return [{ code: 'probe-refused', namespace, because: refused }]
  if (lagMs === undefined) return [{ code: 'endpoint-controller-stuck', namespace, waitedMs: waitedMs ?? 0 }]
  return lagMs > SLOW_MS ? [{ code: 'endpoint-controller-slow', namespace, lagMs }] : []
}

function leftOf({ namespace, service, left }: Probe): Finding[] {
  return left === undefined ? [] : [{ code: 'probe-left', namespace, service, because: left }]
}
