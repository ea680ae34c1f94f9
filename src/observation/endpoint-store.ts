import { z } from 'zod'
import { drainedAddresses } from '../pods/drained-addresses.ts'
import { NO_ENDPOINTS } from '../pods/endpoints.ts'
import type { PodEndpoint } from '../pods/glossary.ts'
import type { FeedIndex } from './feed.ts'
import type { SharedObservation } from './observation.ts'

/** Where Services route to, from the EndpointSlices of the namespace. */
export interface EndpointStore {
  /** What the slices that have the pod say of it, by Service and controller: another list exactly where that has changed. */
  of(podUid: string): readonly PodEndpoint[]
  /** They are those of now, as with PodStore. */
  isCurrent(): boolean
  /** Has the slices observed anew that say no to this pod; all of them where these cannot be had. */
  look(podUid: string): Promise<void>
  /** Asks for them anew, as PodStore does. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

const SERVICE = 'kubernetes.io/service-name'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
/** The cluster's own controller. It takes over the Ready of a pod, as no other has to. */
const CLUSTER = 'endpointslice-controller.k8s.io'

const RawSlice = z.object({
  metadata: z.object({
    uid: z.string(),
    name: z.string(),
    generateName: z.string().optional(),
    namespace: z.string(),
    resourceVersion: z.string(),
    labels: z.record(z.string(), z.string()).nullish(),
    annotations: z.record(z.string(), z.string()).nullish(),
  }),
  endpoints: z
    .array(
      z.object({
        addresses: z.array(z.string()).nullish(),
        targetRef: z.object({ kind: z.string().optional(), uid: z.string().optional() }).nullish(),
        conditions: z.object({ ready: z.boolean().nullish() }).nullish(),
      }),
    )
    .nullish(),
})

interface SliceRecord {
  uid: string
  name: string
  namespace: string
  resourceVersion: string
  source: string
  followsReady: boolean
  ready: Map<string, boolean>
}

function sliceRecord(raw: unknown): SliceRecord {
  const { metadata, endpoints } = RawSlice.parse(raw)
  const ready = new Map<string, boolean>()
  const drained = drainedAddresses(metadata.annotations)
  for (const { addresses, targetRef, conditions } of endpoints ?? []) {
    // What sluice has taken out as a load balancer comes back by the restore, which must not wait for it.
    const isOurs = addresses?.some((address) => drained.has(address)) ?? false
    // A missing `ready` means "unknown", which Services treat as ready.
    if (targetRef?.kind === 'Pod' && targetRef.uid) ready.set(targetRef.uid, isOurs || (conditions?.ready ?? true))
  }
  const { uid, name, namespace, resourceVersion, generateName, labels } = metadata
  const service = labels?.[SERVICE]
  const by = labels?.[MANAGED_BY]
  const followsReady = service !== undefined && by === CLUSTER
  // Neither a Service nor a label value has a slash.
  const source = followsReady ? service : `${by ?? ''}/${service ?? generateName ?? name}`
  return { uid, name, namespace, resourceVersion, source, followsReady, ready }
}

function podEndpoints(pod: string, slices: Iterable<SliceRecord>): PodEndpoint[] {
  const bySource = new Map<string, PodEndpoint>()
  for (const { source, followsReady, name, ready } of slices) {
    const unready = [...(bySource.get(source)?.unready ?? []), ...(ready.get(pod) ? [] : [name])]
    bySource.set(source, { source, unready, followsReady })
  }
  return [...bySource.values()]
}

export interface EndpointStoreOptions {
  observation: SharedObservation
  namespace: string
  onChange(podUids: Iterable<string>): void
  /** Somebody waits for them to change. */
  isAwaited?: () => boolean
  onError(error: Error, lasting: boolean): void
}

type EndpointsOf = (podUid: string) => readonly PodEndpoint[]

/** By pod, so that a lookup does not go through all slices; one for all runs that share the feed. */
function createEndpointIndex(): FeedIndex<SliceRecord, readonly string[], EndpointsOf> {
  const slices = new Map<string, SliceRecord>()
  const slicesOf = new Map<string, Map<string, SliceRecord>>()
  const endpointsOf = new Map<string, readonly PodEndpoint[]>()

  function put(uid: string, now: SliceRecord | undefined): string[] {
    const before = slices.get(uid)
    if (now) slices.set(uid, now)
    else slices.delete(uid)
    const changed: string[] = []
    for (const pod of new Set([...(before?.ready.keys() ?? []), ...(now?.ready.keys() ?? [])])) {
      const own = slicesOf.get(pod) ?? new Map<string, SliceRecord>()
      if (now?.ready.has(pod)) own.set(uid, now)
      else own.delete(uid)
      if (own.size === 0) slicesOf.delete(pod)
      else slicesOf.set(pod, own)
      if (before?.ready.get(pod) === now?.ready.get(pod) && before?.source === now?.source) continue
      if (own.size === 0) endpointsOf.delete(pod)
      else endpointsOf.set(pod, podEndpoints(pod, own.values()))
      changed.push(pod)
    }
    return changed
  }

  return {
    apply: ({ type, record }) => put(record.uid, type === 'deleted' ? undefined : record),
    lookup: (podUid) => endpointsOf.get(podUid) ?? NO_ENDPOINTS,
  }
}

export async function openEndpointStore(options: EndpointStoreOptions): Promise<EndpointStore> {
  const { observation, namespace, onChange, isAwaited, onError } = options
  const feed = await observation.open(
    {
      path: `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`,
      decode: sliceRecord,
      createIndex: createEndpointIndex,
    },
    {
      onEvent: ({ record }, changed) => onChange(changed ?? record.ready.keys()),
      onError,
      ...(isAwaited && { isAwaited }),
    },
  )
  const { lookup, isCurrent, refresh, stop } = feed
  return {
    of: lookup,
    async look(podUid) {
      const names = new Set(lookup(podUid).flatMap(({ unready }) => unready))
      await Promise.all(Array.from(names, feed.look)).catch(refresh)
    },
    isCurrent,
    refresh,
    stop,
  }
}
