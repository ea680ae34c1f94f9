import { POD } from '../../workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createLeaseServer } from '../testing/lease-server.ts'
import type { World } from '../world.ts'
import { leaseName } from './lease-name.ts'
import { seeLeases, seeOthers } from './see-leases.ts'

const NAMESPACE = 'shop'
const WEB = { ...STATEFUL_SET, name: 'web', namespace: NAMESPACE } as const
const BARE = { ...POD, name: 'bare', namespace: NAMESPACE } as const
const worldOf = (...refs: object[]): World => ({ workloads: refs.map((ref) => ({ workload: { ref } })) }) as unknown as World

test('the Leases of what pods and labels are about are known once that is known, but for those of bare pods', async () => {
  const server = createLeaseServer()
  server.write({ holderIdentity: 'ann' })
  const ports = { client: server.client, clock: createVirtualClock() }
  const request = { namespace: NAMESPACE, select: { labelSelector: 'app=web' } }
  const seen = await seeLeases(request, ports)
  expect(seen.size).toBe(0)
  const now = await seeOthers(seen, worldOf(WEB, BARE), request, ports)
  expect(Array.from(now, ([name, { record }]) => [name, record.holder])).toEqual([['sluice-statefulset-web', 'ann']])
  expect(server.calls).toEqual(['GET'])
})

test('what was asked for by name was seen before the world was looked at, and stays so', async () => {
  const server = createLeaseServer()
  const ports = { client: server.client, clock: createVirtualClock() }
  const seen = new Map([[leaseName(WEB), { record: { holder: 'ben' }, since: 0 }]]) as unknown as Awaited<
    ReturnType<typeof seeLeases>
  >
  const request = { namespace: NAMESPACE, select: { refs: [WEB] } }
  expect(await seeOthers(seen, worldOf(WEB), request, ports)).toEqual(seen)
  expect(await seeOthers(new Map(), worldOf(WEB), request, ports)).toEqual(new Map())
  expect(server.calls).toEqual([])
})
