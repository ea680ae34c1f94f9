import { expect, test } from 'vitest'
import { KubeError } from '../../kube/errors.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { NotLeading } from '../../leadership/leader.ts'
import { decide } from '../decide/decide.ts'
import { startSecondLooks } from './second-looks.ts'
import { createWorld, MARKED, rulesOf } from './testing/world.ts'
import type { TouchEvent } from './touch-event.ts'

/* Second looks at an API server in memory, with the controllers of endpoints, in virtual time. */

const KEPT = `
  - name: kept
    when: '!endpoint.ready && condition(pod, "Ready").reason == "Slow"'
    effect: keepPrevious
    since: condition(pod, "Ready").lastTransitionTime
    for: 60s`
const HIDDEN = `
  - name: hidden
    when: '"example.dev/out" in pod.metadata.annotations'
    effect: remove`
const OUT = { annotations: { 'example.dev/out': 'yes' } }

function setUp(options: { hasEndpoints?: boolean; rate?: number; decidesInMs?: number } = {}) {
  const clock = createVirtualClock()
  const cluster = createWorld(clock, options)
  let replicas = 0
  let leads = 0
  /** The time that decisions have taken so far. */
  let tookMs = 0
  let decisions = 0
  const slow: typeof decide = (question) => {
    tookMs += options.decidesInMs ?? 0
    decisions += 1
    return decide(question)
  }

  /** Starts a replica; the newest one leads. */
  function start() {
    const own = (replicas += 1)
    leads = own
    const stopping = new AbortController()
    const events: TouchEvent[] = []
    const looks = startSecondLooks({
      client: cluster.client,
      clock: { ...clock, now: () => clock.now() + tookMs },
      random: { next: () => 0.5 },
      view: cluster.view,
      rules: cluster.rules,
      decide: slow,
      leader: {
        isLeader: () => leads === own,
        assertLeader() {
          if (leads !== own) throw new NotLeading('lease')
        },
      },
      ...(options.rate && { rate: options.rate }),
      onEvent: (event) => events.push(event),
      signal: stopping.signal,
    })
    cluster.listen(looks.onChange)
    looks.onLeading()
    return {
      looks,
      events,
      told: () => events.map(({ type }) => type),
      async stop() {
        stopping.abort()
        await clock.settle()
        await looks.ended
      },
    }
  }

  async function setRules(text: string, ...to: ReturnType<typeof start>[]): Promise<void> {
    cluster.setRules(rulesOf(text))
    for (const { looks } of to) looks.onRules()
  }

  return { clock, cluster, start, setRules, depose: () => (leads = 0), decisions: () => decisions }
}

test('a rule in force on an idle cluster: no touch, and a restart of the controllers writes nothing new', async () => {
  const { clock, cluster, start, setRules } = setUp()
  await setRules(MARKED)
  cluster.putService('web')
  for (let of = 0; of < 5; of += 1) cluster.putPod(`web-${of}`, 'web', of < 2 ? OUT : {})
  const one = start()
  cluster.writes.splice(0)
  await clock.advance(3_600_000)
  cluster.resync()
  await clock.advance(3_600_000)
  expect([cluster.touches, cluster.writes, one.events, cluster.stored('web', 'web-0')]).toEqual([[], [], [], 'not not'])
  await one.stop()
})

test('what a rule keeps ends at its time on an idle cluster, without any other write', async () => {
  const { clock, cluster, start, setRules } = setUp()
  await setRules(KEPT)
  cluster.putService('web')
  cluster.putPod('web-0', 'web')
  cluster.putPod('web-1', 'web')
  const one = start()
  await clock.advance(10_000)
  cluster.putPod('web-0', 'web', { ready: false, reason: 'Slow' })
  await clock.advance(59_000)
  expect([cluster.stored('web', 'web-0'), cluster.touches]).toEqual(['ready ready', []])
  await clock.advance(8_000)
  expect([cluster.stored('web', 'web-0'), cluster.stored('web', 'web-1')]).toEqual(['not not', 'ready ready'])
  expect(cluster.touches.map((touch) => touch.split(' ')[0])).toEqual(['Service'])
  await clock.advance(600_000)
  expect([cluster.touches.length, one.looks.counts()]).toEqual([1, { waiting: 0, wrong: 0, stuck: 0, unjudged: 0 }])
  await one.stop()
})

