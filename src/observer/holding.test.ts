import { describe, expect, test } from 'vitest'
import type { ClusterEvent } from './events.ts'
import {
  FLAPS_WITHIN_MS,
  HEARTBEAT_WITHIN_MS,
  MANAGER_FRESH_MS,
  NODE_GOES_WITHIN_MS,
  RESTARTED_WITHIN_MS,
  SWEEP_OBJECTS,
  SWEEP_WITHIN_MS,
  UNDO_WITHIN_MS,
} from './limits.ts'
import { OBSERVER_FINDING_CODES, type ObserverFindingCode } from './told.ts'
import { createScene, endpointsOf, healthyScene, PERSON, seenPod, seenService, START } from './testing/scene.ts'

/* The findings of the snapshot, which the screen and the metrics show. */

type Scene = ReturnType<typeof healthyScene>

const service = seenService()
const web0 = seenPod('web-0')
const because = { code: 'error', said: 'no answer' } as const
const own = (kind: 'EndpointSlice' | 'Endpoints') => endpointsOf(kind, service, [web0])
const of = (scene: Scene, event: Record<string, unknown>): Scene => {
  scene.take({ at: START + scene.now(), cluster: 'east', ...event } as ClusterEvent)
  return scene
}
const foreign = { ...own('Endpoints'), addresses: [{ address: '192.0.2.1', ready: true }], by: PERSON }
const lost = seenPod('web-0', { ready: false, containersReady: true })

function rewriteMany(scene: Scene): Scene {
  for (let index = 0; index <= SWEEP_OBJECTS; index += 1) {
    const one = { ...endpointsOf('Endpoints', service, []), uid: `e${index}` }
    scene.endpoints(one).endpoints(one)
  }
  return scene
}

function changeMany(scene: Scene, count: number): Scene {
  for (let index = 0; index < count; index += 1) {
    const name = `s${index}`
    const one = seenService(name)
    const pod = (ready: boolean) => seenPod(`${name}-0`, { ip: `10.1.0.${index}`, labels: { app: name }, ready })
    scene
      .service(one)
      .pod(pod(true))
      .endpoints(endpointsOf('EndpointSlice', one, [pod(true)]))
      .pod(pod(false))
  }
  return scene
}

function followMany(scene: Scene, count: number): Scene {
  for (let index = 0; index < count; index += 1) {
    const name = `s${index}`
    const pod = seenPod(`${name}-0`, { ip: `10.1.0.${index}`, labels: { app: name }, ready: false })
    scene.endpoints(endpointsOf('EndpointSlice', seenService(name), [pod]))
  }
  return scene
}

/** `over` is the time in milliseconds for which a finding about a moment holds, or the events that end the finding. */
const SCENES: Record<ObserverFindingCode, { begin(scene: Scene): Scene; over: number | ((scene: Scene) => Scene) }> = {
  'cluster-unreachable': {
    begin: (scene) => of(scene, { type: 'unreachable', because }),
    over: (scene) => of(scene, { type: 'reached' }),
  },
  'objects-unread': {
    begin: (scene) => of(scene, { type: 'unread', what: 'pods', because }),
    over: (scene) => of(scene, { type: 'read', what: 'pods' }),
  },
  'load-balancer-unread': {
    begin: (scene) => (scene.take({ at: START + 1_000, type: 'load-balancer-unread', loadBalancer: 'edge', because }), scene),
    over: (scene) => scene.read('edge'),
  },
  'stale-address': {
    begin: (scene) => scene.podGone('web-0').after(20_000),
    over: (scene) => scene.endpoints(endpointsOf('EndpointSlice', service, [])).endpoints(endpointsOf('Endpoints', service, [])),
  },
  sweep: { begin: rewriteMany, over: (scene) => scene.after(SWEEP_WITHIN_MS + 1_000) },
  backlog: { begin: (scene) => changeMany(scene, 12).after(7_000), over: (scene) => followMany(scene, 12) },
  'writers-undo-each-other': {
    begin: (scene) => scene.endpoints(foreign).endpoints(own('Endpoints')).endpoints(foreign).endpoints(own('Endpoints')),
    over: UNDO_WITHIN_MS,
  },
  'endpoints-by-hand': { begin: (scene) => scene.endpoints(foreign), over: (scene) => scene.endpoints(own('Endpoints')) },
  'pods-lost-with-heartbeat': {
    begin: (scene) => scene.node('node-1', 'Unknown').pod(lost).after(NODE_GOES_WITHIN_MS),
    over: (scene) => scene.node('node-1', 'True'),
  },
  'endpoints-truncated': {
    begin: (scene) => scene.endpoints({ ...own('Endpoints'), isTruncated: true }),
    over: (scene) => scene.endpoints(own('Endpoints')),
  },
  'pod-flaps': {
    begin(scene) {
      for (let turn = 0; turn < 3; turn += 1) scene.pod(seenPod('web-0', { ready: false })).pod(web0)
      return scene
    },
    over: FLAPS_WITHIN_MS,
  },
  'restarted-in-rotation': {
    begin(scene) {
      for (const name of ['web-0', 'web-1']) {
        const pod = (restarts: number) => seenPod(name, { labels: { app: 'web' }, ip: `10.0.0.${name.at(-1)}`, restarts })
        scene.pod(pod(0))
        if (name === 'web-1') scene.pod(pod(1)).pod(seenPod('web-0', { labels: { app: 'web' }, restarts: 1 }))
      }
      return scene
    },
    over: RESTARTED_WITHIN_MS,
  },
  'entry-flaps': {
    begin: (scene) => {
      const entry = (admin: 'in' | 'draining') => scene.entry('edge', { address: '10.0.0.1', admin })
      scene.read('edge')
      for (const admin of ['in', 'draining', 'in', 'draining'] as const) entry(admin)
      return scene
    },
    over: FLAPS_WITHIN_MS,
  },
  'entry-follows-nothing': {
    begin: (scene) => scene.entry('edge', { address: '10.9.9.9' }).read('edge').after(20_000),
    over: (scene) => scene.entryGone('edge'),
  },
}

