import { expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import type { Adapter } from '../../../adapters/contract.ts'
import { AdapterError } from '../../../adapters/contract.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createTraffic } from './traffic.ts'

/* Where the load balancers have a pod that has got another address. */

const pod = testPod({ ip: '10.0.0.9' })
const target = (id: string, scope = 'web'): JournalTarget => ({
  loadBalancer: 'edge',
  target: id,
  scope,
  prior: { weight: 7 },
  untouched: false,
})
const BEFORE = [target('web/web-0@10.0.0.1')]

/** A load balancer that has these at the pod's address. */
function relocate(found: string[], before = BEFORE, { named = true } = {}) {
  const adapter: Adapter = {
    ...createMemoryAdapter(createMemoryBalancer([], 'web')),
    resolve: () =>
      Promise.resolve([
        found.length === 0
          ? { found: false, reason: 'no server has that address' }
          : { found: true, targets: found.map((id) => ({ id, scope: 'web' })) },
      ]),
    ...(named ? { entryOf: ({ id }) => id.split('@')[0]! } : {}),
  }
  const traffic = createTraffic({
    clock: createVirtualClock(),
    loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
    allowUnbalanced: false,
    assertOwned: () => {},
    tell: () => {},
  })
  return traffic.relocate(pod, before)
}

test('the same entry has followed it: known by its present id, with the prior state of before', async () => {
  expect(await relocate(['web/web-0@10.0.0.9'])).toEqual({
    kind: 'same',
    address: '10.0.0.9',
    targets: [target('web/web-0@10.0.0.9')],
  })
})

test('another entry has that address', async () => {
  expect(await relocate(['web/web-7@10.0.0.9'])).toEqual({
    kind: 'elsewhere',
    message: 'at its new address 10.0.0.9 it is edge/web/web-7@10.0.0.9',
  })
})

test('none has', async () => {
  expect(await relocate([])).toMatchObject({ kind: 'elsewhere', message: expect.stringContaining('in no load balancer') })
})

test('one more than it was in, or one less, is not the same', async () => {
  expect(await relocate(['web/web-0@10.0.0.9', 'web/web-1@10.0.0.9'])).toMatchObject({ kind: 'elsewhere' })
  const two = [...BEFORE, target('web/web-1@10.0.0.1')]
  expect(await relocate(['web/web-0@10.0.0.9'], two)).toMatchObject({ kind: 'elsewhere' })
})

test('an entry of another scope is another entry', async () => {
  expect(await relocate(['web/web-0@10.0.0.9'], [target('web/web-0@10.0.0.1', 'api')])).toMatchObject({ kind: 'elsewhere' })
})

test('where entries cannot move, only the very same id is the same', async () => {
  expect(await relocate(['web/web-0@10.0.0.9'], BEFORE, { named: false })).toMatchObject({ kind: 'elsewhere' })
  expect(await relocate(['web/web-0@10.0.0.1'], BEFORE, { named: false })).toMatchObject({ kind: 'same', targets: BEFORE })
})

test('a load balancer that does not answer says nothing', async () => {
  const adapter: Adapter = {
    ...createMemoryAdapter(createMemoryBalancer([], 'web')),
    resolve: () => Promise.reject(new AdapterError('edge', 'ambiguous', 'no answer')),
  }
  const traffic = createTraffic({
    clock: createVirtualClock(),
    loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
    allowUnbalanced: false,
    assertOwned: () => {},
    tell: () => {},
  })
  expect(await traffic.relocate(pod, BEFORE)).toEqual({ kind: 'unknown', message: 'edge: no answer' })
})