test('a pod that gets ready while it is kept needs no write', async () => {
  const { clock, cluster, start, setRules } = setUp()
  await setRules(KEPT)
  cluster.putService('web')
  cluster.putPod('web-0', 'web')
  const one = start()
  cluster.putPod('web-0', 'web', { ready: false, reason: 'Slow' })
  await clock.advance(20_000)
  cluster.putPod('web-0', 'web')
  await clock.advance(600_000)
  expect([cluster.stored('web', 'web-0'), cluster.touches]).toEqual(['ready ready', []])
  await one.stop()
})

test('an admission that saw an older pod, and no other writes: the object converges', async () => {
  const { clock, cluster, start, setRules } = setUp()
  await setRules(MARKED)
  cluster.putService('web')
  cluster.putPod('web-0', 'web')
  const one = start()
  cluster.fallBehind()
  // The controllers see the change of readiness, and the admission does not see the annotation.
  cluster.putPod('web-0', 'web', { ready: false, ...OUT })
  cluster.putPod('web-0', 'web', { ready: true, ...OUT })
  expect(cluster.stored('web', 'web-0')).toBe('ready ready')
  cluster.catchUp()
  await clock.advance(10_000)
  expect([cluster.stored('web', 'web-0'), cluster.touches.map((touch) => touch.split(' ')[0])]).toEqual([
    'not not',
    ['EndpointSlice', 'Endpoints'],
  ])
  await one.stop()
})

test('an annotation of a pod that a rule reads: out by a touch of the objects, back by one of the Service', async () => {
  for (const [rules, out] of [
    [MARKED, 'not not'],
    [HIDDEN, 'not out'],
  ] as const) {
    const { clock, cluster, start, setRules } = setUp()
    await setRules(rules)
    cluster.putService('web')
    cluster.putPod('web-0', 'web')
    cluster.putPod('web-1', 'web')
    const one = start()
    await clock.advance(1_000)
    cluster.writes.splice(0)
    cluster.putPod('web-0', 'web', OUT)
    await clock.advance(10_000)
    expect([cluster.stored('web', 'web-0'), cluster.stored('web', 'web-1')]).toEqual([out, 'ready ready'])
    expect(cluster.touches.map((touch) => touch.split(' ')[0])).toEqual(['EndpointSlice', 'Endpoints'])
    cluster.putPod('web-0', 'web')
    await clock.advance(20_000)
    expect([cluster.stored('web', 'web-0'), cluster.stored('web', 'web-1')]).toEqual(['ready ready', 'ready ready'])
    await clock.advance(600_000)
    expect(cluster.touches.length).toBeLessThanOrEqual(3)
    await one.stop()
  }
})

test('other rules: all objects that they are about are right in the end, at the rate', async () => {
  const { clock, cluster, start, setRules } = setUp({ rate: 2 })
  for (let of = 0; of < 20; of += 1) {
    cluster.putService(`web${of}`)
    cluster.putPod(`p-${of}`, `web${of}`, of % 2 === 0 ? OUT : {})
  }
  const one = start()
  await clock.advance(1_000)
  await setRules(MARKED, one)
  const sinceAt = clock.now()
  await clock.advance(60_000)
  for (let of = 0; of < 20; of += 1) expect(cluster.stored(`web${of}`, `p-${of}`)).toBe(of % 2 === 0 ? 'not not' : 'ready ready')
  const times = cluster.touches.map((touch) => Number(touch.split(' ')[2]) - sinceAt)
  expect(times.length).toBe(20)
  // Both objects of a Service at once, and then the next Service.
  for (let of = 1; of < times.length; of += 1)
    expect(times[of]! - times[of - 1]!).toBeGreaterThanOrEqual(of % 2 === 0 ? 1_000 : 0)
  // The rule goes away again, by one touch of each Service.
  cluster.touches.splice(0)
  await setRules('', one)
  await clock.advance(60_000)
  for (let of = 0; of < 20; of += 1) expect(cluster.stored(`web${of}`, `p-${of}`)).toBe('ready ready')
  expect(cluster.touches.length).toBe(10)
  // In mode audit, nothing is changed, and what was changed before goes back.
  await setRules(MARKED, one)
  await clock.advance(60_000)
  cluster.setRules(rulesOf(MARKED, 'audit'))
  one.looks.onRules()
  await clock.advance(60_000)
  expect(cluster.stored('web0', 'p-0')).toBe('ready ready')
  await one.stop()
})

