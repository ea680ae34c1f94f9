import { z } from 'zod'

/* A Lease as sluice reads and writes it. No time in a Lease is compared with a clock: a newcomer watches whether the Lease is renewed. */

export const LEASE_DURATION_MS = 15_000
/** The interval between renewals. It is short, so that a call that needs most of the rest of a Lease's life seldom waits for a renewal. */
export const RENEW_EVERY_MS = 4_000
/** The interval between looks at a Lease that is waited for, and between tries of a failed write. */
export const LOOK_EVERY_MS = 1_000
/**
 * The largest duration that counts. It leaves room for a sluice with longer Leases. An edited duration could otherwise make newcomers wait
 * for up to 68 years.
 */
export const LONGEST_DURATION_MS = 60_000
/**
 * The duration of a Lease that its owner gave back, as client-go's leader election writes it. A Lease whose holder was cleared by hand
 * keeps its own.
 */
const GIVEN_BACK_SECONDS = 1
/** The largest count of owners that the API server can store. */
export const LARGEST_EPOCH = 2 ** 31 - 1
/** The margin between the end of an owner's right and the end of a newcomer's wait, since two clocks do not run exactly alike. */
export const PAUSE_MS = 1_000

export interface LeaseRecord {
  name: string
  uid: string
  resourceVersion: string
  /** The identity of the holder. Empty where the Lease has no holder. */
  holder: string
  /** The owner gave the Lease back, and cannot act any more. */
  isGivenBack: boolean
  /** `leaseTransitions`, which grows with each new owner. */
  transitions: number
  /** The time for which a newcomer waits for a renewal, in milliseconds. It is within bounds, whatever the Lease says. */
  durationMs: number
  /** The renew time as the owner wrote it last. It is never compared with a clock. Empty where the Lease has none. */
  renewTime: string
  /** All annotations of the Lease. A renewal replaces the object, and must keep the annotations of other writers. */
  annotations: Record<string, string>
}

const RawLease = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    namespace: z.string(),
    resourceVersion: z.string(),
    annotations: z.record(z.string(), z.string()).nullish(),
  }),
  spec: z
    .object({
      holderIdentity: z.string().nullish(),
      leaseTransitions: z.number().nullish(),
      leaseDurationSeconds: z.number().nullish(),
      renewTime: z.string().nullish(),
    })
    .default({}),
})

export function leaseRecord(raw: unknown): LeaseRecord {
  const { metadata, spec } = RawLease.parse(raw)
  const holder = spec.holderIdentity ?? ''
  return {
    name: metadata.name,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    holder,
    isGivenBack: holder === '' && spec.leaseDurationSeconds === GIVEN_BACK_SECONDS,
    transitions: spec.leaseTransitions ?? 0,
    durationMs: believable((spec.leaseDurationSeconds ?? 0) * 1000),
    renewTime: spec.renewTime ?? '',
    annotations: metadata.annotations ?? {},
  }
}

/** An owner counts on LEASE_DURATION_MS, so an edited duration never counts as less. */
function believable(durationMs: number): number {
  return Math.min(Math.max(durationMs, LEASE_DURATION_MS), LONGEST_DURATION_MS)
}

export function leasePath(namespace: string, name?: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

interface LeaseBody {
  namespace: string
  name: string
  holder: string
  /**
   * The owner gives the Lease back, and cannot act any more. An empty holder does not prove that, since the holder can be cleared by hand.
   */
  isGivenBack?: boolean
  transitions: number
  /** Milliseconds since 1970, for people and other tools. sluice never compares it with a clock. */
  renewedAt: number
  /** The Lease to replace. Absent where there is none yet. */
  found?: Pick<LeaseRecord, 'uid' | 'resourceVersion'> | undefined
  annotations?: Record<string, string>
}

export function leaseBody(body: LeaseBody): unknown {
  const { namespace, name, holder, isGivenBack = false, transitions, renewedAt, found, annotations = {} } = body
  // The uid makes the replacement of a deleted Lease fail. The API server would create the Lease anew otherwise, whatever the version says.
  const replaced = found && { uid: found.uid, resourceVersion: found.resourceVersion }
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace, annotations, ...replaced },
    spec: {
      holderIdentity: holder,
      leaseTransitions: transitions,
      leaseDurationSeconds: isGivenBack ? GIVEN_BACK_SECONDS : LEASE_DURATION_MS / 1000,
      // MicroTime
      renewTime: new Date(renewedAt).toISOString().replace('Z', '000Z'),
    },
  }
}
