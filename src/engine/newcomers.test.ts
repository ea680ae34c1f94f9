import { expect, test } from 'vitest'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import { createNewcomers } from './newcomers.ts'
import { said } from './testing/said.ts'
import type { TrafficReading } from '../pods/glossary.ts'
import type { Found } from './traffic/find-targets.ts'

const MISSING: Found = { found: false, reason: { code: 'not-found', loadBalancer: 'edge', said: 'no server has it' } }
const THERE: Found = { found: true, targets: [] }
const IN_EDGE: Found = { found: true, targets: [{ loadBalancer: 'edge', target: { id: 'web-0', scope: 'web' } }] }
const pod = testPod({ uid: 'uid-0', ip: '10.0.0.9' })

/** `answers`: the findings of the looks, in order. The last one repeats. */
function createBed(...answers: (Found | Error)[]) {
  const clock = createVirtualClock()
  const looks: string[] = []
  /** The states at the looks that find the pod. The last one repeats. */
  const states: (TrafficReading['state'] | 'hidden')[] = ['in']
  const newcomers = createNewcomers({
    clock,
    traffic: {
      async find(pods) {
        for (const { ip } of pods) looks.push(ip!)
        const answer = answers.length > 1 ? answers.shift()! : answers[0]!
        if (answer instanceof Error) throw answer
        return [answer]
      },
      async inspect() {
        const state = states.length > 1 ? states.shift()! : states[0]!
        return { ...(state === 'hidden' ? { state: 'unknown', hidden: true } : { state }), inFlight: 0, detail: said('') }
      },
    },
    onLooked: () => newcomers.isUnserved(pod),
  })
  return { clock, looks, states, newcomers }
}

test('one that is found serves from then on, and is looked for once', async () => {
  const { clock, looks, newcomers } = createBed(THERE)
  expect([newcomers.isUnserved(pod), newcomers.isUnserved(pod)]).toEqual([true, true])
  await clock.advance(0)
  expect(newcomers.isUnserved(pod)).toBe(false)
  expect(looks).toEqual(['10.0.0.9'])
  expect(clock.pending()).toBe(0)
})

test.each([
  ['that no load balancer has', MISSING],
  ['of which none could be asked', new Error('no answer')],
])('one %s is looked for again, until it is there', async (_, answer) => {
  const { clock, looks, newcomers } = createBed(answer, answer, THERE)
  newcomers.isUnserved(pod)
  await clock.advance(4_999)
  expect(looks).toHaveLength(1)
  await clock.advance(5_001)
  expect(looks).toHaveLength(3)
  expect(newcomers.isUnserved(pod)).toBe(false)
})

test('one that has come to an entry that is out is known to be there, and out until it is in again', async () => {
  const { clock, states, newcomers } = createBed(IN_EDGE)
  states.unshift('out', 'mixed')
  newcomers.isUnserved(pod)
  for (const isOut of ['all', 'some', 'none']) {
    await clock.advance(0)
    expect([newcomers.operatorOut(pod), newcomers.isUnserved(pod)]).toEqual([isOut, false])
    await clock.advance(5_000)
  }
  expect(clock.pending()).toBe(0)
})

test('where it is there, and whether it is in can never be told, it serves: at G0 that is all there is', async () => {
  const { clock, states, newcomers } = createBed(IN_EDGE)
  states[0] = 'hidden'
  newcomers.isUnserved(pod)
  await clock.advance(0)
  expect([newcomers.operatorOut(pod), newcomers.isUnserved(pod)]).toEqual(['none', false])
})

test('where that could not be told at this moment, it is asked again', async () => {
  const { clock, states, newcomers } = createBed(IN_EDGE)
  states.unshift('unknown', 'out')
  newcomers.isUnserved(pod)
  await clock.advance(0)
  expect([newcomers.operatorOut(pod), newcomers.isUnserved(pod)]).toEqual(['none', true])
  await clock.advance(5_000)
  expect([newcomers.operatorOut(pod), newcomers.isUnserved(pod)]).toEqual(['all', false])
  newcomers.stop()
})

test('what the plan has found is not asked for, unless it is elsewhere by now', async () => {
  const { clock, looks, newcomers } = createBed(MISSING)
  newcomers.know([pod])
  expect(newcomers.isUnserved(pod)).toBe(false)
  expect(newcomers.isUnserved({ ...pod, ip: '10.0.0.10' })).toBe(true)
  await clock.advance(0)
  expect(looks).toEqual(['10.0.0.10'])
  newcomers.stop()
})

test('nobody looks any more when the run is over', async () => {
  const { clock, looks, newcomers } = createBed(MISSING)
  newcomers.isUnserved(pod)
  await clock.advance(0)
  newcomers.stop()
  await clock.advance(60_000)
  expect([looks.length, clock.pending()]).toEqual([1, 0])
})
