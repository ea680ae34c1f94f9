import type { EndpointSubset, Service } from '../endpoints/objects.ts'
import { isFinished, type PodMembership } from '../endpoints/pod-membership.ts'
import type { InEndpoints } from '../reasons/explain-reasons.ts'
import type { ReasonOf } from '../reasons/reason.ts'
import type { Known } from './known-pods.ts'
import type { StoredAddress, StoredEndpoints } from '../endpoints/stored.ts'
import { addressWriterOf } from '../endpoints/writers.ts'

export type EndpointsDifference = ReasonOf<'endpoints-differ' | 'stale-address' | 'written-by-other' | 'endpoints-missing'>

interface MadeEndpoints {
  pods: readonly PodMembership[]
  subsets: readonly EndpointSubset[]
  isTruncated: boolean
}

/** Compares the Endpoints of a Service with those that the controller would make, for the requested pods. */
export function compareEndpoints(
  { metadata: { name: service } }: Service,
  { pods, subsets, isTruncated }: MadeEndpoints,
  stored: StoredEndpoints | undefined,
  known: Known,
): EndpointsDifference[] {
  if (stored === undefined) return [{ code: 'endpoints-missing', service }]
  const found = placesIn(stored)
  const compared = pods.filter(({ pod }) => known.isAsked(pod.metadata.uid))
  // A truncation leaves out pods in the order of a hash, so they cannot be compared.
  const differ = compared.filter((one) => {
    const is = isIn(found, one.pod.metadata.uid)
    return !isTruncated && is !== one.inEndpoints && !(isFinished(one.pod) && is === 'not-ready')
  })
  const notReady = new Set((stored.subsets ?? []).flatMap(({ notReadyAddresses = [] }) => notReadyAddresses))
  const right = new Set(subsets.flatMap((one) => [...one.addresses, ...one.notReadyAddresses]).map(keyOf))
  const byUid = new Map(pods.map((one) => [one.pod.metadata.uid, one]))
  const stale = addressesIn(stored).flatMap((address): EndpointsDifference[] => {
    const { ip, targetRef } = address
    if (right.has(keyOf(address))) return []
    const made = byUid.get(targetRef?.uid ?? '')
    if (made !== undefined && (isTruncated || !known.isAsked(made.pod.metadata.uid))) return []
    const because = made !== undefined && made.inEndpoints !== 'absent' ? 'other-address' : known.whyStale(targetRef)
    // `endpoints-differ` already reports a pod that the controller would leave out.
    if (because === undefined || because === 'not-made') return []
    // The controller syncs no Service for a pod that ends while it is not Ready.
    if (because === 'pod-finished' && notReady.has(address)) return []
    return [{ ...staleIn(service, stored, ip), ...(targetRef?.name === undefined ? {} : { pod: targetRef.name }), because }]
  })
  const differences: EndpointsDifference[] = [
    ...(differ.length === 0
      ? []
      : [
          {
            code: 'endpoints-differ' as const,
            service,
            pods: differ.map(({ pod, inEndpoints }) => ({
              pod: pod.metadata.name,
              is: isIn(found, pod.metadata.uid),
              made: inEndpoints,
            })),
          },
        ]),
    ...unique(stale),
  ]
  return differences.length === 0 ? [] : [...differences, ...endpointsWrittenByOther(stored)]
}

function endpointsWrittenByOther(stored: StoredEndpoints): ReasonOf<'written-by-other'>[] {
  const { name, managedFields } = stored.metadata
  const writer = addressWriterOf('Endpoints', managedFields, addressesIn(stored).length === 0)
  if (writer === undefined || writer.is === 'controller-manager') return []
  return [{ code: 'written-by-other', object: { kind: 'Endpoints', name }, writer }]
}

/** The places of pods, by the UID of the pod. A pod that is ready under any port counts as ready. */
export function placesIn({ subsets = [] }: StoredEndpoints): ReadonlyMap<string, InEndpoints> {
  const places = new Map<string, InEndpoints>()
  for (const { addresses = [], notReadyAddresses = [] } of subsets) {
    for (const { targetRef } of notReadyAddresses) {
      const uid = targetRef?.uid
      if (uid !== undefined && !places.has(uid)) places.set(uid, 'not-ready')
    }
    for (const { targetRef } of addresses) if (targetRef?.uid !== undefined) places.set(targetRef.uid, 'ready')
  }
  return places
}

function isIn(places: ReadonlyMap<string, InEndpoints>, uid: string): InEndpoints {
  return places.get(uid) ?? 'absent'
}

function keyOf({ ip, targetRef }: StoredAddress): string {
  return `${ip} ${targetRef?.uid ?? ''}`
}

function addressesIn({ subsets = [] }: StoredEndpoints): StoredAddress[] {
  return subsets.flatMap(({ addresses = [], notReadyAddresses = [] }) => [...addresses, ...notReadyAddresses])
}

function staleIn(service: string, { metadata: { name } }: StoredEndpoints, address: string) {
  return { code: 'stale-address' as const, service, object: { kind: 'Endpoints', name }, address }
}

/** Removes duplicates, because an address is listed once for each set of ports. */
function unique<One>(some: readonly One[]): One[] {
  const seen = new Set<string>()
  return some.filter((one) => {
    const key = JSON.stringify(one)
    return !seen.has(key) && seen.add(key)
  })
}
