import type { StoredEndpoint, StoredPod, StoredSlice } from '../endpoints/stored.ts'

export interface PlacedEndpoint {
  slice: StoredSlice
  endpoint: StoredEndpoint
}

/** The endpoints of slices, by their pods. */
export interface SliceIndex {
  byUid(uid: string): readonly PlacedEndpoint[]
  /** Finds the endpoints of a pod. Other writers may name no pod, and then the address counts. */
  of(pod: StoredPod): readonly PlacedEndpoint[]
}

export function indexSlices(slices: readonly StoredSlice[]): SliceIndex {
  const uids = new Map<string, PlacedEndpoint[]>()
  const addresses = new Map<string, PlacedEndpoint[]>()
  const put = (index: Map<string, PlacedEndpoint[]>, key: string, one: PlacedEndpoint): void => {
    const some = index.get(key)
    if (some === undefined) index.set(key, [one])
    else some.push(one)
  }
  for (const slice of slices) {
    for (const endpoint of slice.endpoints ?? []) {
      const uid = endpoint.targetRef?.uid
      if (uid !== undefined) put(uids, uid, { slice, endpoint })
      else for (const address of endpoint.addresses) put(addresses, address, { slice, endpoint })
    }
  }
  const byUid = (uid: string): readonly PlacedEndpoint[] => uids.get(uid) ?? []
  return {
    byUid,
    of({ metadata, status }) {
      const own = new Set([status?.podIP ?? '', ...(status?.podIPs ?? []).map(({ ip = '' }) => ip)])
      const byAddress = new Set([...own].flatMap((address) => addresses.get(address) ?? []))
      return [...byUid(metadata.uid), ...byAddress]
    },
  }
}
