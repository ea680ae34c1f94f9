import type { KubeApi, KubeObject } from '../kube-api.ts'

export type Rotation = 'in' | 'out'

/** What the API has shown of the addresses of one Service. */
export interface FollowedEndpoints {
  /** The states of each pod in the EndpointSlices, and in the Endpoints, without repetitions. A pod that is not there is out. */
  slices(): Record<string, Rotation[]>
  endpoints(): Record<string, Rotation[]>
  /** The number of changes since the start, of all pods. */
  flips(): { slices: number; endpoints: number }
  stop(): Promise<void>
}

/** Follows the EndpointSlices and the Endpoints of a Service by watches, so that no change is missed. */
export async function followEndpoints(api: KubeApi, namespace: string, service: string): Promise<FollowedEndpoints> {
  const stopping = new AbortController()
  const slices = history()
  const endpoints = history()
  const label = `labelSelector=${encodeURIComponent(`kubernetes.io/service-name=${service}`)}`
  const watches: Promise<void>[] = []
  await follow(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?${label}`, slicePods, slices)
  await follow(`/api/v1/namespaces/${namespace}/endpoints?fieldSelector=metadata.name%3D${service}`, endpointsPods, endpoints)

  async function follow(
    path: string,
    podsOf: (object: KubeObject) => Record<string, Rotation>,
    to: ReturnType<typeof history>,
  ): Promise<void> {
    const list = await api.request('GET', path)
    const objects = new Map<string, KubeObject>(list.items.map((one: KubeObject) => [one.metadata.name, one]))
    const tell = (): void => to.add(Object.assign({}, ...[...objects.values()].map(podsOf)) as Record<string, Rotation>)
    tell()
    const since = `&watch=1&resourceVersion=${list.metadata.resourceVersion}`
    watches.push(
      api.watch(
        path + since,
        ({ type, object }) => {
          if (type === 'BOOKMARK' || type === 'ERROR') return
          if (type === 'DELETED') objects.delete(object.metadata.name)
          else objects.set(object.metadata.name, object)
          tell()
        },
        stopping.signal,
      ),
    )
  }

  return {
    slices: slices.of,
    endpoints: endpoints.of,
    flips: () => ({ slices: slices.flips(), endpoints: endpoints.flips() }),
    async stop() {
      stopping.abort()
      await Promise.all(watches)
    },
  }
}

/** The state of each pod in one EndpointSlice. */
export function slicePods({ endpoints }: KubeObject): Record<string, Rotation> {
  return Object.fromEntries(
    (endpoints ?? []).map(({ targetRef, conditions }: KubeObject) => [targetRef.name, conditions.ready === true ? 'in' : 'out']),
  )
}

function endpointsPods({ subsets }: KubeObject): Record<string, Rotation> {
  return Object.fromEntries(
    (subsets ?? []).flatMap(({ addresses = [], notReadyAddresses = [] }: KubeObject) => [
      ...addresses.map(({ targetRef }: KubeObject) => [targetRef.name, 'in']),
      ...notReadyAddresses.map(({ targetRef }: KubeObject) => [targetRef.name, 'out']),
    ]),
  )
}

function history() {
  const pods = new Map<string, Rotation[]>()
  return {
    add(now: Record<string, Rotation>): void {
      for (const name of Object.keys(now)) if (!pods.has(name)) pods.set(name, [])
      for (const [name, states] of pods) {
        const state = now[name] ?? 'out'
        if (states.at(-1) !== state) states.push(state)
      }
    },
    of: () => Object.fromEntries([...pods].sort(([a], [b]) => a.localeCompare(b))),
    flips: () => [...pods.values()].reduce((sum, states) => sum + states.length - 1, 0),
  }
}
