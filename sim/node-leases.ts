import type { Clock } from '../src/ports/clock.ts'
import type { Store } from './api-server/server.ts'

const NAMESPACE = 'kube-node-lease'
/** A kubelet renews its Lease four times in the duration of the Lease. */
const RENEWALS = 4

/** The options for the Leases, by which nodes show that they are alive. */
export interface NodeLeasesOptions {
  store: Store
  clock: Clock
  nodes: readonly string[]
  /** Reports whether the kubelet of the node reports. */
  isAlive: (node: string) => boolean
  everyMs: number
}

/** Keeps the Lease of each node as its kubelet does, until the returned function is called. */
export function keepNodeLeases({ store, clock, nodes, isAlive, everyMs }: NodeLeasesOptions): () => void {
  let timer: unknown
  store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, 'kube-apiserver')

  function renew(node: string): void {
    // The renewal time has microseconds.
    const renewTime = new Date(clock.wallNow()).toISOString().replace('Z', '000Z')
    const spec = { holderIdentity: node, leaseDurationSeconds: Math.ceil((everyMs * RENEWALS) / 1_000), renewTime }
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: node, namespace: NAMESPACE }, spec }
    const resource = 'leases.coordination.k8s.io'
    const renewed = store.update(resource, NAMESPACE, node, (now) => ({ ...now, spec }), 'kubelet')
    if (renewed === undefined) store.create(resource, lease, 'kubelet')
  }

  function renewAll(): void {
    for (const node of nodes) if (isAlive(node)) renew(node)
    timer = clock.setTimeout(renewAll, everyMs)
  }

  renewAll()
  return () => clock.clearTimeout(timer)
}
