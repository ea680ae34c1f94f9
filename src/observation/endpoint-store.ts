import { z } from 'zod'
import { drainedAddresses } from '../pods/drained-addresses.ts'
import { NO_ENDPOINTS } from '../pods/endpoints.ts'
import type { PodEndpoint } from '../pods/glossary.ts'
import type { FeedIndex } from './feed.ts'
import type { SharedObservation } from './observation.ts'

/** The endpoints of pods, from the EndpointSlices of the namespace. */
export interface EndpointStore {
  /** The state of the pod in its slices, by Service and controller. The list is a new object exactly if its content has changed. */
  of(podUid: string): readonly PodEndpoint[]
  /** True if the slices are current, as `isCurrent` of PodStore. */
  isCurrent(): boolean
  /** Reads the slices anew in which this pod is not ready; all slices if these are not available. */
  look(podUid: string): Promise<void>
  /** Reads all slices anew, as `refresh` of PodStore does. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

const SERVICE = 'kubernetes.io/service-name'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
/** The EndpointSlice controller of Kubernetes. Its endpoints follow the readiness of the pod; those of other controllers need not. */
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
    // An endpoint that sluice itself has drained counts as ready: the restore brings it back, and must not wait for it.
    const isOurs = addresses?.some((address) => drained.has(address)) ?? false
    // A missing `ready` means "unknown", and Services treat it as ready.
    if (targetRef?.kind === 'Pod' && targetRef.uid) ready.set(targetRef.uid, isOurs || (conditions?.ready ?? true))
  }
  const { uid, name, namespace, resourceVersion, generateName, labels } = metadata
  const service = labels?.[SERVICE]
  const by = labels?.[MANAGED_BY]
  const followsReady = service !== undefined && by === CLUSTER
  // A slash separates controller and Service, because neither a Service nor a label value contains one.
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
  /** True while a caller waits for a change of the endpoints. */
  isAwaited?: () => boolean
  onError(error: Error, lasting: boolean): void
}

type EndpointsOf = (podUid: string) => readonly PodEndpoint[]

/** An index by pod, so that a lookup need not scan all slices. All runs that share the feed share the index. */
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
