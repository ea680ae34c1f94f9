import { z } from 'zod'
import type { KubeClient } from '../kube/client.ts'
import { createReflector } from '../kube/reflector.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'

/** Where Services route to, from the EndpointSlices of the namespace. */
export interface EndpointStore {
  /** True where every slice that names the pod has it ready, null where none names it. */
  readiness(podUid: string): boolean | null
  /** They are those of now, as with PodStore. */
  isCurrent(): boolean
  /** Asks for them anew, as PodStore does. */
  refresh(): Promise<void>
  stop(): Promise<void>
}

const RawSlice = z.object({
  metadata: z.object({ uid: z.string(), name: z.string(), namespace: z.string(), resourceVersion: z.string() }),
  endpoints: z
    .array(
      z.object({
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
  ready: Map<string, boolean>
}

function sliceRecord(raw: unknown): SliceRecord {
  const { metadata, endpoints } = RawSlice.parse(raw)
  const ready = new Map<string, boolean>()
  for (const { targetRef, conditions } of endpoints ?? []) {
    // A missing `ready` means "unknown", which Services treat as ready.
    if (targetRef?.kind === 'Pod' && targetRef.uid) ready.set(targetRef.uid, conditions?.ready ?? true)
  }
  return { ...metadata, ready }
}

export interface EndpointStoreOptions {
  client: KubeClient
  clock: Clock
  random: Random
  namespace: string
  onChange(podUids: Iterable<string>): void
  /** Somebody waits for them to change. */
  isAwaited?: () => boolean
  onError(error: Error, fatal: boolean): void
}

export async function openEndpointStore(options: EndpointStoreOptions): Promise<EndpointStore> {
  /** Slices by pod, so that a lookup does not go through all of them. */
  const slicesOf = new Map<string, Map<string, boolean>>()
  const podsOf = new Map<string, Set<string>>()

  function put({ uid, ready }: Pick<SliceRecord, 'uid' | 'ready'>): void {
    const changed = new Set([...(podsOf.get(uid) ?? []), ...ready.keys()])
    for (const pod of changed) {
      const slices = slicesOf.get(pod) ?? new Map<string, boolean>()
      const now = ready.get(pod)
      if (now === undefined) slices.delete(uid)
      else slices.set(uid, now)
      if (slices.size === 0) slicesOf.delete(pod)
      else slicesOf.set(pod, slices)
    }
    podsOf.set(uid, new Set(ready.keys()))
    options.onChange(changed)
  }

  const reflector = createReflector<SliceRecord>({
    client: options.client,
    clock: options.clock,
    random: options.random,
    path: `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(options.namespace)}/endpointslices`,
    decode: sliceRecord,
    onEvent: ({ type, record }) => put(type === 'deleted' ? { uid: record.uid, ready: new Map() } : record),
    onError: options.onError,
    ...(options.isAwaited && { isAwaited: options.isAwaited }),
  })
  await reflector.start()
  return {
    readiness(podUid) {
      const slices = slicesOf.get(podUid)
      return slices === undefined ? null : [...slices.values()].every(Boolean)
    },
    isCurrent: () => reflector.isCurrent(),
    refresh: () => reflector.refresh(),
    stop: () => reflector.stop(),
  }
}
