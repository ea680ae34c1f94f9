import { describe, expect, test } from 'vitest'
import { createLags } from './lags.ts'
import { LAGS_KEPT_MS } from './limits.ts'
import {
  copyOf,
  createScene,
  endpointsOf,
  healthyScene,
  PERSON,
  seenPod,
  seenService,
  selectorless,
  START,
} from './testing/scene.ts'

const service = seenService()

test('a pod that turns not ready: each leg has its instants and its lag', () => {
  const down = seenPod('web-0', { ready: false })
  const scene = healthyScene()
    .entry('edge', { address: '10.0.0.1' })
    .read('edge')
    .at(1_000)
    .pod(down)
    .at(1_400)
    .endpoints({ ...endpointsOf('EndpointSlice', service, [down]), triggerAt: '1970-01-01T00:16:41Z' })
    .at(1_600)
    .endpoints(endpointsOf('Endpoints', service, [down]))
    .at(3_000)
    .entry('edge', { address: '10.0.0.1', admin: 'out' })
  const common = { cluster: 'east', namespace: 'shop', service: 'web', address: '10.0.0.1', pod: 'web-0' }
  expect(scene.told).toEqual([
    {
      type: 'pod',
      at: 1_001_000,
      cluster: 'east',
      namespace: 'shop',
      pod: 'web-0',
      change: 'not-ready',
      because: { code: 'containers-not-ready', containers: [{ name: 'app' }] },
    },
    {
      type: 'endpoint',
      at: 1_001_400,
      ...common,
      object: 'EndpointSlice',
      name: 'web-abcde',
      change: 'not-ready',
      triggerAt: '1970-01-01T00:16:41Z',
      lagMs: 400,
    },
    { type: 'endpoint', at: 1_001_600, ...common, object: 'Endpoints', name: 'web', change: 'not-ready', lagMs: 600 },
    {
      type: 'entry',
      at: 1_003_000,
      loadBalancer: 'edge',
      entry: 'a',
      address: '10.0.0.1:80',
      change: 'out',
      namespace: 'shop',
      pod: 'web-0',
      lags: [{ cluster: 'east', namespace: 'shop', service: 'web', lagMs: 1_600 }],
    },
  ])
  expect(scene.observer.summary().legs).toMatchObject([
    { leg: 'endpointslice-load-balancer', loadBalancer: 'edge', changes: 1, maxMs: 1_600 },
    { leg: 'pod-endpoints', changes: 1, p50Ms: 600, maxMs: 600 },
    { leg: 'pod-endpointslice', changes: 1, p50Ms: 400, maxMs: 400 },
  ])
})

test('endpoints that are seen to change before their pod have a lag of 0', () => {
  const down = seenPod('web-0', { ready: false })
  const scene = healthyScene()
    .at(1_000)
    .endpoints(endpointsOf('EndpointSlice', service, [down]))
    .at(1_200)
    .pod(down)
  expect(scene.observer.summary().legs).toMatchObject([{ leg: 'pod-endpointslice', changes: 1, maxMs: 0 }])
})

test('a pod that goes back before its endpoints have followed has no lag', () => {
  const scene = healthyScene()
    .at(1_000)
    .pod(seenPod('web-0', { ready: false }))
    .at(1_100)
    .pod(seenPod('web-0'))
  expect(scene.observer.summary().legs).toEqual([])
})

test('a load balancer that drains before the endpoints change follows none of them', () => {
  const down = seenPod('web-0', { ready: false })
  const scene = healthyScene()
    .entry('edge', { address: '10.0.0.1' })
    .read('edge')
    .at(1_000)
    .entry('edge', { address: '10.0.0.1', admin: 'draining' })
    .at(2_000)
    .pod(down)
    .endpoints(endpointsOf('EndpointSlice', service, [down]))
    .at(3_000)
    .entry('edge', { address: '10.0.0.1', admin: 'out' })
  expect(scene.told.filter(({ type }) => type === 'entry')).toMatchObject([
    { change: 'draining', lags: [] },
    { change: 'out', lags: [] },
  ])
})

