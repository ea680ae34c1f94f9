import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReasonOf } from '../reasons/reason.ts'
import type { WindowPod } from './window.ts'
import { admit, stuckPods, windowSize } from './window.ts'

const SILENT = { code: 'node-silent', node: 'n1' } as const
const WORDS: Record<string, Omit<WindowPod, 'uid' | 'name'>> = {
  waiting: { standing: 'waiting', ready: true, operatorOut: 'none', unserved: false },
  broken: { standing: 'waiting', ready: false, operatorOut: 'none', unserved: false },
  maintained: { standing: 'waiting', ready: true, operatorOut: 'some', unserved: false },
  parked: { standing: 'waiting', ready: true, operatorOut: 'all', unserved: false },
  shelved: { standing: 'idle', ready: true, operatorOut: 'all', unserved: false },
  parkedAndBroken: { standing: 'waiting', ready: false, operatorOut: 'all', unserved: false },
  active: { standing: 'active', ready: true, operatorOut: 'none', unserved: false },
  failed: { standing: 'active', ready: false, operatorOut: 'none', unserved: false },
  idle: { standing: 'idle', ready: true, operatorOut: 'none', unserved: false },
  checking: { standing: 'checking', ready: true, operatorOut: 'none', unserved: false },
  silent: {
    standing: 'waiting',
    ready: false,
    nodeIsSilent: true,
    because: SILENT,
    operatorOut: 'none',
    unserved: false,
  },
  sick: { standing: 'idle', ready: false, operatorOut: 'none', unserved: false },
  unserved: { standing: 'idle', ready: true, operatorOut: 'none', unserved: true },
  unfound: { standing: 'waiting', ready: true, operatorOut: 'none', unserved: true },
  missing: { standing: 'missing', ready: false, operatorOut: 'none', unserved: false },
}

/** Builds pods from words. The uid of a pod is its letter. */
function podsOf(words: string): WindowPod[] {
  return words.split(' ').map((word, index) => ({ uid: 'abcdefgh'[index]!, name: `web-${index}`, ...WORDS[word]! }))
}

/** The reason that keeps the other pods from leaving. */
const taken = (facts: Partial<ReasonOf<'window-taken'>>) => ({
  code: 'window-taken',
  pods: [],
  lacking: [],
  counts: [],
  ...facts,
})

test('a pod whose node does not report starts only once it does, and takes its place until then', () => {
  const silent = { pod: 'web-0', standing: 'not-ready', because: SILENT } as const
  expect(admit(podsOf('silent waiting waiting'), 2)).toEqual({
    start: ['b'],
    waitingFor: taken({ size: 2, pods: [silent, { pod: 'web-1', standing: 'starts' }] }),
  })
  expect(admit(podsOf('silent idle'), 1)).toEqual({ start: [], waitingFor: taken({ pods: [silent] }) })
  // Control: any other pod that is not ready goes first.
  expect(admit(podsOf('broken waiting'), 1)).toMatchObject({ start: ['a'] })
})

test('a missing pod is told with the pod that it waits for', () => {
  const leaving = { pod: 'web-9', because: { code: 'pod-not-ready' } } as const
  const missing: WindowPod = { ...podsOf('missing')[0]!, name: 'statefulset/web', leaving }
  expect(admit([missing, podsOf('idle waiting')[1]!], 1).waitingFor).toEqual(
    taken({ size: 1, lacking: [{ workload: 'statefulset/web', pods: 1, leaving: [leaving] }] }),
  )
})

