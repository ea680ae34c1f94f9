import { describe, expect, test } from 'vitest'
import type { Service } from '../../endpoints/objects.ts'
import { selects } from '../../endpoints/selectors.ts'
import type { StoredPod } from '../../endpoints/stored.ts'
import { createClusterIndex, type ServiceName } from './cluster-index.ts'

function pod(
  uid: string,
  fields: {
    labels?: Record<string, string>
    ready?: boolean
    node?: string
    namespace?: string
    phase?: string
    deleted?: boolean
  } = {},
): StoredPod {
  const { labels = { app: 'web' }, ready = true, node = 'n1', namespace = 'shop', phase = 'Running', deleted = false } = fields
  return {
    metadata: { name: uid, namespace, uid, labels, ...(deleted && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    spec: { nodeName: node, containers: [{ name: 'app' }] },
    status: {
      phase,
      podIP: '10.0.0.1',
      podIPs: [{ ip: '10.0.0.1' }],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    },
  }
}

function service(name: string, selector: Record<string, string> = { app: 'web' }, namespace = 'shop'): Service {
  return { metadata: { name, namespace, uid: name }, spec: { selector, ports: [{ port: 80 }] } }
}

function names(some: ServiceName[]): string[] {
  return some.map(({ namespace, name }) => `${namespace}/${name}`).toSorted()
}

test('a change tells the Services whose endpoints it may concern', () => {
  const index = createClusterIndex()
  const put = (object: StoredPod): string[] => names(index.apply({ kind: 'Pod', is: 'put', object }))
  index.apply({ kind: 'Service', is: 'put', object: service('web') })
  index.apply({ kind: 'Service', is: 'put', object: service('both', { app: 'web', tier: 'front' }) })
  index.apply({ kind: 'Service', is: 'put', object: service('other', { app: 'web' }, 'elsewhere') })
  index.apply({ kind: 'Service', is: 'put', object: service('none', {}) })
  expect(put(pod('a'))).toEqual(['shop/web'])
  expect(put(pod('a', { labels: { app: 'web', tier: 'front' } }))).toEqual(['shop/both', 'shop/web'])
  expect(put(pod('a', { labels: { tier: 'front' } }))).toEqual(['shop/both', 'shop/web'])
  expect(put(pod('a', { labels: { tier: 'front' } }))).toEqual([])
  put(pod('a'))
  const node = { metadata: { name: 'n1', resourceVersion: '1' } }
  expect(names(index.apply({ kind: 'Node', is: 'put', object: node }))).toEqual(['shop/web'])
  const heartbeat = { metadata: { name: 'n1', resourceVersion: '2' } }
  expect(index.apply({ kind: 'Node', is: 'put', object: heartbeat })).toEqual([])
  expect(index.node('n1')).toBe(heartbeat)
  const tainted = { metadata: { name: 'n1', resourceVersion: '3' }, spec: { unschedulable: true } }
  expect(names(index.apply({ kind: 'Node', is: 'put', object: tainted }))).toEqual(['shop/web'])
  expect(names(index.apply({ kind: 'Pod', is: 'gone', object: pod('a') }))).toEqual(['shop/web'])
  expect(index.apply({ kind: 'Node', is: 'gone', object: tainted })).toEqual([])
})

test('a slice that comes to belong to another Service concerns both', () => {
  const index = createClusterIndex()
  const slice = (of: string) => ({
    metadata: { name: 'web-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': of } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true, serving: true }, targetRef: { kind: 'Pod', uid: 'a' } }],
  })
  expect(names(index.apply({ kind: 'EndpointSlice', is: 'put', object: slice('web') }))).toEqual(['shop/web'])
  expect(names(index.apply({ kind: 'EndpointSlice', is: 'put', object: slice('shop') }))).toEqual(['shop/shop', 'shop/web'])
  expect([index.slicesOf('shop', 'web').length, index.slicesOf('shop', 'shop').length]).toEqual([0, 1])
  index.apply({ kind: 'EndpointSlice', is: 'gone', object: slice('shop') })
  expect(index.slicesOf('shop', 'shop')).toEqual([])
})