test('a write of the controllers in the grace makes the touch needless', async () => {
  const { clock, cluster, start, setRules } = setUp()
  await setRules(MARKED)
  cluster.putService('web')
  cluster.putPod('web-0', 'web')
  const one = start()
  cluster.putPod('web-0', 'web', OUT)
  await clock.advance(4_000)
  // The readiness turns, so that the controllers write both objects.
  cluster.putPod('web-0', 'web', { ready: false, ...OUT })
  await clock.advance(600_000)
  expect([cluster.stored('web', 'web-0'), cluster.touches]).toEqual(['not not', []])
  await one.stop()
})

test('an object that another webhook takes back is touched less and less often, and told once', async () => {
  const { clock, cluster, start, setRules } = setUp({ hasEndpoints: false })
  await setRules(MARKED)
  cluster.putService('web')
  cluster.putPod('web-0', 'web')
  cluster.world.undo = (object) => ({
    ...object,
    endpoints: object.endpoints?.map((one: object) => ({
      ...one,
      conditions: { ready: true, serving: true, terminating: false },
    })),
  })
  const one = start()
  cluster.putPod('web-0', 'web', OUT)
  await clock.advance(3_600_000)
  expect(cluster.touches.length).toBeGreaterThan(5)
  expect(cluster.touches.length).toBeLessThan(16)
  expect(one.told().filter((type) => type === 'touches-without-effect')).toHaveLength(1)
  expect(one.looks.counts()).toMatchObject({ wrong: 1, stuck: 1 })
  cluster.world.undo = undefined
  await clock.advance(700_000)
  expect([cluster.stored('web', 'web-0'), one.told().at(-1), one.looks.counts().stuck]).toEqual(['not', 'righted', 0])
  await one.stop()
})

test('what other writers have altered is left alone without rules and in mode audit, and where no rule decides', async () => {
  for (const [rules, mode] of [
    ['', 'enforce'],
    [MARKED, 'audit'],
    [MARKED, 'enforce'],
  ] as const) {
    const { clock, cluster, start } = setUp()
    cluster.setRules(rulesOf(rules, mode))
    cluster.putService('web')
    cluster.putPod('web-0', 'web')
    cluster.putPod('web-1', 'web', mode === 'audit' ? OUT : {})
    const one = start()
    // Another webhook, and controllers that wait.
    cluster.world.undo = (object) => ({
      ...object,
      endpoints: object.endpoints?.map((of: object) => ({ ...of, conditions: {} })),
    })
    cluster.putPod('web-0', 'web', { ready: false })
    cluster.world.areControllersUp = false
    cluster.putPod('web-0', 'web')
    await clock.advance(3_600_000)
    expect([cluster.touches, one.events, one.looks.counts().wrong]).toEqual([[], [], 0])
    await one.stop()
  }
})

test('what rules have altered is taken back in mode audit, and then another writer is left alone', async () => {
  const { clock, cluster, start, setRules } = setUp()
  await setRules(MARKED)
  cluster.putService('web')
  cluster.putPod('web-0', 'web', OUT)
  const one = start()
  await clock.advance(10_000)
  cluster.setRules(rulesOf(MARKED, 'audit'))
  one.looks.onRules()
  await clock.advance(10_000)
  expect([cluster.stored('web', 'web-0'), cluster.touches.map((touch) => touch.split(' ')[0])]).toEqual([
    'ready ready',
    ['Service'],
  ])
  cluster.world.areControllersUp = false
  cluster.putPod('web-0', 'web', { ready: false, ...OUT })
  await clock.advance(600_000)
  expect(cluster.touches).toHaveLength(1)
  await one.stop()
})

