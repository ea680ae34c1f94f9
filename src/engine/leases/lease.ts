import { z } from 'zod'
import { digest } from '../../journal/digest.ts'
import { isNamedWithoutGroup, type WorkloadKey } from '../../pods/workload-id.ts'

/* The Lease of a workload: who may change its pods and their targets. Named after the workload, and never deleted. */

export const LEASE_DURATION_MS = 15_000
/** Often enough that a call which may take most of what is left of its life hardly ever has to wait for a renewal. */
export const RENEW_EVERY_MS = 4_000
/** How often whoever waits for a Lease looks at it, and a write of it that has failed is tried again. */
export const LOOK_EVERY_MS = 1_000
/**
 * Room for another sluice that lives longer. A duration that somebody has written would else keep everybody waiting, for 68 years
 * at most.
 */
export const LONGEST_DURATION_MS = 60_000
/** Written with a Lease that is given back, as by the leader election of client-go: one whose holder somebody has cleared has its own. */
const GIVEN_BACK_SECONDS = 1
/** The API server keeps the count of owners in so many bits. */
export const LARGEST_EPOCH = 2 ** 31 - 1
const LONGEST_NAME = 253
/** Begins the name of each Lease of a load balancer's document, which is held for one call and is no run's. */
export const DOCUMENT_LEASES = 'sluice-document-'

export interface LeaseRecord {
  name: string
  uid: string
  resourceVersion: string
  /** Empty where nobody holds it. */
  holder: string
  /** By its owner, which can act no more. */
  isGivenBack: boolean
  /** `leaseTransitions`: grows with each new owner, and is the epoch. */
  transitions: number
  /** How long a newcomer waits for a sign of life: within bounds, whatever is written there. */
  durationMs: number
  /** As its owner wrote it last; never compared with a clock. Empty where there is none. */
  renewTime: string
  /** All of them: a renewal replaces the object, and must not lose what others have written there. */
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

/** An owner counts on its own duration, whatever somebody has made of what it wrote: never less. */
function believable(durationMs: number): number {
  return Math.min(Math.max(durationMs, LEASE_DURATION_MS), LONGEST_DURATION_MS)
}

/**
 * `sluice-KIND-NAME`, or `sluice-KIND.GROUP-NAME` for kinds that are named with their group; one that would be too long is cut, and gets
 * a digest of the whole. No two workloads share one: a run of both would wait for itself.
 */
export function leaseName({ group, kind, name }: WorkloadKey): string {
  // A hyphen of the group is written twice, which tells it from the one before the name: a name begins with no hyphen.
  const type = isNamedWithoutGroup(group) ? kind : `${kind}.${group.replaceAll('-', '--')}`
  const whole = `sluice-${type.toLowerCase()}-${name}`
  if (whole.length <= LONGEST_NAME) return whole
  const end = `-${digest(whole)}`
  return whole.slice(0, LONGEST_NAME - end.length).replace(/[^a-z0-9]+$/, '') + end
}

export function leasePath(namespace: string, name?: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases${name === undefined ? '' : `/${encodeURIComponent(name)}`}`
}

interface LeaseBody {
  namespace: string
  name: string
  holder: string
  /** Its owner can act no more: that the holder is empty does not say so, which somebody may have cleared. */
  isGivenBack?: boolean
  transitions: number
  /** Milliseconds since 1970; for people and other tools: sluice itself never compares it with a clock. */
  renewedAt: number
  /** The Lease that is replaced; absent where there is none yet. */
  found?: Pick<LeaseRecord, 'uid' | 'resourceVersion'> | undefined
  annotations?: Record<string, string>
}

export function leaseBody(body: LeaseBody): unknown {
  const { namespace, name, holder, isGivenBack = false, transitions, renewedAt, found, annotations = {} } = body
  // The API server would make a Lease that was deleted anew of what is to replace it, whatever its version: but for the uid.
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
