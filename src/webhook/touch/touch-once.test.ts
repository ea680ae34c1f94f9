import { expect, test } from 'vitest'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { decide } from '../decide/decide.ts'
import { createWorld, MARKED, rulesOf } from './testing/world.ts'
import { makeTouches, planTouches } from './touch-once.ts'

const OUT = { annotations: { 'example.dev/out': 'yes' } }

function setUp() {
  const clock = createVirtualClock()
  const cluster = createWorld(clock)
  for (let of = 0; of < 6; of += 1) {
    cluster.putService(`web${of}`)
    cluster.putPod(`p-${of}`, `web${of}`, of < 2 ? OUT : {})
  }
  const plan = (rules: string, takesAll = false) =>
    planTouches({ view: cluster.view, rules: rulesOf(rules), decide, nowAt: clock.wallNow(), knowsNodes: false, takesAll })
  const touched: string[] = []
  const run = (of: ReturnType<typeof plan>, signal = new AbortController().signal) =>
    makeTouches(of, {
      client: cluster.client,
      clock,
      rate: 2,
      signal,
      onTouched: ({ kind, name }, error) => touched.push(`${kind} ${name}${error === undefined ? '' : ' failed'}`),
    })
  return { clock, cluster, plan, run, touched }
}

test('the objects that rules want otherwise are named and rewritten at the rate, and no others', async () => {
  const { clock, cluster, plan, run, touched } = setUp()
  expect(plan('')).toEqual({ touches: [], objects: 12, unjudged: 0 })
  const planned = plan(MARKED)
  expect(planned.touches.map(({ kind, name, way, wrong }) => [kind, name, way, wrong])).toEqual([
    ['EndpointSlice', 'web0-1', 'object', 1],
    ['Endpoints', 'web0', 'object', 1],
    ['EndpointSlice', 'web1-1', 'object', 1],
    ['Endpoints', 'web1', 'object', 1],
  ])
  expect(cluster.touches).toEqual([])
  cluster.setRules(rulesOf(MARKED))
  const sinceAt = clock.now()
  const running = run(planned)
  await clock.advance(10_000)
  expect([await running, touched.length, cluster.stored('web0', 'p-0'), cluster.stored('web2', 'p-2')]).toEqual([
    0,
    4,
    'not not',
    'ready ready',
  ])
  expect(cluster.touches.map((touch) => Number(touch.split(' ')[2]) - sinceAt)).toEqual([0, 500, 1_000, 1_500])
  // Back by one write of each Service.
  cluster.setRules(rulesOf(''))
  const back = run(plan(''))
  await clock.advance(10_000)
  expect([await back, cluster.touches.slice(4).map((touch) => touch.split(' ').slice(0, 2).join(' '))]).toEqual([
    0,
    ['Service web0', 'Service web1'],
  ])
  expect(cluster.stored('web1', 'p-1')).toBe('ready ready')
})

test('all objects, and an object that has changed since', async () => {
  const { clock, cluster, plan, run, touched } = setUp()
  const planned = plan('', true)
  expect(planned.touches.length).toBe(12)
  // The readiness turns, so that both objects get another version.
  cluster.putPod('p-3', 'web3', { ready: false })
  const running = run(planned)
  await clock.advance(60_000)
  expect([await running, touched.filter((one) => one.endsWith('failed'))]).toEqual([
    2,
    ['EndpointSlice web3-1 failed', 'Endpoints web3 failed'],
  ])
})

test('the signal ends it', async () => {
  const { clock, cluster, plan, run } = setUp()
  const stopping = new AbortController()
  const running = run(plan('', true), stopping.signal)
  await clock.advance(1_200)
  stopping.abort()
  await running
  expect(cluster.touches.length).toBe(3)
})