test('the previous entry of a pod is found in the slices and the Endpoints of the Service, the ready one first', () => {
  const index = createClusterIndex()
  const slice = (name: string, ready: boolean | undefined) => ({
    metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], ...(ready === undefined ? {} : { conditions: { ready } }), targetRef: { uid: 'a' } }],
  })
  const previous = (uid: string, kind: 'EndpointSlice' | 'Endpoints' = 'EndpointSlice') =>
    index.previousOf('shop', 'web', kind, uid)
  expect(previous('a')).toBeUndefined()
  index.apply({ kind: 'EndpointSlice', is: 'put', object: slice('web-1', false) })
  expect([previous('a'), previous('b')]).toEqual([{ ready: false, serving: false }, undefined])
  index.apply({ kind: 'EndpointSlice', is: 'put', object: slice('web-2', undefined) })
  expect(previous('a')).toEqual({ ready: true, serving: true })
  index.apply({
    kind: 'Endpoints',
    is: 'put',
    object: {
      metadata: { name: 'web', namespace: 'shop' },
      subsets: [
        { addresses: [{ ip: '10.0.0.1', targetRef: { uid: 'a' } }] },
        {
          notReadyAddresses: [
            { ip: '10.0.0.1', targetRef: { uid: 'a' } },
            { ip: '10.0.0.2', targetRef: { uid: 'b' } },
          ],
        },
      ],
    },
  })
  expect([previous('a', 'Endpoints'), previous('b', 'Endpoints')]).toEqual([
    { ready: true, serving: true },
    { ready: false, serving: false },
  ])
})

describe('the state of a pod at an instant', () => {
  const START = Date.parse('2026-01-01T00:00:00Z')

  function start() {
    const index = createClusterIndex()
    const sliceOf = (name: string, entries: Record<string, boolean>, writtenAt?: number) => ({
      metadata: {
        name,
        namespace: 'shop',
        labels: { 'kubernetes.io/service-name': 'web' },
        ...(writtenAt !== undefined && { managedFields: [{ time: new Date(START + writtenAt).toISOString() }] }),
      },
      addressType: 'IPv4',
      endpoints: Object.entries(entries).map(([uid, ready]) => ({
        addresses: ['10.0.0.1'],
        conditions: { ready, serving: ready },
        targetRef: { uid },
      })),
    })
    return {
      index,
      put: (name: string, entries: Record<string, boolean>, at: number, writtenAt?: number) =>
        index.apply({ kind: 'EndpointSlice', is: 'put', object: sliceOf(name, entries, writtenAt) }, START + at),
      gone: (name: string, at: number) =>
        index.apply({ kind: 'EndpointSlice', is: 'gone', object: sliceOf(name, {}) }, START + at),
      at(instant: number, uid = 'a', wished = false) {
        const since = { at: START + instant, wished: { ready: wished, serving: wished } }
        const state = index.stateBefore('shop', 'web', 'EndpointSlice', uid, since)
        return typeof state === 'object' ? state.ready : state
      },
    }
  }

  test('is that before the first change since then, in all slices of the Service', () => {
    const { index, put, at } = start()
    put('web-1', { a: true }, 1_000)
    put('web-1', { a: true }, 2_000)
    // An endpoint without a later change has the state that is stored.
    expect([at(0), at(9_000)]).toEqual([undefined, undefined])
    put('web-1', { a: false }, 3_000)
    expect([at(999), at(2_999), at(4_000)]).toEqual([true, true, undefined])
    put('web-2', { a: false }, 4_000)
    put('web-2', { a: true }, 5_000)
    put('web-1', { a: true }, 6_000)
    expect([at(4_000), at(4_999), at(6_000)]).toEqual([false, false, undefined])
    expect(
      index.stateBefore('shop', 'web', 'Endpoints', 'a', { at: START, wished: { ready: false, serving: false } }),
    ).toBeUndefined()
  })

  test('goes by the time of the write, and not by that at which it was seen', () => {
    const { put, at } = start()
    put('web-1', { a: true }, 1_000, 0)
    put('web-1', { a: false }, 60_000, 2_000)
    expect([at(1_999), at(3_000)]).toEqual([true, undefined])
  })

  test('is that before a change in the same second, where the change led to what is wished now', () => {
    const { put, at } = start()
    put('web-1', { a: false }, 1_000)
    put('web-1', { a: true }, 3_100)
    expect([at(3_900, 'a', false), at(3_900, 'a', true)]).toEqual([undefined, false])
    put('web-1', { a: false }, 3_200)
    expect([at(3_000, 'a', false), at(3_000, 'a', true)]).toEqual([true, undefined])
    put('web-1', { a: true }, 8_000)
    expect([at(3_000, 'a', false), at(3_000, 'a', true)]).toEqual([true, false])
  })

  test('is absent where no object had the pod', () => {
    const { put, gone, at } = start()
    put('web-1', { b: true }, 1_000)
    put('web-1', { a: true, b: true }, 2_000)
    put('web-1', { b: true }, 3_000)
    put('web-1', { a: false, b: true }, 4_000)
    expect([at(1_500), at(2_500), at(3_500), at(5_000)]).toEqual(['absent', true, 'absent', undefined])
    gone('web-1', 5_000)
    expect([at(4_500, 'a', true), at(4_500, 'b')]).toEqual([false, true])
  })

  test('is forgotten with the pod, and the oldest changes first', () => {
    const { index, put, at } = start()
    index.apply({ kind: 'Pod', is: 'put', object: pod('a') })
    for (let turn = 0; turn <= 9; turn += 1) put('web-1', { a: turn % 2 === 0 }, turn * 1_000)
    expect([at(1_999), at(2_000), at(9_000)]).toEqual([undefined, true, true])
    put('web-1', { a: true }, 90_000_000)
    expect([at(9_999), at(10_000)]).toEqual([undefined, false])
    index.apply({ kind: 'Pod', is: 'gone', object: pod('a') })
    expect(at(10_000)).toBeUndefined()
  })

  test('is kept of so many pods that are not in the view', () => {
    const { index, put, at } = start()
    index.apply({ kind: 'Pod', is: 'put', object: pod('seen') })
    const uids = ['seen', 'late', ...Array.from({ length: 999 }, (_, number) => `unknown-${number}`)]
    const entries = (some: string[], ready: boolean) => Object.fromEntries(some.map((uid) => [uid, ready]))
    put('web-1', entries(uids, true), 1_000)
    put('web-1', entries(uids, false), 2_000)
    expect([at(1_500, 'seen'), at(1_500, 'late'), at(1_500, 'unknown-998')]).toEqual([true, true, true])
    // A pod that is seen later has its history.
    index.apply({ kind: 'Pod', is: 'put', object: pod('late') })
    for (const round of [1, 2]) {
      const others = entries(
        Array.from({ length: 600 }, (_, number) => `${round}-${number}`),
        true,
      )
      put(`more-${round}`, others, 3_000)
      put(`more-${round}`, {}, 4_000)
    }
    const known = ['seen', 'late', 'unknown-0', 'unknown-998', '1-0', '1-599', '2-0'].filter(
      (uid) => at(1_500, uid) !== undefined,
    )
    expect(known).toEqual(['seen', 'late', '1-599', '2-0'])
  })
})