function held(scene: Scene, code: ObserverFindingCode): number[] {
  scene.told.push(...scene.observer.advance(START + scene.now()))
  return scene.observer
    .snapshot()
    .findings.filter(({ finding }) => finding.code === code)
    .map(({ beganAt }) => beganAt - START)
}

test.each(OBSERVER_FINDING_CODES)('%s holds until it is over', (code) => {
  const { begin, over } = SCENES[code]
  const scene = healthyScene().at(1_000)
  expect(held(scene, code)).toEqual([])
  begin(scene)
  const [beganAt] = held(scene, code)
  expect(beganAt).toBeGreaterThanOrEqual(1_000)
  expect(scene.codes()).toContain(code)
  if (typeof over === 'function') over(scene)
  else scene.after(over + 1_000)
  expect(held(scene, code)).toEqual([])
})

test.each([
  ['writers-undo-each-other', UNDO_WITHIN_MS],
  ['pod-flaps', FLAPS_WITHIN_MS],
] as const)('%s holds for as long as its rule looks back', (code, heldMs) => {
  const scene = SCENES[code].begin(healthyScene().at(1_000))
  expect(held(scene.after(heldMs - 1), code)).toEqual([1_000])
})

test('a heartbeat that is back already was a moment', () => {
  const scene = healthyScene().at(1_000).node('node-1', 'Unknown').pod(lost).node('node-1', 'True').after(5_000)
  expect(held(scene, 'pods-lost-with-heartbeat')).toHaveLength(1)
  expect(held(scene.after(HEARTBEAT_WITHIN_MS), 'pods-lost-with-heartbeat')).toEqual([])
})

test('clusters, load balancers with the states of their entries, and what waits in the queues', () => {
  const scene = createScene({ clusters: ['east', 'west'] }).at(0)
  of(scene, { type: 'unreachable', because, cluster: 'west' })
  scene.entry('edge', { address: '10.0.0.1' }).entry('edge', { id: 'b', address: '10.0.0.2', admin: 'draining' }).read('edge')
  scene.take({ at: START, type: 'load-balancer-unread', loadBalancer: 'other', because })
  expect(scene.observer.snapshot()).toMatchObject({
    clusters: [
      { name: 'east', is: 'listing' },
      { name: 'west', is: 'unreachable' },
    ],
    loadBalancers: [
      { name: 'edge', isRead: true, entries: { in: 1, draining: 1, out: 0 } },
      { name: 'other', isRead: false },
    ],
  })
  const late = changeMany(healthyScene().at(1_000), 3).after(2_000)
  late.observer.advance(START + 3_000)
  const { clusters, backlogs } = late.observer.snapshot()
  expect(clusters).toEqual([{ name: 'east', is: 'observed' }])
  expect(backlogs).toEqual([
    { cluster: 'east', object: 'EndpointSlice', services: 3, oldestMs: 2_000 },
    { cluster: 'east', object: 'Endpoints', services: 0, oldestMs: 0 },
  ])
})

describe('what the controller manager says of itself, beside a backlog', () => {
  const says = (scene: Scene, puts: number) => of(scene, { type: 'manager-metrics', queued: { EndpointSlice: 340 }, puts })
  const told = (scene: Scene) => scene.findings('backlog')[0]!

  test('its queue, and how many PUTs a second it has made between two reads', () => {
    const scene = says(healthyScene().at(0), 1_000)
    expect(
      told(
        changeMany(says(scene.at(5_000), 1_100), 12)
          .after(10_000)
          .end(15_000),
      ),
    ).toMatchObject({
      isOver: false,
      workqueueDepth: 340,
      putsPerSecond: 20,
    })
  })

  test('nothing where it was never read, or not of late; no rate of one that was started anew', () => {
    const fields = (scene: Scene) => {
      const { workqueueDepth, putsPerSecond } = told(scene)
      return [workqueueDepth, putsPerSecond]
    }
    expect(fields(changeMany(healthyScene().at(5_000), 12).end(15_000))).toEqual([undefined, undefined])
    const scene = says(healthyScene().at(0), 1_000)
    expect(fields(changeMany(scene.at(MANAGER_FRESH_MS + 1_000), 12).end(60_000))).toEqual([undefined, undefined])
    const anew = says(says(healthyScene().at(0), 1_000).at(5_000), 3)
    expect(fields(changeMany(anew, 12).end(15_000))).toEqual([340, undefined])
  })
})

test('lags and writes are counted as they come', () => {
  const [lags, writes]: [unknown[], unknown[]] = [[], []]
  const scene = createScene(
    {},
    { onLag: ({ leg }, lagMs) => lags.push([leg, lagMs]), onWrite: (written) => writes.push(written) },
  )
  scene.at(0).node('node-1').service(service).pod(web0).endpoints(own('EndpointSlice')).synced()
  const down = seenPod('web-0', { ready: false })
  scene
    .at(1_000)
    .pod(down)
    .at(1_250)
    .endpoints(endpointsOf('EndpointSlice', service, [down]))
  scene.at(2_000).endpoints(endpointsOf('EndpointSlice', service, [down]))
  expect(lags).toEqual([['pod-endpointslice', 250]])
  expect(writes).toEqual(['addresses', 'nothing'].map((effect) => ({ cluster: 'east', object: 'EndpointSlice', effect })))
})
