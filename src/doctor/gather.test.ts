import { expect, test } from 'vitest'
import type { KubeClient } from '../kube/client.ts'
import { pause } from '../kube/pause.ts'
import { createVirtualClock, type VirtualClock } from '../kube/testing/virtual-clock.ts'
import { KINDS } from '../workloads/kinds/index.ts'
import { createFakeApi, type FakeApi } from '../workloads/testing/fake-api.ts'
import { diagnose } from './doctor.ts'
import { gather } from './gather.ts'
import type { DoctorReport } from './report.ts'

/* Tests of the doctor on a cluster that answers slowly, or changes while it is read. */

const LEASES = '/apis/coordination.k8s.io/v1/namespaces'

interface Scene {
  clock: VirtualClock
  api: FakeApi
  renew(namespace: string, name: string, agoMs: number): void
}

/** Creates a cluster of one Ready node, with Leases that were renewed just now. */
function scene(): Scene {
  const [clock, api] = [createVirtualClock(), createFakeApi()]
  const renew: Scene['renew'] = (namespace, name, agoMs) => {
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: namespace === 'kube-system' ? 15 : 40,
      renewTime: new Date(clock.wallNow() - agoMs).toISOString(),
    }
    api.put(`${LEASES}/${namespace}/leases/${name}`, { metadata: { namespace, name }, spec })
  }
  api.put('/version', { metadata: {}, gitVersion: 'v1.35.4' })
  api.put('/api/v1/nodes/node-1', {
    metadata: { name: 'node-1' },
    status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.35.4' } },
  })
  renew('kube-node-lease', 'node-1', 4_000)
  for (const part of ['kube-scheduler', 'kube-controller-manager']) renew('kube-system', part, 1_500)
  return { clock, api, renew }
}

/** The findings with a client whose answers take `delayMs`. */
async function found({ clock, api }: Scene, delayMs: (path: string) => number = () => 0) {
  const client: KubeClient = {
    ...api.client,
    async get(path, options) {
      const late = delayMs(path.split('?')[0]!)
      if (late > 0) await pause(clock, late)
      return api.client.get(path, options)
    },
    // The caller has all rights.
    create: async () => ({
      status: { incomplete: false, resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] },
    }),
  }
  let report: DoctorReport | undefined
  void gather({ namespace: 'shop' }, { client, clock, random: { next: () => 0 }, kinds: KINDS }).then(
    (gathered) => (report = diagnose(gathered)),
  )
  await clock.runUntil(() => report !== undefined)
  return report!.checks.flatMap(({ findings }) => findings)
}

test('a list of pods that takes a minute makes no Lease old that was read in the first second', async () => {
  const slow = (path: string): number => (path.endsWith('/pods') ? 60_000 : 0)
  expect(await found(scene(), slow)).toEqual([])
})

test('control: Leases that are old when they are read are found, however long the pods take', async () => {
  const one = scene()
  one.renew('kube-node-lease', 'node-1', 55_000)
  one.renew('kube-system', 'kube-scheduler', 40_000)
  const slow = (path: string): number => (path.endsWith('/pods') ? 60_000 : 0)
  expect(await found(one, slow)).toMatchObject([
    { code: 'heartbeat-missed', ageMs: 55_000 },
    { code: 'control-plane-part-silent', part: 'kube-scheduler', ageMs: 40_000 },
  ])
})

test('Leases that are read last, renewed meanwhile, are of no clock that is ahead', async () => {
  const one = scene()
  one.clock.setTimeout(() => one.renew('kube-node-lease', 'node-1', 0), 29_000)
  expect(await found(one, (path) => (path.endsWith('/leases') ? 30_000 : 0))).toEqual([])
})

test('a node whose clock is a minute behind is told as that, once it is seen to renew its Lease', async () => {
  const one = scene()
  one.renew('kube-node-lease', 'node-1', 64_000)
  one.clock.setTimeout(() => one.renew('kube-node-lease', 'node-1', 60_000), 6_000)
  expect(await found(one)).toMatchObject([{ code: 'node-clock-behind', behindMs: 54_000 }])
})

test('a node that was late, and reports again, is late', async () => {
  const one = scene()
  one.renew('kube-node-lease', 'node-1', 58_000)
  one.clock.setTimeout(() => one.renew('kube-node-lease', 'node-1', 0), 1_000)
  expect(await found(one)).toMatchObject([{ code: 'heartbeat-late', ageMs: 58_000 }])
})

test('control: a node that does not renew its Lease in 12 s has missed it', async () => {
  const one = scene()
  one.renew('kube-node-lease', 'node-1', 64_000)
  const begunAt = one.clock.now()
  one.clock.setTimeout(() => one.renew('kube-node-lease', 'node-1', 60_000), 13_000)
  expect(await found(one)).toMatchObject([{ code: 'heartbeat-missed', ageMs: 64_000 }])
  expect(one.clock.now() - begunAt).toBe(12_000)
})

test('a node that is not Ready is not waited for', async () => {
  const one = scene()
  one.renew('kube-node-lease', 'node-1', 64_000)
  const conditions = [{ type: 'Ready', status: 'Unknown' }]
  one.api.edit('/api/v1/nodes/node-1', (node) => (node.status.conditions = conditions))
  const begunAt = one.clock.now()
  expect(await found(one)).toMatchObject([{ code: 'node-not-ready' }, { code: 'heartbeat-missed' }])
  expect(one.clock.now() - begunAt).toBe(0)
})

test('control: a Lease of the future is of a clock that is ahead', async () => {
  const one = scene()
  one.renew('kube-node-lease', 'node-1', -20_000)
  expect(await found(one)).toMatchObject([{ code: 'node-clock-ahead', aheadMs: 20_000 }])
})