test('an object that its controller makes anew under another name does not begin its attempts anew', async () => {
  const { clock, cluster, start, setRules } = setUp({ hasEndpoints: false })
  await setRules(MARKED)
  cluster.putService('web')
  cluster.putPod('web-0', 'web')
  const one = start()
  cluster.putPod('web-0', 'web', OUT)
  // Each write of the webhook has the controller make another slice, as its wish says.
  cluster.world.onTouched = () => cluster.replaceSlice('web')
  await clock.advance(3_600_000)
  expect(cluster.touches.length).toBeGreaterThan(5)
  expect(cluster.touches.length).toBeLessThan(16)
  expect(new Set(cluster.touches.map((touch) => touch.split(' ')[1])).size).toBe(cluster.touches.length)
  expect(one.told().filter((type) => type === 'touches-without-effect')).toHaveLength(1)
  await one.stop()
})

test('an endpoint that becomes wrong in a touched object does not wait for the back-off of the others', async () => {
  const { clock, cluster, start, setRules } = setUp({ hasEndpoints: false })
  await setRules(MARKED)
  cluster.putService('web')
  for (let of = 0; of < 8; of += 1) cluster.putPod(`web-${of}`, 'web')
  const one = start()
  // Pods come one after the other, and the admission sees each too late.
  for (let of = 0; of < 8; of += 1) {
    cluster.putPod(`web-${of}`, 'web', OUT)
    await clock.advance(6_000)
    expect(cluster.stored('web', `web-${of}`)).toBe('not')
  }
  expect([one.looks.counts().stuck, one.told().includes('touches-without-effect')]).toEqual([0, false])
  await one.stop()
})

test('on a busy machine, where a decision takes long, one look touches all objects that are due', async () => {
  const { clock, cluster, start, setRules, decisions } = setUp({ decidesInMs: 1_000 })
  await setRules(MARKED)
  cluster.putService('web')
  cluster.putPod('web-0', 'web')
  const one = start()
  await clock.advance(10_000)
  cluster.putPod('web-0', 'web', OUT)
  const before = decisions()
  while (cluster.touches.length < 2) await clock.advance(100)
  // The first look finds both objects, and the next one touches both.
  expect(decisions() - before).toBe(4)
  expect(cluster.stored('web', 'web-0')).toBe('not not')
  await one.stop()
})

test.each([404, 409, 422])('a touch that is answered %i again and again is told, counted and backed off', async (status) => {
  const { clock, cluster, start, setRules } = setUp({ hasEndpoints: false })
  cluster.putService('web')
  cluster.putPod('web-0', 'web', OUT)
  const one = start()
  let asked = 0
  cluster.world.onPatch = () => {
    asked += 1
    throw new KubeError('no', { kind: 'definite', method: 'PATCH', path: '/', status })
  }
  await setRules(MARKED, one)
  await clock.advance(3_600_000)
  expect(asked).toBeGreaterThan(5)
  expect(asked).toBeLessThan(16)
  const failed = one.events.filter(({ type }) => type === 'touch-failed')
  expect(failed.map((event) => (event as { failures: number }).failures)).toEqual(failed.map((_, index) => index + 1))
  expect([failed.length, one.told().filter((type) => type === 'touches-without-effect').length]).toEqual([asked, 1])
  expect(one.looks.counts()).toMatchObject({ wrong: 1, stuck: 1 })
  cluster.world.onPatch = undefined
  await clock.advance(700_000)
  expect([cluster.stored('web', 'web-0'), one.looks.counts().stuck]).toEqual(['not', 0])
  await one.stop()
})

test('one refusal, by a write of a controller in between, costs no back-off', async () => {
  const { clock, cluster, start, setRules } = setUp({ hasEndpoints: false })
  cluster.putService('web')
  cluster.putPod('web-0', 'web', OUT)
  const one = start()
  let isFirst = true
  cluster.world.onPatch = () => {
    if (!isFirst) return
    isFirst = false
    throw new KubeError('no', { kind: 'definite', method: 'PATCH', path: '/', status: 409 })
  }
  await setRules(MARKED, one)
  await clock.advance(12_000)
  expect([cluster.stored('web', 'web-0'), one.told()]).toEqual(['not', ['touch-failed', 'touched', 'righted']])
  await one.stop()
})