describe('an entry that turns in after its address was ready', () => {
  const at = { address: '10.0.0.1' }
  const down = seenPod('web-0', { ready: false })
  const lags = (scene: ReturnType<typeof createScene>) =>
    scene.told.flatMap((one) => (one.type === 'entry' && one.change === 'in' ? one.lags : []))
  /** The pod and its slice are not ready at 2 s, and ready again at 7 s. */
  function restarted(scene: ReturnType<typeof createScene>) {
    scene
      .at(2_000)
      .pod(down)
      .endpoints(endpointsOf('EndpointSlice', service, [down]))
    return scene
      .at(7_000)
      .pod(seenPod('web-0'))
      .endpoints(endpointsOf('EndpointSlice', service, [seenPod('web-0')]))
  }
  const start = () => healthyScene().entry('edge', at).read('edge').at(1_000)

  test('has a lag where its checks had failed', () => {
    const scene = start()
    restarted(scene.entry('edge', { ...at, isRoutable: false }))
      .at(8_000)
      .entry('edge', at)
    expect(lags(scene)).toMatchObject([{ service: 'web', lagMs: 1_000 }])
  })

  test('has none after a drain: its program restores it when it sees fit', () => {
    for (const admin of ['draining', 'out', 'unknown'] as const) {
      const scene = start()
      restarted(scene.entry('edge', { ...at, admin }))
        .at(67_000)
        .entry('edge', at)
      expect(lags(scene)).toEqual([])
    }
    const checked = start()
    restarted(checked.entry('edge', { ...at, admin: 'draining' }))
    checked
      .at(66_000)
      .entry('edge', { ...at, isRoutable: false })
      .at(67_000)
      .entry('edge', at)
    expect(lags(checked)).toEqual([])
  })

  test('has none after a drain that takes it away; a new one has', () => {
    const scene = start()
    restarted(scene.entryGone('edge'))
      .at(67_000)
      .entry('edge', { ...at, id: 'b' })
    expect(lags(scene)).toEqual([])
    const fresh = restarted(healthyScene().read('edge')).at(8_000).entry('edge', at)
    expect(lags(fresh)).toMatchObject([{ service: 'web', lagMs: 1_000 }])
  })

  test('an address that is not ready, and then gone, gets no requests since the first of the two', () => {
    const scene = start()
      .pod(down)
      .endpoints(endpointsOf('EndpointSlice', service, [down]))
      .at(4_000)
      .podGone('web-0')
    scene
      .endpoints(endpointsOf('EndpointSlice', service, []))
      .at(5_000)
      .entry('edge', { ...at, admin: 'out' })
    expect(scene.told.at(-1)).toMatchObject({ lags: [{ lagMs: 4_000 }] })
  })
})

test('an address that moves to another slice stays ready for load balancers', () => {
  const pod = seenPod('web-0')
  const slice = endpointsOf('EndpointSlice', service, [pod])
  const scene = healthyScene()
    .entry('edge', { address: '10.0.0.1' })
    .read('edge')
    .at(1_000)
    .endpoints({ ...slice, uid: 'other', name: 'web-other' })
    .endpoints({ ...slice, addresses: [] })
    .at(2_000)
    .entry('edge', { address: '10.0.0.1', admin: 'out' })
  expect(scene.told.at(-1)).toMatchObject({ type: 'entry', change: 'out', lags: [] })
})

test('addresses that name no pod are told as they come and go, without a lag', () => {
  const own = endpointsOf('Endpoints', service, [seenPod('web-0')])
  const byHand = { ...own, addresses: [...own.addresses, { address: '192.0.2.1', ready: true }], by: PERSON }
  const scene = healthyScene().at(1_000).endpoints(byHand).at(2_000).endpoints(byHand).at(3_000).endpoints(own)
  expect(scene.told.filter(({ type }) => type === 'endpoint')).toEqual(
    (['ready', 'gone'] as const).map((change, index) => ({
      type: 'endpoint',
      at: START + 1_000 + index * 2_000,
      cluster: 'east',
      namespace: 'shop',
      service: 'web',
      object: 'Endpoints',
      name: 'web',
      address: '192.0.2.1',
      change,
    })),
  )
})

