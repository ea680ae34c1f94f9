import { expect, test } from 'vitest'
import type { ObservedEvent } from './events.ts'
import { createObserver } from './observer.ts'
import { replayEvents } from './replay.ts'
import type { Told } from './told.ts'
import { createScene, endpointsOf, PERSON, seenPod, seenService, START } from './testing/scene.ts'

const service = seenService()
const own = endpointsOf('Endpoints', service, [seenPod('web-0')])

function incidents() {
  const scene = createScene().at(0).node('node-1').service(service).pod(seenPod('web-0')).endpoints(own)
  scene.endpoints(endpointsOf('EndpointSlice', service, [seenPod('web-0')])).synced()
  scene.entry('edge', { address: '10.0.0.1' }).read('edge')
  scene.at(1_000).endpoints({ ...own, addresses: [{ address: '192.0.2.1', ready: true }], by: PERSON })
  scene
    .at(2_000)
    .pod(seenPod('web-0', { ready: false, containersReady: true }))
    .node('node-1', 'Unknown')
  scene.at(6_000).node('node-1').at(8_000).podGone('web-0').at(40_000).entryGone('edge')
  return scene.end(60_000)
}

const options = { clusters: ['east'], allNamespaces: true, graceMs: 10_000, startedAt: START }

test('the events of a recording come to the same, at the same instants', async () => {
  const scene = incidents()
  const lines = scene.events.map((event) => JSON.stringify(event))
  const told: Told[] = []
  const events = lines.map((line) => JSON.parse(line) as ObservedEvent)
  const summary = await replayEvents(options, events, (one) => told.push(one))
  expect(told).toEqual(scene.told)
  expect(summary).toEqual(scene.observer.summary())
  expect(summary.findings.map(({ code }) => code)).toEqual([
    'stale-address',
    'endpoints-by-hand',
    'pods-lost-with-heartbeat',
    'entry-follows-nothing',
  ])
})

test('what was due was found in time, and is found again though nothing has said when somebody looked', () => {
  const { events, told } = incidents()
  const observer = createObserver(options)
  const live: Told[] = []
  for (const event of events) {
    // The calls come as those of a timer in a running process: late, and now and then with nothing due.
    for (let due = observer.nextAt(); due !== undefined && due + 700 < event.at; due = observer.nextAt())
      live.push(...observer.advance(due + 700))
    live.push(...observer.take(event))
  }
  expect(live).toEqual(told)
})
