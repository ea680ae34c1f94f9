import { expect, test } from 'vitest'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import { createFakeApi } from '../workloads/testing/fake-api.ts'
import { openEndpointStore } from './endpoint-store.ts'
import { withObservation } from './testing/with-observation.ts'

const PATH = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'
const OWN = 'endpointslice-controller.k8s.io'

interface SliceOptions {
  service?: string
  by?: string
  /** The readiness by pod; undefined if the slice does not have it. */
  ready?: Record<string, boolean | undefined>
  /** The pods that sluice has drained in the slice. */
  drained?: string[]
}

function slice(name: string, { service, by = OWN, ready = { 'uid-0': true }, drained = [] }: SliceOptions): object {
  return {
    metadata: {
      name,
      namespace: 'shop',
      labels: {
        ...(service === undefined ? {} : { 'kubernetes.io/service-name': service }),
        'endpointslice.kubernetes.io/managed-by': by,
      },
      annotations: { 'sluice.dev/drained': drained.map((uid) => `address-of-${uid}`).join(',') },
    },
    endpoints: Object.entries(ready).map(([uid, one]) => ({
      addresses: [`address-of-${uid}`],
      conditions: { ready: one },
      targetRef: { kind: 'Pod', uid },
    })),
  }
}

async function open(slices: Record<string, SliceOptions>) {
  const api = createFakeApi()
  const put = (name: string, options: SliceOptions): void => void api.put(`${PATH}/${name}`, slice(name, options))
  for (const [name, options] of Object.entries(slices)) put(name, options)
  const changed: string[] = []
  const store = await openEndpointStore({
    ...withObservation({ client: api.client, clock: createVirtualClock(), random: { next: () => 0 } }),
    namespace: 'shop',
    onChange: (uids) => changed.push(...uids),
    onError(error) {
      throw error
    },
  })
  return { api, store, put, changed, settle: () => new Promise((resolve) => setImmediate(resolve)) }
}

test('a pod’s endpoints by Service and controller, with the slices that say no', async () => {
  const { store } = await open({
    'web-1': { service: 'web', ready: { 'uid-0': true, 'uid-1': false } },
    'web-2': { service: 'web', ready: { 'uid-0': false } },
    'web-mesh': { service: 'web', by: 'mesh.example', ready: { 'uid-0': false } },
    'no-service': { by: OWN, ready: { 'uid-0': undefined } },
  })
  expect(store.of('uid-0')).toEqual([
    { source: 'web', unready: ['web-2'], followsReady: true },
    { source: 'mesh.example/web', unready: ['web-mesh'], followsReady: false },
    { source: `${OWN}/no-service`, unready: [], followsReady: false },
  ])
  expect(store.of('uid-1')).toEqual([{ source: 'web', unready: ['web-1'], followsReady: true }])
  expect(store.of('uid-2')).toEqual([])
  await store.stop()
})

test('what sluice itself has drained in a slice does not say no', async () => {
  const { store } = await open({
    'edge-1': { service: 'edge', by: 'team.example', ready: { 'uid-0': false, 'uid-1': false }, drained: ['uid-0'] },
  })
  const source = 'team.example/edge'
  expect(store.of('uid-0')).toEqual([{ source, unready: [], followsReady: false }])
  expect(store.of('uid-1')).toEqual([{ source, unready: ['edge-1'], followsReady: false }])
  await store.stop()
})

test('only the pods of which something has changed are told of', async () => {
  const ready = { 'uid-0': true, 'uid-1': true }
  const { store, put, changed, settle } = await open({ 'web-1': { service: 'web', ready } })
  const before = [store.of('uid-0'), store.of('uid-1')]
  changed.length = 0
  put('web-1', { service: 'web', ready: { ...ready, 'uid-1': false } })
  await settle()
  expect(changed).toEqual(['uid-1'])
  expect(store.of('uid-0')).toBe(before[0])
  expect(store.of('uid-1')).not.toBe(before[1])
  await store.stop()
})

test('a slice that is gone says nothing any more', async () => {
  const { api, store, settle } = await open({ 'web-1': { service: 'web', ready: { 'uid-0': false } } })
  api.remove(`${PATH}/web-1`)
  await settle()
  expect(store.of('uid-0')).toEqual([])
  await store.stop()
})