test('what was so at the beginning is told as no change, and measured by nobody', () => {
  const scene = createScene().at(0).service(service).pod(seenPod('web-0')).synced().at(5_000)
  scene.node('node-1').endpoints(endpointsOf('EndpointSlice', service, [seenPod('web-0')]))
  expect(scene.observer.summary().legs.filter(({ maxMs }) => maxMs > 0)).toEqual([])
  expect(scene.told.map(({ type }) => type)).toEqual(['node', 'endpoint'])
})

describe('copies of addresses by another program', () => {
  const web0 = seenPod('web-0')
  const kinds = ['EndpointSlice', 'Endpoints'] as const
  const legOf = { EndpointSlice: 'endpointslice-endpointslice', Endpoints: 'endpointslice-endpoints' } as const
  const endpointLines = (scene: ReturnType<typeof createScene>) =>
    scene.told.flatMap((one) => (one.type === 'endpoint' && one.service === 'copy' ? [one] : []))
  /** The pod in the cluster east goes at 1 s, and its slice follows at 1.5 s. The copy in `cluster` follows 300 s later. */
  function gone(kind: (typeof kinds)[number], hasReference: boolean, cluster: string) {
    const scene = healthyScene({ clusters: ['east', 'access'] }).in('access')
    if (cluster === 'access') scene.synced()
    scene
      .in(cluster)
      .service(selectorless('copy'))
      .endpoints(copyOf(kind, [web0], hasReference))
      .in('east')
      .at(1_000)
      .podGone('web-0')
    for (const own of kinds) scene.at(1_500).endpoints(endpointsOf(own, service, []))
    return scene
      .in(cluster)
      .at(301_500)
      .endpoints(copyOf(kind, [], hasReference))
  }

  test.each(
    kinds.flatMap((kind) =>
      [true, false].flatMap((hasReference) => ['east', 'access'].map((cluster) => ({ kind, hasReference, cluster }))),
    ),
  )('$kind, targetRef $hasReference, in the cluster $cluster: each change is told, with its lag', (one) => {
    const scene = gone(one.kind, one.hasReference, one.cluster)
    expect(endpointLines(scene).at(-1)).toEqual({
      type: 'endpoint',
      at: START + 301_500,
      cluster: one.cluster,
      namespace: 'shop',
      service: 'copy',
      object: one.kind,
      name: 'copy',
      address: '10.0.0.1',
      ...(one.hasReference ? { pod: 'web-0' } : {}),
      change: 'gone',
      lags: [{ cluster: 'east', namespace: 'shop', service: 'web', lagMs: 300_000 }],
    })
    expect(scene.observer.summary().legs.filter(({ service: own }) => own === 'copy')).toMatchObject([
      { cluster: one.cluster, leg: legOf[one.kind], from: 'east', changes: 1, maxMs: 300_000 },
    ])
  })

  test('ready again, in several slices of the copy; each turn is measured once', () => {
    const down = seenPod('web-0', { ready: false })
    const scene = healthyScene()
      .service(selectorless('copy'))
      .endpoints(copyOf('EndpointSlice', [web0]))
    scene
      .at(1_000)
      .pod(down)
      .endpoints(endpointsOf('EndpointSlice', service, [down]))
      .at(3_000)
      .endpoints(copyOf('EndpointSlice', [down]))
    scene.at(4_000).endpoints(copyOf('EndpointSlice', []))
    scene
      .at(10_000)
      .pod(web0)
      .endpoints(endpointsOf('EndpointSlice', service, [web0]))
    scene.at(15_000).endpoints(copyOf('EndpointSlice', [web0]))
    scene
      .at(16_000)
      .endpoints({ ...copyOf('EndpointSlice', [web0]), uid: 'other', name: 'other' })
      .endpoints(copyOf('EndpointSlice', []))
    expect(
      endpointLines(scene).map(({ at, change, lags = [] }) => [at - START, change, ...lags.map(({ lagMs }) => lagMs)]),
    ).toEqual([
      [0, 'ready'],
      [3_000, 'not-ready', 2_000],
      [4_000, 'gone'],
      [15_000, 'ready', 5_000],
      [16_000, 'ready'],
      [16_000, 'gone'],
    ])
    expect(scene.observer.summary().legs.filter(({ leg }) => leg === legOf.EndpointSlice)).toMatchObject([{ changes: 2 }])
  })

  test('a load balancer follows the copy, and what it is copied from', () => {
    const scene = gone('EndpointSlice', false, 'access')
    scene.entry('edge', { address: '10.0.0.1' }).read('edge')
    const at = { address: '10.0.0.1', admin: 'out' } as const
    expect(scene.at(302_500).entry('edge', at).told.at(-1)).toMatchObject({
      lags: [
        { service: 'copy', lagMs: 1_000 },
        { service: 'web', lagMs: 301_000 },
      ],
    })
  })

  test('no lag: an address that no controller has, or that was copied before, a copy of a copy, and one that moves', () => {
    const elsewhere = healthyScene().service(selectorless('copy')).at(1_000)
    elsewhere.endpoints(copyOf('EndpointSlice', [seenPod('other', { ip: '192.0.2.1' })]))
    const first = healthyScene()
      .service(selectorless('copy'))
      .endpoints(copyOf('EndpointSlice', [web0]))
      .at(1_000)
    first
      .endpoints(copyOf('EndpointSlice', []))
      .at(2_000)
      .podGone('web-0')
      .endpoints(endpointsOf('EndpointSlice', service, []))
    const ofCopy = createScene().at(0).service(selectorless('web')).service(selectorless('copy')).synced().at(1_000)
    ofCopy.endpoints({ ...endpointsOf('EndpointSlice', service, [web0]), isControllers: false })
    ofCopy.at(2_000).endpoints(copyOf('EndpointSlice', [web0]))
    const down = seenPod('web-0', { ready: false })
    const moved = healthyScene()
      .service(selectorless('copy'))
      .endpoints(copyOf('EndpointSlice', [web0]))
      .at(1_000)
    moved
      .endpoints(endpointsOf('EndpointSlice', service, [down]))
      .at(2_000)
      .endpoints(endpointsOf('EndpointSlice', service, [web0]))
    moved
      .at(3_000)
      .endpoints({ ...copyOf('EndpointSlice', [web0]), uid: 'other' })
      .endpoints(copyOf('EndpointSlice', []))
    for (const scene of [elsewhere, first, ofCopy, moved]) {
      expect(endpointLines(scene).length).toBeGreaterThan(0)
      expect(endpointLines(scene).flatMap(({ lags = [] }) => lags)).toEqual([])
    }
  })
})