test('a rule that flips each time is touched less and less often', async () => {
  const { clock, cluster, start, setRules } = setUp({ hasEndpoints: false })
  await setRules(MARKED)
  cluster.putService('web')
  cluster.putPod('web-0', 'web')
  const one = start()
  // Each change of a stored object turns the annotation that the rule reads.
  let isOut = false
  for (let times = 0; times < 360; times += 1) {
    const before = cluster.touches.length
    await clock.advance(10_000)
    if (cluster.touches.length > before || times === 0) {
      isOut = !isOut
      cluster.putPod('web-0', 'web', isOut ? OUT : {})
    }
  }
  expect(cluster.touches.length).toBeLessThan(20)
  expect(one.told().filter((type) => type === 'touches-without-effect').length).toBeGreaterThanOrEqual(1)
  await one.stop()
})

test('the leader is killed in between: the next one makes right what is left, and no two touch at once', async () => {
  const { clock, cluster, start, setRules } = setUp({ rate: 1 })
  for (let of = 0; of < 10; of += 1) {
    cluster.putService(`web${of}`)
    cluster.putPod(`p-${of}`, `web${of}`, OUT)
  }
  const first = start()
  await setRules(MARKED, first)
  await clock.advance(9_000)
  const before = cluster.touches.length
  expect(before).toBeGreaterThan(1)
  const second = start()
  await clock.advance(60_000)
  for (let of = 0; of < 10; of += 1) expect(cluster.stored(`web${of}`, `p-${of}`)).toBe('not not')
  expect(first.events.filter(({ type }) => type === 'touched').length).toBe(before)
  expect(first.looks.counts()).toEqual({ waiting: 0, wrong: 0, stuck: 0, unjudged: 0 })
  await first.stop()
  await second.stop()
})

test('a replica that stops to lead right before its write leaves writes nothing', async () => {
  const { clock, cluster, start, setRules, depose } = setUp()
  cluster.putService('web')
  cluster.putPod('web-0', 'web', OUT)
  const one = start()
  await setRules(MARKED, one)
  cluster.world.onPatch = () => {
    throw new Error('a write without the lead')
  }
  await clock.advance(4_900)
  depose()
  await clock.advance(60_000)
  expect([cluster.touches, one.told()]).toEqual([[], []])
  await one.stop()
})

test('where the Endpoints API is off, slices alone are looked at', async () => {
  const { clock, cluster, start, setRules } = setUp({ hasEndpoints: false })
  await setRules(MARKED)
  cluster.putService('web')
  cluster.putPod('web-0', 'web')
  const one = start()
  cluster.putPod('web-0', 'web', OUT)
  await clock.advance(10_000)
  expect([cluster.stored('web', 'web-0'), cluster.touches.length]).toEqual(['not', 1])
  await one.stop()
})

test('a decision by facts of the request is not looked at again, and that is counted', async () => {
  const { clock, cluster, start, setRules } = setUp()
  cluster.putService('web')
  cluster.putPod('web-0', 'web', OUT)
  cluster.putPod('web-1', 'web')
  const one = start()
  await setRules(
    `${MARKED}
  - name: by-request
    when: request.userInfo.username == "system:controller"
    effect: notReady`,
    one,
  )
  await clock.advance(20_000)
  // The first rule decides before the one that reads the request.
  expect([cluster.stored('web', 'web-0'), one.looks.counts().unjudged > 0, one.looks.counts().wrong]).toEqual([
    'not not',
    true,
    0,
  ])
  const before = cluster.touches.length
  await clock.advance(600_000)
  expect(cluster.touches.length).toBe(before)
  await one.stop()
})

test('while pods cannot be read there is no second look', async () => {
  const { clock, cluster, start, setRules } = setUp()
  cluster.putService('web')
  cluster.putPod('web-0', 'web', OUT)
  cluster.world.isCurrent = false
  const one = start()
  await setRules(MARKED, one)
  await clock.advance(60_000)
  expect(cluster.touches).toEqual([])
  cluster.world.isCurrent = true
  await clock.advance(20_000)
  expect(cluster.stored('web', 'web-0')).toBe('not not')
  await one.stop()
})
