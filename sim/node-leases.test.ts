import { expect, test } from 'vitest'
import { createApiServer } from './api-server/api-server.ts'
import { createCluster } from './cluster.ts'
import { keepNodeLeases } from './node-leases.ts'
import { createVirtualTime } from './testing/virtual-time.ts'

test('a node renews its Lease while its kubelet reports, and not after the end', () => {
  const clock = createVirtualTime()
  const random = { next: () => 0.5 }
  const apiServer = createApiServer({ clock, random })
  const { store } = apiServer
  const { nodes, isAlive, ...cluster } = createCluster({ clock, random, apiServer, nodes: 2, images: {} })
  const stop = keepNodeLeases({ store, clock, nodes, isAlive, everyMs: 10_000 })
  const ageOf = (node: string): number => {
    const lease = store.get('leases.coordination.k8s.io', 'kube-node-lease', node) as unknown as { spec: { renewTime: string } }
    return clock.wallNow() - Date.parse(lease.spec.renewTime)
  }
  clock.advance(25_000)
  cluster.stopKubelet('node-1')
  clock.advance(20_000)
  expect([ageOf('node-0'), ageOf('node-1')]).toEqual([5_000, 25_000])
  cluster.continueKubelet('node-1')
  clock.advance(10_000)
  expect(ageOf('node-1')).toBe(5_000)
  stop()
  clock.advance(60_000)
  expect(ageOf('node-0')).toBe(65_000)
})

test('the grace period of the node controller can be changed; it counts from the next silence on', () => {
  const clock = createVirtualTime()
  const random = { next: () => 0.5 }
  const apiServer = createApiServer({ clock, random })
  const cluster = createCluster({ clock, random, apiServer, images: {}, behaviour: { nodeMonitorGracePeriodMs: 3_000 } })
  const ready = (): string => {
    const { status } = apiServer.store.get('nodes', '', 'node-0') as unknown as { status: { conditions: { status: string }[] } }
    return status.conditions[0]!.status
  }
  const silent = (ms: number): string => {
    cluster.stopKubelet('node-0')
    clock.advance(ms)
    const told = ready()
    cluster.continueKubelet('node-0')
    clock.advance(5_000)
    return told
  }
  expect(silent(6_000)).toBe('Unknown')
  cluster.setNodeMonitorGracePeriod(30_000)
  expect(silent(6_000)).toBe('True')
})