test.each([
  { name: 'the first, in order', pods: 'waiting waiting waiting', size: 1, start: 'a' },
  { name: 'as many as there is room for', pods: 'waiting waiting waiting', size: 2, start: 'a b' },
  { name: 'all', pods: 'waiting waiting', size: 5, start: 'a b' },
  { name: 'none while one is out', pods: 'active waiting', size: 1, start: '' },
  { name: 'a failed pod keeps its place', pods: 'failed waiting', size: 1, start: '' },
  { name: 'what is not ready counts, whoever made it so', pods: 'sick waiting', size: 1, start: '' },
  { name: 'a ready pod that no load balancer has counts', pods: 'unserved waiting', size: 1, start: '' },
  { name: 'and no more than once', pods: 'unserved waiting', size: 2, start: 'b' },
  {
    name: 'one that waits and that no load balancer has counts as well, and could not be drained',
    pods: 'unfound waiting',
    size: 1,
    start: '',
  },
  { name: 'it does not start in a larger window either', pods: 'unfound waiting', size: 2, start: 'b' },
  { name: 'one that is still to be made counts', pods: 'missing waiting', size: 1, start: '' },
  { name: 'a pod that is done is no hindrance', pods: 'idle waiting', size: 1, start: 'b' },
  { name: 'a broken pod is mended within a window of 1', pods: 'waiting broken waiting', size: 1, start: 'b' },
  { name: 'what an operator has out goes before what serves', pods: 'waiting maintained', size: 1, start: 'b' },
  {
    name: 'what is out everywhere takes nothing away: a window of them at a time',
    pods: 'parked parked parked',
    size: 1,
    start: 'a',
  },
  { name: 'also beside what stays out, or is in no load balancer', pods: 'shelved unserved parked', size: 1, start: 'c' },
  { name: 'it counts for what serves', pods: 'waiting parked parked', size: 1, start: 'b' },
  { name: 'and goes first', pods: 'waiting parked', size: 2, start: 'b a' },
  { name: 'what is out in part leaves where it is in', pods: 'maintained maintained', size: 1, start: '' },
  { name: 'not beside what sluice has out', pods: 'active parked', size: 1, start: '' },
  { name: 'nor beside what is not ready or missing', pods: 'sick missing parked', size: 2, start: '' },
  { name: 'a late heartbeat, all out everywhere: none', pods: 'parkedAndBroken parkedAndBroken', size: 1, start: '' },
  { name: 'a late heartbeat makes all not ready: none', pods: 'broken broken broken', size: 1, start: '' },
  { name: 'a late heartbeat, a larger window: none', pods: 'broken broken broken broken', size: 3, start: '' },
  { name: 'two broken within a window of 2: both', pods: 'broken broken waiting', size: 2, start: 'a b' },
  { name: 'a broken one beside one that is out', pods: 'active broken', size: 1, start: '' },
  { name: 'several that an earlier run left out: none until they are home', pods: 'active active waiting', size: 2, start: '' },
  { name: 'who has a place goes on', pods: 'waiting checking waiting', size: 1, start: 'b' },
  { name: 'who has a place goes before what is broken', pods: 'broken checking', size: 2, start: 'b a' },
  { name: 'a place that another pod needs by now', pods: 'checking sick', size: 1, start: '' },
  { name: 'no pods wait', pods: 'active idle', size: 1, start: '' },
])('$name', ({ pods, size, start }) => {
  expect(admit(podsOf(pods), size).start.join(' ')).toBe(start)
})

test('says what it waits for', () => {
  const lacks = (count: number): WindowPod[] =>
    Array.from({ length: count }, (_, index) => ({ ...WORDS['missing']!, uid: `missing ${index}`, name: 'statefulset/web' }))
  const lacking = (count: number) => [{ workload: 'statefulset/web', pods: count, leaving: [] }]
  const waitingFor = (list: readonly WindowPod[], places: number) => admit(list, places).waitingFor
  expect(waitingFor(podsOf('waiting waiting'), 1)).toEqual(taken({ size: 1, pods: [{ pod: 'web-0', standing: 'starts' }] }))
  expect(waitingFor(podsOf('active waiting sick maintained'), 3)).toEqual(
    taken({
      size: 3,
      pods: [
        { pod: 'web-0', standing: 'upgrading' },
        { pod: 'web-2', standing: 'not-ready' },
        { pod: 'web-3', standing: 'operator' },
      ],
    }),
  )
  expect(waitingFor(podsOf('active active active active sick maintained maintained waiting waiting'), 8)).toEqual(
    taken({
      size: 8,
      counts: [
        { standing: 'upgrading', pods: 5 },
        { standing: 'not-ready', pods: 1 },
        { standing: 'operator', pods: 2 },
      ],
    }),
  )
  expect(waitingFor(podsOf('unserved waiting'), 1)).toEqual(taken({ size: 1, pods: [{ pod: 'web-0', standing: 'unserved' }] }))
  expect(waitingFor(podsOf('unserved unserved active active active maintained waiting'), 6)).toEqual(
    taken({
      size: 6,
      counts: [
        { standing: 'upgrading', pods: 3 },
        { standing: 'operator', pods: 1 },
        { standing: 'unserved', pods: 2 },
      ],
    }),
  )
  expect(waitingFor([...lacks(1), ...podsOf('sick waiting')], 2)).toEqual(
    taken({ size: 2, pods: [{ pod: 'web-0', standing: 'not-ready' }], lacking: lacking(1) }),
  )
  expect(waitingFor([...lacks(2), ...podsOf('waiting')], 2)).toEqual(taken({ size: 2, lacking: lacking(2) }))
  expect(waitingFor([...lacks(6), ...podsOf('sick waiting')], 7)).toEqual(
    taken({
      size: 7,
      counts: [
        { standing: 'missing', pods: 6 },
        { standing: 'not-ready', pods: 1 },
      ],
    }),
  )
  expect(waitingFor(podsOf('unfound idle'), 2)).toEqual(taken({ pods: [{ pod: 'web-0', standing: 'unserved' }] }))
  expect(admit(podsOf('waiting idle'), 1)).toEqual({ start: ['a'] })
})

const pods = fc
  .array(
    fc.record({
      standing: fc.constantFrom('waiting', 'active', 'idle'),
      ready: fc.boolean(),
      operatorOut: fc.constantFrom('none', 'some', 'all'),
      unserved: fc.boolean(),
    }),
    { maxLength: 20 },
  )
  .map((list) => list.map((one, index): WindowPod => ({ uid: `u${index}`, name: `p${index}`, ...one })))