test('pods are counted as a scan of all pods would count them, whatever the order of the changes', () => {
  let seed = 11
  const roll = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
  const pick = <T>(some: readonly T[]): T => some[roll(some.length)]!
  let seen = 0
  for (let round = 0; round < 40; round += 1) {
    const index = createClusterIndex()
    const pods = new Map<string, StoredPod>()
    const services = new Map<string, Service>()
    for (let step = 0; step < 120; step += 1) {
      const labels = Object.fromEntries(['app', 'tier'].filter(() => roll(3) > 0).map((name) => [name, pick(['a', 'b'])]))
      if (roll(4) > 0) {
        const object = pod(String(roll(12)), {
          labels,
          ready: roll(2) === 0,
          namespace: 'shop',
          phase: pick(['Running', 'Running', 'Succeeded']),
          deleted: roll(4) === 0,
        })
        const is = roll(4) === 0 ? 'gone' : 'put'
        index.apply({ kind: 'Pod', is, object })
        if (is === 'gone') pods.delete(object.metadata.uid)
        else pods.set(object.metadata.uid, object)
      } else {
        const object = service(pick(['x', 'y', 'z']), labels)
        const is = roll(4) === 0 ? 'gone' : 'put'
        index.apply({ kind: 'Service', is, object })
        if (is === 'gone') services.delete(object.metadata.name)
        else services.set(object.metadata.name, object)
      }
      for (const one of services.values()) {
        const selector = Object.keys(one.spec.selector ?? {})
        const selected = selector.length === 0 ? [] : [...pods.values()].filter((candidate) => selects(one, candidate))
        const counted = selected.filter(({ status }) => status?.phase !== 'Succeeded')
        const ready = counted.filter(
          ({ metadata, status }) => !metadata.deletionTimestamp && status?.conditions?.[0]?.status === 'True',
        )
        expect(index.podsOf(one)).toEqual({ all: counted.length, ready: ready.length })
        // A Service that is not the one of the index.
        expect(index.podsOf({ ...one, metadata: { ...one.metadata, name: 'unknown' } })).toEqual(index.podsOf(one))
        const uids = (some: StoredPod[]): string[] => some.map(({ metadata }) => metadata.uid).toSorted()
        expect(uids(index.selectedPods(one))).toEqual(uids(selected))
        seen += ready.length
      }
    }
  }
  expect(seen).toBeGreaterThan(1_000)
})

test('20,000 questions about a Service with 5,000 pods scan no pods', () => {
  const index = createClusterIndex()
  const web = service('web')
  index.apply({ kind: 'Service', is: 'put', object: web })
  let reads = 0
  for (let of = 0; of < 5_000; of += 1) {
    const object = pod(String(of))
    const { labels } = object.metadata
    Object.defineProperty(object.metadata, 'labels', {
      get() {
        reads += 1
        return labels
      },
    })
    index.apply({ kind: 'Pod', is: 'put', object })
  }
  reads = 0
  for (let times = 0; times < 20_000; times += 1) index.podsOf(index.service('shop', 'web')!)
  expect([index.podsOf(web), reads]).toEqual([{ all: 5_000, ready: 5_000 }, 0])
})
