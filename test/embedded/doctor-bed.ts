import { createApiServer } from '../../sim/api-server/api-server.ts'
import { createCluster, type SimulatedCluster } from '../../sim/cluster.ts'
import type { ApiServer } from '../../sim/api-server/server.ts'
import { createKubeClient } from '../../src/kube/kube-client.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { createVirtualClock, type VirtualClock } from '../../src/kube/testing/virtual-clock.ts'
import type { Transport, TransportRequest } from '../../src/kube/transport.ts'

export interface Embedded extends SimulatedCluster {
  apiServer: ApiServer
  client: KubeClient
  clock: VirtualClock
  random: { next(): number }
  /** The method and the path without the query of each request, in order. */
  calls: string[]
  /** The lists of kinds that the embedded API server does not have, by path. */
  lists: Map<string, unknown[]>
  /** The function is called with each request, and may throw. */
  onRequest: (request: TransportRequest) => void
}

/** A cluster in this process on virtual time, and sluice's own client for it. */
export function embedded({ endpointLag = [1, 8] as const }: { endpointLag?: readonly [number, number] } = {}): Embedded {
  const clock = createVirtualClock()
  let seed = 7
  const random = { next: () => (seed = (seed * 16_807 + 11) % 2_147_483_647) / 2_147_483_647 }
  const apiServer = createApiServer({ clock, random })
  const cluster = createCluster({
    clock,
    random,
    apiServer,
    images: { 'app:v1': { digest: 'sha256:v1' } },
    behaviour: { endpointLag },
  })
  const calls: string[] = []
  const made: Embedded = {
    ...cluster,
    apiServer,
    calls,
    clock,
    random,
    lists: new Map(),
    onRequest: () => {},
    client: undefined!,
  }
  const transport: Transport = {
    async send(request) {
      calls.push(`${request.method} ${request.path.split('?')[0]}`)
      made.onRequest(request)
      if (request.path === '/version') {
        const date = new Date(Math.floor(clock.wallNow() / 1_000) * 1_000).toUTCString()
        return { status: 200, headers: { date }, text: JSON.stringify({ gitVersion: 'v1.35.4' }) }
      }
      const items = made.lists.get(request.path.split('?')[0]!)
      if (items !== undefined)
        return { status: 200, headers: {}, text: JSON.stringify({ metadata: { resourceVersion: '1' }, items }) }
      return apiServer.handle(request, 'sluice')
    },
    stream: () => Promise.reject(new Error('the doctor watches nothing')),
    close: () => Promise.resolve(),
  }
  made.client = createKubeClient({ transport, clock, random })
  return made
}
