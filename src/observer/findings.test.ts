import { describe, expect, test } from 'vitest'
import { BACKLOG_SERVICES, SWEEP_OBJECTS, SWEEP_WITHIN_MS } from './limits.ts'
import {
  CONTROLLER,
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
const web0 = seenPod('web-0')
const because = { code: 'error', said: 'no' } as const

test('a healthy Service is no finding, however long', () => {
  expect(healthyScene().entry('edge', { address: '10.0.0.1' }).read('edge').end(3_600_000).codes()).toEqual([])
})

describe('stale-address', () => {
  test('a pod that is gone, for longer than the grace', () => {
    const scene = healthyScene().at(1_000).podGone('web-0').end(11_000)
    expect(scene.findings('stale-address')).toEqual(
      ['EndpointSlice', 'Endpoints'].map((object) => ({
        code: 'stale-address',
        cluster: 'east',
        namespace: 'shop',
        service: 'web',
        object,
        name: object === 'Endpoints' ? 'web' : 'web-abcde',
        address: '10.0.0.1',
        pod: 'web-0',
        why: 'pod-gone',
        sinceMs: 10_000,
      })),
    )
  })

  test('a pod that has another address, and one that is finished', () => {
    const moved = healthyScene()
      .at(1_000)
      .pod(seenPod('web-0', { ip: '10.0.0.9' }))
      .end(20_000)
    expect(moved.findings('stale-address')).toMatchObject([
      { why: 'pod-has-another-address', address: '10.0.0.1' },
      { why: 'pod-has-another-address', address: '10.0.0.1' },
    ])
    const finished = healthyScene()
      .at(1_000)
      .pod(seenPod('web-0', { phase: 'Failed', ready: false }))
      .end(20_000)
    expect(finished.findings('stale-address')).toMatchObject([{ why: 'pod-finished' }, { why: 'pod-finished' }])
  })

  test('one that was there from the beginning', () => {
    const scene = createScene()
      .at(0)
      .service(service)
      .endpoints(endpointsOf('EndpointSlice', service, [web0]))
      .synced()
      .end(10_000)
    expect(scene.findings('stale-address')).toMatchObject([{ why: 'pod-gone', pod: 'web-0' }])
  })

  test('silent: endpoints that follow within the grace, and a pod that is being deleted', () => {
    const followed = healthyScene().at(1_000).podGone('web-0').at(10_999)
    followed.endpoints(endpointsOf('EndpointSlice', service, [])).endpoints(endpointsOf('Endpoints', service, []))
    expect(followed.end(60_000).codes()).toEqual([])
    const deleting = { ...web0, metadata: { ...web0.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    expect(healthyScene().at(1_000).pod(deleting).end(60_000).findings('stale-address')).toEqual([])
  })

  test('silent where the pods are not known: they may not be read, or the cluster is away; found once it is back', () => {
    const unread = createScene()
      .at(0)
      .service(service)
      .endpoints(endpointsOf('EndpointSlice', service, [web0]))
    unread.take({ at: START, cluster: 'east', type: 'unread', what: 'pods', because })
    expect(unread.synced().end(60_000).findings('stale-address')).toEqual([])
    const away = healthyScene().at(1_000).podGone('web-0')
    away.take({ at: START + 5_000, cluster: 'east', type: 'unreachable', because })
    away.at(30_000).node('node-1')
    expect(away.findings('stale-address')).toEqual([])
    away.take({ at: START + 30_000, cluster: 'east', type: 'reached' })
    expect(away.end(60_000).findings('stale-address')).toMatchObject([{ sinceMs: 10_000 }, { sinceMs: 10_000 }])
  })

  test('silent: an address that is not ready, as that of a pod that has failed since', () => {
    const scene = healthyScene().at(1_000)
    const down = seenPod('web-0', { ready: false })
    scene.pod(down)
    for (const kind of ['EndpointSlice', 'Endpoints'] as const) scene.endpoints(endpointsOf(kind, service, [down]))
    scene.at(2_000).pod(seenPod('web-0', { ready: false, phase: 'Failed' }))
    expect(scene.end(60_000).codes()).toEqual([])
  })

  test('an address that is serving and terminating gets requests where nothing is ready', () => {
    const deleting = { ...web0, metadata: { ...web0.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
    const scene = healthyScene()
      .at(1_000)
      .pod(deleting)
      .endpoints(endpointsOf('EndpointSlice', service, [deleting]))
      .endpoints(endpointsOf('Endpoints', service, [deleting]))
      .at(2_000)
      .podGone('web-0')
    expect(scene.end(60_000).findings('stale-address')).toMatchObject([{ object: 'EndpointSlice', why: 'pod-gone' }])
  })

  describe('of another program, on a Service without a selector', () => {
    const of = (kind: 'EndpointSlice' | 'Endpoints', hasReference: boolean) => copyOf(kind, [web0], hasReference)
    const cases = (['EndpointSlice', 'Endpoints'] as const).flatMap((kind) =>
      [true, false].map((hasReference) => ({ kind, hasReference })),
    )

    test.each(cases)('silent: $kind, targetRef $hasReference, of a pod that is observed nowhere', ({ kind, hasReference }) => {
      const scene = createScene({ allNamespaces: false }).at(0).service(selectorless('copy')).endpoints(of(kind, hasReference))
      expect(scene.synced().at(1_000).endpoints(of(kind, hasReference)).end(60_000).codes()).toEqual([])
    })

    test.each(cases)('$kind, targetRef $hasReference: its pod is gone, in the same cluster', ({ kind, hasReference }) => {
      const scene = healthyScene().at(500).service(selectorless('copy')).endpoints(of(kind, hasReference)).at(1_000)
      scene.podGone('web-0')
      for (const own of ['EndpointSlice', 'Endpoints'] as const) scene.endpoints(endpointsOf(own, service, []))
      expect(scene.end(60_000).findings('stale-address')).toEqual([
        {
          code: 'stale-address',
          cluster: 'east',
          namespace: 'shop',
          service: 'copy',
          object: kind,
          name: 'copy',
          address: '10.0.0.1',
          pod: 'web-0',
          why: 'pod-gone',
          sinceMs: 10_000,
        },
      ])
    })

    test.each(cases)('$kind, targetRef $hasReference: its pod is gone, in another cluster', ({ kind, hasReference }) => {
      const scene = healthyScene({ clusters: ['east', 'access'] })
        .in('access')
        .service(selectorless('copy'))
        .endpoints(of(kind, hasReference))
        .synced()
        .in('east')
        .at(1_000)
        .podGone('web-0')
      for (const own of ['EndpointSlice', 'Endpoints'] as const) scene.endpoints(endpointsOf(own, service, []))
      expect(scene.end(60_000).findings('stale-address')).toMatchObject([
        { cluster: 'access', service: 'copy', object: kind, pod: 'web-0', podCluster: 'east', why: 'pod-gone' },
      ])
    })

    test('added after its pod was gone, and finished or moved pods', () => {
      const late = healthyScene().at(1_000).podGone('web-0')
      for (const own of ['EndpointSlice', 'Endpoints'] as const) late.endpoints(endpointsOf(own, service, []))
      late.at(300_000).service(selectorless('copy')).endpoints(of('EndpointSlice', false)).end(400_000)
      expect(late.findings('stale-address')).toMatchObject([{ service: 'copy', pod: 'web-0' }])
      for (const [state, why] of [
        [{ ip: '10.0.0.9' }, 'pod-has-another-address'],
        [{ phase: 'Succeeded', ready: false }, 'pod-finished'],
      ] as const) {
        const scene = healthyScene().at(500).service(selectorless('copy')).endpoints(of('EndpointSlice', false)).at(1_000)
        scene.pod(seenPod('web-0', state)).end(30_000)
        expect(scene.findings('stale-address').filter(({ service: own }) => own === 'copy')).toMatchObject([{ why }])
      }
    })

    test('silent: copies that follow within the grace, are not ready, or have the address of a new pod', () => {
      const start = () => healthyScene().at(500).service(selectorless('copy')).endpoints(of('EndpointSlice', false)).at(1_000)
      const copies = (scene: ReturnType<typeof start>) =>
        scene
          .end(60_000)
          .findings('stale-address')
          .filter(({ service: own }) => own === 'copy')
      const empty = { ...of('EndpointSlice', false), addresses: [] }
      const down = { ...empty, addresses: [{ address: '10.0.0.1', ready: false, serving: false, terminating: false }] }
      expect(copies(start().podGone('web-0').at(9_000).endpoints(empty))).toEqual([])
      expect(copies(start().podGone('web-0').at(9_000).endpoints(down))).toEqual([])
      expect(copies(start().podGone('web-0').at(9_000).pod(seenPod('web-1')))).toEqual([])
    })
  })

  test('silent: stale twice for less than the grace', () => {
    const scene = healthyScene().at(1_000).podGone('web-0').at(8_000).pod(web0).at(9_000).podGone('web-0').at(15_000).pod(web0)
    expect(scene.end(60_000).codes()).toEqual([])
  })
})

function manyServices(count: number) {
  const names = Array.from({ length: count }, (_, index) => `s${index}`)
  const scene = createScene().at(0).node('node-1')
  const pods = names.map((name, index) => seenPod(`${name}-0`, { ip: `10.1.0.${index}`, labels: { app: name } }))
  const services = names.map(seenService)
  services.forEach((one, index) => {
    scene.service(one).pod(pods[index]!)
    scene.endpoints(endpointsOf('Endpoints', one, [pods[index]!])).endpoints(endpointsOf('EndpointSlice', one, [pods[index]!]))
  })
  scene.synced()
  const down = pods.map(({ metadata: { name, labels = {} }, status }) =>
    seenPod(name, { ip: status!.podIP!, ready: false, labels: { ...labels } }),
  )
  return { scene, services, pods, down }
}

describe('sweep', () => {
  test('of writes that leave the addresses as they are, the client that has written last is named', () => {
    const { scene, services, pods } = manyServices(SWEEP_OBJECTS)
    services.forEach((one, index) => {
      scene.at(1_000 + index).endpoints({ ...endpointsOf('Endpoints', one, [pods[index]!]), lastBy: PERSON })
    })
    expect(scene.findings('sweep')).toMatchObject([{ by: PERSON }])
  })

  test('writes to many objects that change no address: how many, how long, when last', () => {
    const { scene, services, pods } = manyServices(SWEEP_OBJECTS + 5)
    services.forEach((one, index) => scene.at(1_000 + index * 100).endpoints(endpointsOf('Endpoints', one, [pods[index]!])))
    expect(scene.end(60_000).findings('sweep')).toMatchObject([
      { isOver: false, objects: SWEEP_OBJECTS, by: CONTROLLER },
      { isOver: true, object: 'Endpoints', objects: 25, writes: 25, startedAt: 1_001_000, lastAt: 1_003_400 },
    ])
    expect(scene.observer.summary().findings).toEqual([{ code: 'sweep', times: 1 }])
  })

  test('it is over though a few objects are written for ever, and is one again later', () => {
    const { scene, services, pods } = manyServices(SWEEP_OBJECTS)
    const rewriteAt = (at: number, index: number) =>
      scene.at(at).endpoints(endpointsOf('Endpoints', services[index]!, [pods[index]!]))
    const round = (from: number) => services.forEach((_, index) => rewriteAt(from + index * 10, index))
    round(1_000)
    for (let at = 2_000; at < 400_000; at += 2_000) rewriteAt(at, 0)
    const [, over, ...others] = scene.findings('sweep')
    expect([over!.isOver, over!.objects, others]).toEqual([true, SWEEP_OBJECTS, []])
    expect(over!.lastAt - over!.startedAt).toBeLessThanOrEqual(SWEEP_WITHIN_MS)
    round(400_000)
    expect(scene.findings('sweep').at(-1)).toMatchObject({ isOver: false, objects: SWEEP_OBJECTS, startedAt: START + 372_000 })
  })

  describe('labels', () => {
    const OLD = { 'helm.sh/chart': 'web-1', tier: 'front' }
    const NEW = { 'helm.sh/chart': 'web-2', version: '2' }
    /** A scene in which all Services, and then all of their objects, have these labels. */
    function labelled(labels: Record<string, string>) {
      const { scene, services, pods } = manyServices(SWEEP_OBJECTS + 5)
      const release = (index: number, own: Record<string, string>) => {
        const one = services[index]!
        return scene.after(10).service({ ...one, metadata: { ...one.metadata, labels: own } })
      }
      const write = (index: number, own: Record<string, string>) => {
        for (const kind of ['Endpoints', 'EndpointSlice'] as const)
          scene.after(10).endpoints({ ...endpointsOf(kind, services[index]!, [pods[index]!]), labels: own })
      }
      const each = (work: (index: number) => unknown) => services.forEach((_, index) => work(index))
      each((index) => release(index, labels))
      each((index) => write(index, labels))
      scene.after(100_000)
      return { scene, release, write, each }
    }

    test('silent: a release changes those of its Services, and their objects follow, or are seen to have followed before', () => {
      for (const isAhead of [false, true]) {
        const { scene, release, write, each } = labelled(OLD)
        each((index) => {
          if (isAhead) write(index, NEW)
          release(index, NEW)
          if (!isAhead) write(index, NEW)
        })
        expect(scene.end(1_000_000).codes()).toEqual([])
      }
    })

    test('a program puts one on that the Services do not have, and the controller takes it away', () => {
      const { scene, release, write, each } = labelled(OLD)
      each((index) => write(index, { ...OLD, injected: 'yes' }))
      scene.after(100_000)
      each((index) => write(index, OLD))
      scene.after(100_000)
      // One write of each object follows the release. The next write is a rewrite.
      each((index) => release(index, NEW))
      each((index) => write(index, NEW))
      each((index) => write(index, OLD))
      const kinds = scene.end(1_000_000).findings('sweep')
      const ofKind = (kind: string) => kinds.filter(({ object }) => object === kind).map(({ isOver }) => isOver)
      for (const kind of ['Endpoints', 'EndpointSlice']) expect(ofKind(kind)).toEqual([false, true, false, true, false, true])
    })
  })

  test('silent: zones that slices are for, and Endpoints of no Service, as locks of old are', () => {
    const { scene, services, pods } = manyServices(SWEEP_OBJECTS + 5)
    services.forEach((one, index) =>
      scene.at(1_000 + index).endpoints({ ...endpointsOf('EndpointSlice', one, [pods[index]!]), hints: '["zone-a"]' }),
    )
    for (let index = 0; index < SWEEP_OBJECTS + 5; index += 1) {
      const lock = { ...endpointsOf('Endpoints', seenService('lock'), []), uid: `lock-${index}` }
      scene.at(2_000).endpoints(lock).at(2_100).endpoints(lock)
    }
    expect(scene.end(1_000_000).codes()).toEqual([])
  })

  test('silent: one object less, pauses in between, and writes that change addresses', () => {
    const few = manyServices(SWEEP_OBJECTS - 1)
    few.services.forEach((one, index) => few.scene.at(1_000).endpoints(endpointsOf('Endpoints', one, [few.pods[index]!])))
    const slow = manyServices(SWEEP_OBJECTS + 5)
    slow.services.forEach((one, index) =>
      slow.scene
        .at(index * (SWEEP_WITHIN_MS / SWEEP_OBJECTS + 100))
        .endpoints(endpointsOf('Endpoints', one, [slow.pods[index]!])),
    )
    const changed = manyServices(SWEEP_OBJECTS + 5)
    changed.services.forEach((one, index) => {
      changed.scene.at(1_000 + index).pod(changed.down[index]!)
      changed.scene.endpoints(endpointsOf('Endpoints', one, [changed.down[index]!]))
      changed.scene.endpoints(endpointsOf('EndpointSlice', one, [changed.down[index]!]))
    })
    for (const { scene } of [few, slow, changed]) expect(scene.end(1_000_000).codes()).toEqual([])
  })
})

describe('backlog', () => {
  /** A pod changes every `everyMs`, each of another Service. The slice of the Service follows `lagMs(index)` later. */
  function followed(count: number, everyMs: number, lagMs: (index: number) => number) {
    const { scene, services, down } = manyServices(count)
    const steps = services.flatMap((one, index) => {
      const at = 1_000 + index * everyMs
      return [
        { at, do: () => scene.at(at).pod(down[index]!) },
        {
          at: at + lagMs(index),
          do: () => scene.at(at + lagMs(index)).endpoints(endpointsOf('EndpointSlice', one, [down[index]!])),
        },
      ]
    })
    for (const step of steps.sort((a, b) => a.at - b.at)) step.do()
    return scene.end(1_000_000)
  }

  test('lag that grows with the number of changes, with an estimate of the queue', () => {
    // A pod changes every 100 ms, and a slice follows every 500 ms.
    const [began, over] = followed(100, 100, (index) => 400 + index * 400)
      .findings('backlog')
      .filter(({ object }) => object === 'EndpointSlice')
    expect(began).toMatchObject({ isOver: false, perSecond: 2 })
    expect(began!.services).toBeGreaterThanOrEqual(BACKLOG_SERVICES)
    expect(began!.oldestMs).toBeGreaterThanOrEqual(5_000)
    expect(began!.drainMs).toBe((began!.services / 2) * 1_000)
    expect(over).toMatchObject({ isOver: true })
    expect(over!.services).toBeGreaterThan(70)
  })

  test('a controller that follows nothing at all', () => {
    expect(followed(BACKLOG_SERVICES, 10, () => 900_000).findings('backlog')).toMatchObject([
      { object: 'EndpointSlice', isOver: false, services: 10, perSecond: 0, lagMs: 0 },
      { object: 'Endpoints', isOver: false },
      { object: 'EndpointSlice', isOver: true },
      { object: 'Endpoints', isOver: false },
    ])
  })

  test('nothing is told of one while its cluster is away, and what has waited meanwhile has no lag', () => {
    const { scene, services, down } = manyServices(BACKLOG_SERVICES)
    const follow = (at: number) =>
      services.forEach((one, index) => scene.at(at).endpoints(endpointsOf('EndpointSlice', one, [down[index]!])))
    const away = (at: number) => scene.take({ at: START + at, cluster: 'east', type: 'unreachable', because })
    const back = (at: number) => scene.take({ at: START + at, cluster: 'east', type: 'reached' })
    down.forEach((pod) => scene.at(1_000).pod(pod))
    away(3_000)
    scene.at(40_000).node('node-1')
    // Pods can be read again before the cluster counts as reached.
    const up = seenPod('s0-0', { ip: '10.1.0.0', labels: { app: 's0' } })
    scene.at(41_000).pod(up)
    follow(50_000)
    back(50_000)
    scene.at(51_000).pod(down[0]!)
    expect([scene.end(100_000).codes(), scene.observer.summary().legs]).toEqual([['cluster-unreachable'], []])

    // A backlog whose queue is empty after the gap is told as over once the cluster is reached.
    const begun = manyServices(BACKLOG_SERVICES)
    begun.down.forEach((pod) => begun.scene.at(1_000).pod(pod))
    begun.scene.at(10_000).node('node-1')
    const told = () => begun.scene.findings('backlog').map(({ isOver }) => isOver)
    expect(told()).toEqual([false, false])
    begun.scene.take({ at: START + 20_000, cluster: 'east', type: 'unreachable', because })
    begun.scene.at(60_000).node('node-1')
    expect(told()).toEqual([false, false])
    begun.scene.take({ at: START + 60_000, cluster: 'east', type: 'reached' })
    expect(told()).toEqual([false, false, true, true])
  })

  test('nothing is told of a kind that may not be read any more', () => {
    const { scene, down } = manyServices(BACKLOG_SERVICES)
    down.forEach((pod) => scene.at(1_000).pod(pod))
    scene.take({ at: START + 2_000, cluster: 'east', type: 'unread', what: 'endpointslices', because })
    expect(
      scene
        .end(60_000)
        .findings('backlog')
        .map(({ object }) => object),
    ).toEqual(['Endpoints', 'Endpoints'])
  })

  test('silent: endpoints that were written and are other than they are to be, as by a webhook that keeps pods in', () => {
    const { scene, services, pods, down } = manyServices(BACKLOG_SERVICES + 5)
    services.forEach((one, index) => {
      scene.at(1_000 + index).pod(down[index]!)
      for (const kind of ['EndpointSlice', 'Endpoints'] as const) scene.endpoints(endpointsOf(kind, one, [pods[index]!]))
    })
    expect(scene.end(100_000).findings('backlog')).toEqual([])
  })

  test('silent: a node that is removed, whose pods stay in their endpoints until they are deleted', () => {
    const { scene, services, pods } = manyServices(BACKLOG_SERVICES + 5)
    scene.at(1_000).nodeGone('node-1').at(50_000)
    for (const { metadata } of pods) scene.podGone(metadata.name)
    scene.at(50_500)
    for (const one of services)
      for (const kind of ['EndpointSlice', 'Endpoints'] as const) scene.endpoints(endpointsOf(kind, one, []))
    expect(scene.end(200_000).codes()).toEqual([])
    expect(scene.observer.summary().legs.filter(({ maxMs }) => maxMs > 500)).toEqual([])
  })

  test('silent: one Service less, and a long lag that does not grow', () => {
    const slices = (scene: ReturnType<typeof followed>) =>
      scene.findings('backlog').filter(({ object }) => object === 'EndpointSlice')
    expect(slices(followed(BACKLOG_SERVICES - 1, 10, () => 900_000))).toEqual([])
    expect(slices(followed(100, 300, () => 4_900))).toEqual([])
  })
})

describe('writers-undo-each-other', () => {
  const own = endpointsOf('Endpoints', service, [web0])
  const foreign = { ...own, addresses: [{ address: '192.0.2.1', ready: true }], by: PERSON }

  test('each has put back its own', () => {
    const scene = healthyScene().at(1_000).endpoints(foreign).at(2_000).endpoints(own).at(3_000).endpoints(foreign)
    expect(scene.findings('writers-undo-each-other')).toEqual([
      {
        code: 'writers-undo-each-other',
        cluster: 'east',
        namespace: 'shop',
        service: 'web',
        object: 'Endpoints',
        name: 'web',
        writers: [CONTROLLER, PERSON],
        writes: 4,
        spanMs: 3_000,
      },
    ])
  })

  test('silent: one edit that is undone once, two that follow one another, and one writer whose pod flips', () => {
    const once = healthyScene().at(1_000).endpoints(foreign).at(2_000).endpoints(own)
    const elsewhere = { ...foreign, addresses: [{ address: '192.0.2.2', ready: true }] }
    const other = healthyScene().at(1_000).endpoints(foreign).at(2_000).endpoints(own).at(3_000).endpoints(elsewhere)
    const flips = healthyScene()
    const down = endpointsOf('Endpoints', service, [seenPod('web-0', { ready: false })])
    for (let round = 1; round < 4; round += 1)
      flips
        .at(round * 1_000)
        .endpoints(down)
        .endpoints(own)
    for (const scene of [once, other, flips]) expect(scene.findings('writers-undo-each-other')).toEqual([])
  })
})

describe('endpoints-by-hand', () => {
  const edited = { ...endpointsOf('Endpoints', service, [web0]), by: PERSON }
  const foreign = { ...edited, addresses: [...edited.addresses, { address: '192.0.2.1', ready: true }] }

  test('an address of no pod of the selector, written by a person; once', () => {
    const scene = healthyScene().at(1_000).endpoints(foreign).at(2_000).endpoints(foreign)
    expect(scene.findings('endpoints-by-hand')).toEqual([
      { code: 'endpoints-by-hand', cluster: 'east', namespace: 'shop', service: 'web', by: PERSON, addresses: ['192.0.2.1'] },
    ])
  })

  test('from the beginning, and where the Service gets a selector', () => {
    const there = createScene().at(0).service(service).pod(web0).endpoints(foreign).synced()
    expect(there.findings('endpoints-by-hand')).toHaveLength(1)
    const { selector: _selector, ...spec } = service.spec
    const later = createScene()
      .at(0)
      .service({ ...service, spec })
      .pod(web0)
      .endpoints(foreign)
      .synced()
    expect(later.codes()).toEqual([])
    expect(later.service(service).findings('endpoints-by-hand')).toHaveLength(1)
  })

  test('silent: the same addresses by the controller, and those of pods alone by a person', () => {
    expect(
      healthyScene()
        .at(1_000)
        .endpoints({ ...foreign, by: CONTROLLER })
        .codes(),
    ).toEqual([])
    expect(healthyScene().at(1_000).endpoints(edited).codes()).toEqual([])
  })
})

describe('pods-lost-with-heartbeat', () => {
  const lost = seenPod('web-0', { ready: false, containersReady: true })
  const withoutNodes = () => {
    const scene = healthyScene()
    scene.take({ at: START, cluster: 'east', type: 'unread', what: 'nodes', because })
    return scene
  }
  const nodeGone = (scene: ReturnType<typeof healthyScene>, ms: number) => {
    scene.at(ms).take({ at: START + ms, cluster: 'east', type: 'node-gone', name: 'node-1' })
    return scene
  }

  test('pods turn not ready with ready containers, and the node is not known to live, and is there a minute later', () => {
    const scene = healthyScene().at(1_000).node('node-1', 'Unknown').at(1_200).pod(lost)
    expect(scene.at(61_199).node('node-2').codes()).toEqual([])
    expect(scene.end(62_000).findings('pods-lost-with-heartbeat')).toEqual([
      { code: 'pods-lost-with-heartbeat', cluster: 'east', node: 'node-1', ready: 'Unknown', pods: ['web-0'], spanMs: 0 },
    ])
  })

  test('the node is told after its pods, or is back already, or speaks again and is not ready yet', () => {
    const after = healthyScene().at(1_000).pod(lost).at(5_000).node('node-1', 'Unknown').end(65_000)
    expect(after.findings('pods-lost-with-heartbeat')).toHaveLength(1)
    for (const ready of ['True', 'False']) {
      const back = healthyScene().at(1_000).node('node-1', 'Unknown').at(1_100).pod(lost).at(1_200).node('node-1', ready)
      expect(back.at(4_200).node('node-2').findings('pods-lost-with-heartbeat')).toMatchObject([{ ready }])
    }
  })

  test('it is silent still when the observation ends', () => {
    const scene = healthyScene().at(1_000).node('node-1', 'Unknown').pod(lost).end(2_000)
    expect(scene.findings('pods-lost-with-heartbeat')).toHaveLength(1)
  })

  test('without nodes the pods alone say so', () => {
    const scene = withoutNodes().at(1_000).pod(lost).at(60_999).node('node-2')
    expect(scene.codes()).toEqual([])
    expect(scene.end(90_000).findings('pods-lost-with-heartbeat')).toEqual([
      { code: 'pods-lost-with-heartbeat', cluster: 'east', node: 'node-1', pods: ['web-0'], spanMs: 0 },
    ])
    expect(withoutNodes().at(1_000).pod(lost).at(30_000).podGone('web-0').end(90_000).codes()).not.toContain(
      'pods-lost-with-heartbeat',
    )
  })

  test('silent: a node that says itself that it is not ready, as one that shuts down, though it falls silent later', () => {
    const scene = healthyScene().at(1_000).node('node-1', 'False').at(1_100).pod(lost).at(41_000).node('node-1', 'Unknown')
    expect(scene.end(600_000).findings('pods-lost-with-heartbeat')).toEqual([])
  })

  test('silent: a node that goes within a minute, as one that is scaled away', () => {
    const scene = nodeGone(healthyScene().at(1_000).node('node-1', 'Unknown').pod(lost), 60_999)
    expect(scene.end(600_000).findings('pods-lost-with-heartbeat')).toEqual([])
  })

  test('silent: the containers are not ready, another node is late, or it was late long ago', () => {
    const own = healthyScene()
      .at(1_000)
      .node('node-1', 'Unknown')
      .pod(seenPod('web-0', { ready: false }))
      .end(90_000)
    const other = healthyScene().at(1_000).node('node-2', 'Unknown').pod(lost).end(90_000)
    const long = healthyScene().at(1_000).node('node-1', 'Unknown').at(2_000).node('node-1').at(70_000).pod(lost).end(200_000)
    const later = healthyScene().at(1_000).pod(lost).at(70_000).node('node-1', 'Unknown').end(200_000)
    for (const scene of [own, other, long, later]) expect(scene.findings('pods-lost-with-heartbeat')).toEqual([])
  })
})

describe('endpoints-truncated', () => {
  const own = endpointsOf('Endpoints', service, [web0])

  test('once, and again after it was not', () => {
    const scene = healthyScene()
      .at(1_000)
      .endpoints({ ...own, isTruncated: true })
      .endpoints({ ...own, isTruncated: true })
    expect(scene.findings('endpoints-truncated')).toEqual([
      { code: 'endpoints-truncated', cluster: 'east', namespace: 'shop', service: 'web', addresses: 1 },
    ])
    expect(
      scene
        .endpoints(own)
        .endpoints({ ...own, isTruncated: true })
        .findings('endpoints-truncated'),
    ).toHaveLength(2)
  })

  test('pods that have no room in them are waited for by nobody', () => {
    const scene = healthyScene()
      .at(1_000)
      .endpoints({ ...own, isTruncated: true })
    scene
      .pod(seenPod('web-1', { ip: '10.0.0.2' }))
      .at(2_000)
      .podGone('web-1')
    expect(scene.observer.summary().legs.filter(({ leg }) => leg === 'pod-endpoints')).toEqual([])
  })
})

describe('pod-flaps', () => {
  const down = seenPod('web-0', { ready: false })

  test('three turns to not ready within five minutes', () => {
    const scene = healthyScene()
    for (const at of [1_000, 100_000, 300_000]) scene.at(at).pod(down).after(1_000).pod(web0)
    expect(scene.findings('pod-flaps')).toEqual([
      { code: 'pod-flaps', cluster: 'east', namespace: 'shop', pod: 'web-0', times: 3, spanMs: 299_000 },
    ])
  })

  test('silent: over a longer time, and another pod of that name', () => {
    const slow = healthyScene()
    for (const at of [1_000, 100_000, 302_000]) slow.at(at).pod(down).after(1_000).pod(web0)
    const replaced = healthyScene().at(1_000).pod(down).pod(web0).pod(down).podGone('web-0')
    const next = { uid: 'next' }
    replaced.pod(seenPod('web-0', next)).pod(seenPod('web-0', { ...next, ready: false }))
    for (const scene of [slow, replaced]) expect(scene.findings('pod-flaps')).toEqual([])
  })
})

describe('restarted-in-rotation', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `web-${index}`)
  const ipOf = (name: string) => `10.0.1.${name.split('-')[1]}`
  const labels = { app: 'web' }
  const pod = (name: string, state: Parameters<typeof seenPod>[1] = {}) => seenPod(name, { ip: ipOf(name), labels, ...state })

  function start(count: number) {
    const scene = createScene().at(0).node('node-1').service(service)
    for (const name of names(count)) scene.pod(pod(name)).entry('edge', { id: name, address: ipOf(name) })
    return scene.synced().read('edge')
  }
  type Scene = ReturnType<typeof start>

  /** Emits the events of a changed image: the container stops, is created anew, and is ready after 7 s. */
  function restart(scene: Scene, name: string, state: Parameters<typeof seenPod>[1] = {}) {
    scene.pod(pod(name, { ready: false, isStopped: true, ...state })).after(1_000)
    scene.pod(pod(name, { ready: false, restarts: 1, ...state })).after(6_000)
    return scene.pod(pod(name, { restarts: 1, ...state }))
  }

  test('ten pods, one after another, each 7 s not ready; told once', () => {
    const scene = start(10).at(1_000)
    for (const name of names(10)) restart(scene, name)
    expect(scene.end(600_000).codes()).toEqual(['restarted-in-rotation'])
    expect(scene.findings('restarted-in-rotation')).toEqual([
      {
        code: 'restarted-in-rotation',
        cluster: 'east',
        namespace: 'shop',
        service: 'web',
        pods: ['web-0', 'web-1', 'web-2'],
        spanMs: 14_000,
      },
    ])
  })

  test('both pods of a Service of two; the stop was not seen; again in the next release', () => {
    const scene = start(2).at(1_000)
    for (const restarts of [1, 2]) {
      for (const name of names(2)) scene.after(1_000).pod(pod(name, { restarts }))
      scene.after(400_000)
    }
    expect(scene.findings('restarted-in-rotation')).toMatchObject([{ spanMs: 1_000 }, { spanMs: 1_000 }])
  })

  test('its probe has failed before its container has stopped', () => {
    const scene = start(2).at(1_000)
    for (const name of names(2)) {
      scene.after(1_000).pod(pod(name, { ready: false }))
      restart(scene.after(7_000), name)
    }
    expect(scene.findings('restarted-in-rotation')).toHaveLength(1)
  })

  test.each<[string, (scene: Scene, name: string) => void]>([
    ['one pod that crashes again and again', (scene) => void restart(scene, 'web-0')],
    [
      'probes that fail, and no restart',
      (scene, name) =>
        void scene
          .pod(pod(name, { ready: false }))
          .after(7_000)
          .pod(pod(name)),
    ],
    [
      'containers that are restarted long after their probes have failed',
      (scene, name) => restart(scene.pod(pod(name, { ready: false })).after(20_000), name),
    ],
    [
      'pods that sluice has drained',
      (scene, name) => restart(scene.pod(pod(name, { isDrained: true })), name, { isDrained: true }),
    ],
    [
      'entries that were drained',
      (scene, name) => restart(scene.entry('edge', { id: name, address: ipOf(name), admin: 'draining' }), name),
    ],
    ['entries that were taken away', (scene, name) => restart(scene.entryGone('edge', name), name)],
    [
      'a readiness gate that was closed before',
      (scene, name) => restart(scene.pod(pod(name, { ready: false, containersReady: true })), name),
    ],
    ['pods that the selector had no more', (scene, name) => restart(scene.pod(pod(name, { labels: {} })), name, { labels: {} })],
    [
      'pods that are deleted',
      (scene, name) => {
        const deleting = (state: Parameters<typeof seenPod>[1]) => {
          const one = pod(name, state)
          return { ...one, metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
        }
        scene
          .pod(deleting({}))
          .after(1_000)
          .pod(deleting({ ready: false, isStopped: true, restarts: 1 }))
          .podGone(name)
      },
    ],
  ])('silent: %s', (_title, happen) => {
    const scene = start(5).at(1_000)
    for (const name of names(5)) happen(scene.after(1_000), name)
    expect(scene.findings('restarted-in-rotation')).toEqual([])
  })

  test('silent: the only pod of a Service', () => {
    expect(restart(start(1).at(1_000), 'web-0').codes()).toEqual([])
  })

  test('silent: three restarts over a longer time', () => {
    const scene = start(5).at(1_000)
    for (const name of names(3)) restart(scene.after(160_000), name)
    expect(scene.codes()).toEqual([])
  })
})

describe('entry-flaps', () => {
  const at = { address: '10.0.0.1' }
  const start = () => healthyScene().entry('edge', at).read('edge')

  test('drained, back, and drained again a moment later; told once in five minutes', () => {
    const scene = start()
      .at(1_000)
      .entry('edge', { ...at, admin: 'draining' })
      .at(3_000)
      .entry('edge', at)
    expect(scene.codes()).toEqual([])
    scene.at(7_000).entry('edge', { ...at, admin: 'draining' })
    const found = {
      code: 'entry-flaps',
      loadBalancer: 'edge',
      entry: 'a',
      address: '10.0.0.1:80',
      namespace: 'shop',
      pod: 'web-0',
      stayedMs: 4_000,
    }
    expect(scene.findings('entry-flaps')).toEqual([found])
    scene
      .at(8_000)
      .entry('edge', at)
      .at(9_000)
      .entry('edge', { ...at, admin: 'out' })
      .at(10_000)
      .entry('edge', at)
    expect(scene.findings('entry-flaps')).toHaveLength(1)
    scene
      .at(307_000)
      .entry('edge', at)
      .at(307_001)
      .entry('edge', { ...at, admin: 'out' })
    scene
      .after(1_000)
      .entry('edge', at)
      .after(1_000)
      .entry('edge', { ...at, admin: 'out' })
    expect(scene.findings('entry-flaps')).toHaveLength(2)
  })

  test('its checks fail again, and an entry that is removed and made anew', () => {
    const checked = start()
      .at(1_000)
      .entry('edge', { ...at, isRoutable: false })
      .at(2_000)
      .entry('edge', { ...at, isRoutable: true })
    expect(
      checked
        .at(3_000)
        .entry('edge', { ...at, isRoutable: false })
        .findings('entry-flaps'),
    ).toMatchObject([{ stayedMs: 1_000 }])
    const removed = start().at(1_000).entryGone('edge').at(2_000).entry('edge', at).at(4_000).entryGone('edge')
    expect(removed.findings('entry-flaps')).toMatchObject([{ stayedMs: 2_000 }])
  })

  test('silent: one drain and one restore, a restore that stays, and other states of an entry that is out', () => {
    const once = start()
      .at(1_000)
      .entry('edge', { ...at, admin: 'draining' })
      .at(2_000)
      .entry('edge', { ...at, admin: 'out' })
    once
      .at(3_000)
      .entry('edge', { ...at, isRoutable: false })
      .at(4_000)
      .entry('edge', at)
    const stays = start()
      .at(1_000)
      .entry('edge', { ...at, admin: 'draining' })
      .at(2_000)
      .entry('edge', at)
    stays.at(32_001).entry('edge', { ...at, admin: 'draining' })
    for (const scene of [once, stays]) expect(scene.end(400_000).findings('entry-flaps')).toEqual([])
  })
})

describe('entry-follows-nothing', () => {
  test('an entry of a pod that is gone, and one of nothing', () => {
    const scene = healthyScene()
      .entry('edge', { address: '10.0.0.1' })
      .entry('edge', { id: 'b', address: '10.9.9.9' })
      .read('edge')
      .at(5_000)
      .podGone('web-0')
      .end(60_000)
    expect(scene.findings('entry-follows-nothing')).toEqual([
      { code: 'entry-follows-nothing', loadBalancer: 'edge', entry: 'b', address: '10.9.9.9', sinceMs: 10_000 },
      {
        code: 'entry-follows-nothing',
        loadBalancer: 'edge',
        entry: 'a',
        address: '10.0.0.1',
        formerPod: 'web-0',
        sinceMs: 10_000,
      },
    ])
  })

  test('an entry of a pod that is finished, whose address another pod has in its status too', () => {
    const scene = healthyScene().entry('edge', { address: '10.0.0.1' }).read('edge')
    const evicted = seenPod('web-0', { phase: 'Failed', ready: false })
    expect(scene.at(5_000).pod(evicted).end(60_000).findings('entry-follows-nothing')).toMatchObject([{ formerPod: 'web-0' }])
    const taken = healthyScene().entry('edge', { address: '10.0.0.1' }).read('edge').at(5_000).pod(evicted)
    taken.pod(seenPod('web-1')).at(6_000).entry('edge', { address: '10.0.0.1', admin: 'out' })
    expect(taken.told.at(-1)).toMatchObject({ type: 'entry', pod: 'web-1' })
  })

  test('silent: the address of a node, one that is drained or out, removed or taken over in time', () => {
    const scene = healthyScene()
      .node('node-1', 'True', ['192.168.0.1'])
      .entry('edge', { address: '10.0.0.1' })
      .entry('edge', { id: 'n', address: '192.168.0.1' })
      .entry('edge', { id: 'o', address: '10.9.9.9', admin: 'out' })
      .entry('edge', { id: 'd', address: '10.9.9.8', admin: 'draining' })
      .read('edge')
      .at(5_000)
      .podGone('web-0')
      .at(14_999)
      .pod(seenPod('web-1'))
      .end(60_000)
    expect(scene.findings('entry-follows-nothing')).toEqual([])
    const removed = healthyScene().entry('edge', { address: '10.0.0.1' }).read('edge').at(5_000).podGone('web-0').at(9_000)
    expect(removed.entryGone('edge').end(60_000).findings('entry-follows-nothing')).toEqual([])
  })

  test('silent where not all pods are observed: of one namespace, or with a cluster that cannot be read', () => {
    const one = healthyScene({ allNamespaces: false }).entry('edge', { address: '10.9.9.9' }).read('edge')
    const two = healthyScene({ clusters: ['east', 'west'] })
      .entry('edge', { address: '10.9.9.9' })
      .read('edge')
    for (const scene of [one, two]) expect(scene.end(60_000).codes()).toEqual([])
  })
})

describe('what cannot be read', () => {
  test('a cluster is told once, and again after it was back', () => {
    const scene = healthyScene()
    const away = { at: 1_001_000, cluster: 'east', type: 'unreachable', because } as const
    scene.take(away)
    scene.take(away)
    scene.take({ at: 1_002_000, cluster: 'east', type: 'reached' })
    expect(scene.codes()).toEqual(['cluster-unreachable'])
    scene.take({ ...away, at: 1_003_000 })
    expect(scene.codes()).toHaveLength(2)
  })

  test('silent: nodes, which are optional', () => {
    const scene = healthyScene()
    scene.take({ at: 1_001_000, type: 'unread', cluster: 'east', what: 'nodes', because })
    expect([scene.codes(), scene.observer.snapshot().findings]).toEqual([[], []])
  })

  test('a load balancer, and a kind of object', () => {
    const scene = healthyScene()
    scene.take({ at: 1_001_000, type: 'load-balancer-unread', loadBalancer: 'edge', because })
    scene.take({ at: 1_002_000, type: 'load-balancer-unread', loadBalancer: 'edge', because })
    scene.take({ at: 1_003_000, type: 'unread', cluster: 'east', what: 'endpoints', because })
    expect(scene.codes()).toEqual(['load-balancer-unread', 'objects-unread'])
  })
})
