import { setTimeout as sleep } from 'node:timers/promises'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import type { Delays } from '../../sim/kubelet/delays.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { appContainer, statefulSet } from './stateful-set.ts'

/** Many StatefulSets of one namespace in the embedded cluster, each with a Service. */
export interface ManySets {
  readonly cluster: EmbeddedCluster
  /** The names `web-0`, `web-1` and so on. */
  readonly names: string[]
  pods(): Pod[]
  /** The watches, as the API server counts them. */
  readonly watches: WatchCount
  stop(): Promise<void>
}

export interface WatchCount {
  /** Returns the collections that are watched now, one for each watch. */
  open(): string[]
  /** Returns the most watches at once since `reset`. */
  most(): number
  reset(): void
}

export interface ManySetsOptions {
  sets: number
  /** The number of pods of each set. */
  pods: number
  /** The time from the start of a container until it answers correctly. */
  readyAfterMs: number
  /** Delays in place of the measured ones. */
  delays?: Partial<Delays>
}

export const PORT = 8080
const PODS_A_NODE = 50

export async function startManySets({ sets, pods: replicas, readyAfterMs, delays = {} }: ManySetsOptions): Promise<ManySets> {
  const image = (digest: string) => ({ digest, readyAfterMs })
  const cluster = await startEmbeddedCluster({
    nodes: Math.ceil((sets * replicas) / PODS_A_NODE),
    images: Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`app:v${index}`, image(`sha256:${index}`)])),
    behaviour: { delays },
  })
  const watches = countWatches(cluster)
  const names = Array.from({ length: sets }, (_, index) => `web-${index}`)
  for (const name of names) for (const manifest of manifestsOf(name, replicas)) cluster.apply(manifest)
  const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]
  const giveUpAt = performance.now() + 180_000
  while (pods().length < sets * replicas || !pods().every(isReady)) {
    if (performance.now() > giveUpAt) throw new Error(`waited in vain for ${sets * replicas} ready pods`)
    await sleep(50)
  }
  return { cluster, names, pods, watches, stop: () => cluster.close() }
}

function countWatches({ apiServer }: EmbeddedCluster): WatchCount {
  const watch = apiServer.watch.bind(apiServer)
  const open = new Map<symbol, string>()
  let most = 0
  apiServer.watch = (request, sink, by) => {
    const watching = watch(request, sink, by)
    if (watching.kind === 'refused') return watching
    const key = Symbol(request.path)
    open.set(key, request.path.split('?', 1)[0]!)
    most = Math.max(most, open.size)
    return {
      kind: 'watching',
      close() {
        open.delete(key)
        watching.close()
      },
    }
  }
  return {
    open: () => [...open.values()].toSorted(),
    most: () => most,
    reset: () => (most = open.size),
  }
}

function manifestsOf(name: string, replicas: number): Parameters<EmbeddedCluster['apply']>[0][] {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: name }, ports: [{ port: 80, targetPort: PORT }] },
  }
  return [statefulSet(name, replicas, [appContainer(PORT)]), service]
}
