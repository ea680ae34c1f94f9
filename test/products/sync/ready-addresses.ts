import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane, Json } from '../endpoints/control-plane.ts'
import type { Turn } from './judge.ts'

const PATH = '/apis/discovery.k8s.io/v1/endpointslices'
const AGAIN_MS = 50

/** The ready addresses of all Services of a cluster over time, as an ingress sees them that watches its EndpointSlices. */
export interface ReadyAddresses {
  /** All changes so far. The key of an address is `NAMESPACE/SERVICE/ADDRESS`. */
  turns: readonly Turn[]
  /** The keys of the addresses that are ready now. */
  ready(): Set<string>
  /** Whether the watch is open, and what it has brought is current. */
  isCurrent(): boolean
  stop(): Promise<void>
}

/** Watches the EndpointSlices of a cluster, until `stop`. Shares no code with src. */
export async function watchReadyAddresses(plane: ControlPlane, now: () => number): Promise<ReadyAddresses> {
  const turns: Turn[] = []
  /** The ready addresses of each EndpointSlice. */
  const slices = new Map<string, string[]>()
  /** In how many EndpointSlices an address is ready. */
  const counts = new Map<string, number>()
  const stopping = new AbortController()
  const { signal } = stopping
  const listed = Promise.withResolvers<void>()
  let isCurrent = false

  function put(uid: string, keys: string[]): void {
    const touched = new Map<string, boolean>()
    const count = (key: string, by: number): void => {
      const before = counts.get(key) ?? 0
      if (!touched.has(key)) touched.set(key, before > 0)
      counts.set(key, before + by)
    }
    for (const key of slices.get(uid) ?? []) count(key, -1)
    for (const key of keys) count(key, 1)
    if (keys.length > 0) slices.set(uid, keys)
    else slices.delete(uid)
    const at = now()
    for (const [key, before] of touched) {
      const isReady = counts.get(key)! > 0
      if (!isReady) counts.delete(key)
      if (isReady !== before) turns.push({ at, key, isReady })
    }
  }

  async function follow(): Promise<void> {
    const list = await plane.ask('GET', PATH)
    const uids = new Set(list.items.map((one: Json) => one.metadata.uid))
    for (const one of list.items) put(one.metadata.uid, readyOf(one))
    for (const uid of slices.keys()) if (!uids.has(uid)) put(uid, [])
    isCurrent = true
    listed.resolve()
    const query = `watch=true&resourceVersion=${list.metadata.resourceVersion}`
    await plane.watch(`${PATH}?${query}`, signal, ({ type, object }) => {
      if (type === 'ERROR') throw new Error(JSON.stringify(object))
      put(object.metadata.uid, type === 'DELETED' ? [] : readyOf(object))
    })
  }
  async function run(): Promise<void> {
    while (!signal.aborted) {
      await follow().catch(() => {})
      isCurrent = false
      if (!signal.aborted) await sleep(AGAIN_MS)
    }
  }
  const ended = run()
  await listed.promise
  return {
    turns,
    ready: () => new Set(counts.keys()),
    isCurrent: () => isCurrent,
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

function readyOf({ metadata, endpoints }: Json): string[] {
  const service = metadata.labels?.['kubernetes.io/service-name']
  if (service === undefined) return []
  return (endpoints ?? [])
    .filter(({ conditions }: Json) => conditions?.ready !== false)
    .flatMap(({ addresses }: Json) => addresses.map((address: string) => `${metadata.namespace}/${service}/${address}`))
}