const size = fc.integer({ min: 1, max: 8 })
const isDown = ({ standing, ready }: WindowPod): boolean => standing === 'active' || !ready
const isUnavailable = (pod: WindowPod): boolean => isDown(pod) || pod.operatorOut !== 'none' || pod.unserved

test('starts only what waits, each once, and never leaves more out than the window has places', () => {
  fc.assert(
    fc.property(pods, size, (list, places) => {
      const { start, waitingFor } = admit(list, places)
      const started = new Set(start)
      expect(started.size).toBe(start.length)
      expect(list.filter(({ uid }) => started.has(uid)).every(({ standing }) => standing === 'waiting')).toBe(true)
      // A pod that an operator has out everywhere takes no capacity away when it starts.
      const leaving = list.filter(({ uid, operatorOut }) => started.has(uid) && operatorOut !== 'all')
      const out = list.filter((pod) => isUnavailable(pod) || started.has(pod.uid))
      expect(leaving.length === 0 || out.length <= places).toBe(true)
      const down = list.filter((pod) => isDown(pod) || started.has(pod.uid))
      expect(start.length === 0 || down.length <= places).toBe(true)
      const waiting = list.filter(({ standing }) => standing === 'waiting').length
      expect(waitingFor === undefined).toBe(start.length === waiting)
    }),
  )
})

/** Returns the pods that never start in a run whose started pods all come home. */
function neverStarted(list: readonly WindowPod[], places: number): string[] {
  let world = list
  for (;;) {
    const started = new Set(admit(world, places).start)
    if (started.size === 0) return world.flatMap(({ standing, uid }) => (standing === 'waiting' ? [uid] : []))
    world = world.map((pod) => (started.has(pod.uid) ? { ...pod, standing: 'idle' } : pod))
  }
}

test('what is told to be stuck is what never starts, and nothing else', () => {
  fc.assert(
    fc.property(pods, size, (list, places) => {
      const well = list.map((pod) => ({ ...pod, ready: true, unserved: pod.unserved && pod.standing === 'idle' }))
      const settled = well.filter(({ standing }) => standing !== 'active')
      const stuck = stuckPods(settled, places).map(({ uid }) => uid)
      expect(stuck).toEqual(neverStarted(settled, places))
      // Pods under way come home, and pods that are not ready may.
      expect(
        stuckPods(
          list.map((pod) => ({ ...pod, unserved: pod.unserved && pod.standing === 'idle' })),
          places,
        ).length,
      ).toBe(stuckPods(settled, places).length)
    }),
  )
})

test('never holds back without a reason: with room, whoever waits starts', () => {
  fc.assert(
    fc.property(pods, size, (list, places) => {
      const { start } = admit(list, places)
      const started = new Set(start)
      const out = list.filter((pod) => isUnavailable(pod) || started.has(pod.uid))
      const down = list.filter((pod) => isDown(pod) || started.has(pod.uid))
      const left = list.filter(({ uid, standing, unserved }) => standing === 'waiting' && !unserved && !started.has(uid))
      for (const { operatorOut } of left) expect((operatorOut === 'all' ? down : out).length).toBeGreaterThanOrEqual(places)
    }),
  )
})

test('when more pods than the window has places turn not ready at once, none starts', () => {
  fc.assert(
    fc.property(pods, size, (list, places) => {
      const late = list.map((pod) => ({ ...pod, ready: false }))
      expect(late.length <= places || admit(late, places).start.length === 0).toBe(true)
    }),
  )
})

test('started one after another, they are never more than together', () => {
  fc.assert(
    fc.property(pods, size, (list, places) => {
      let world = list
      for (let round = 0; round < 3; round++) {
        const { start } = admit(world, places)
        world = world.map((pod) => (start.includes(pod.uid) ? { ...pod, standing: 'active' } : pod))
      }
      const out = world.filter(isUnavailable).length
      expect(out).toBeLessThanOrEqual(Math.max(places, list.filter(isUnavailable).length))
    }),
  )
})

test.each([
  { maxUnavailable: { count: 3 }, pods: 10, size: 3 },
  { maxUnavailable: { percent: 25 }, pods: 10, size: 2 },
  { maxUnavailable: { percent: 29 }, pods: 100, size: 29 },
  { maxUnavailable: { percent: 1 }, pods: 10, size: 1 },
  { maxUnavailable: { percent: 0 }, pods: 10, size: 1 },
  { maxUnavailable: { percent: 100 }, pods: 7, size: 7 },
  { maxUnavailable: { percent: 50 }, pods: 0, size: 1 },
])('$maxUnavailable of $pods pods is $size', ({ maxUnavailable, pods: count, size: expected }) => {
  expect(windowSize(maxUnavailable, count)).toBe(expected)
})