test('percentiles are right to 5 %', () => {
  const lags = createLags()
  for (let ms = 1; ms <= 10_000; ms += 1) lags.add(ms)
  const { changes, p50Ms, p90Ms, p99Ms, maxMs } = lags.summary()
  expect([changes, maxMs]).toEqual([10_000, 10_000])
  for (const [told, exact] of [
    [p50Ms, 5_000],
    [p90Ms, 9_000],
    [p99Ms, 9_900],
  ] as const) {
    expect(told).toBeGreaterThanOrEqual(exact)
    expect(told).toBeLessThanOrEqual(Math.ceil(exact * 1.05) + 1)
  }
})

test('the lags of a Service that is gone for an hour are forgotten; those of one that is back are kept', () => {
  const [scene, web] = [healthyScene(), seenService()]
  const down = seenPod('web-0', { ready: false })
  scene
    .at(1_000)
    .pod(down)
    .at(1_500)
    .endpoints(endpointsOf('EndpointSlice', web, [down]))
  const legs = () => scene.observer.summary().legs.length
  scene
    .at(2_000)
    .serviceGone('web')
    .at(3_000)
    .service(web)
    .at(LAGS_KEPT_MS + 2_000)
    .node('node-1')
  expect(legs()).toBe(1)
  scene
    .serviceGone('web')
    .after(LAGS_KEPT_MS - 1)
    .node('node-1')
  expect(legs()).toBe(1)
  scene.after(1).node('node-1')
  expect(legs()).toBe(0)
})
