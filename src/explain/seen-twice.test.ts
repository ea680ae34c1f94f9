import { expect, test } from 'vitest'
import { explain } from './explain.ts'
import { differsForNow, seenTwice } from './seen-twice.ts'
import { endpointOf, endpointsObject, notReady, observed, pod, slice, STATEFUL_SET_WEB } from './testing/observed.ts'

const WEB_1 = pod({ name: 'web-1', address: '10.0.0.2' })
const pods = [pod(), WEB_1]
const about = STATEFUL_SET_WEB
const right = explain(observed({ pods, about }))
const lacksFirst = explain(observed({ pods, about, slices: [slice([endpointOf(WEB_1)])] }))
const lacksSecond = explain(observed({ pods, about, slices: [slice([endpointOf(pod())])] }))

test('what a controller may be about to put right is looked at again', () => {
  expect(differsForNow(lacksFirst)).toBe(true)
  expect(differsForNow(right)).toBe(false)
  expect(differsForNow(explain(observed({ pods: [notReady()] })))).toBe(false)
})

test('what is put right by the second look is no finding', () => {
  expect(seenTwice(lacksFirst, right)).toMatchObject({ verdict: 'right', findings: [] })
})

test('what the second look alone has seen is no finding, and what both have seen is one', () => {
  expect(seenTwice(lacksFirst, lacksSecond)).toMatchObject({ verdict: 'right', findings: [] })
  expect(seenTwice(lacksFirst, lacksFirst)).toMatchObject({
    verdict: 'wrong',
    findings: [{ reason: { code: 'not-in-slices', pod: 'web-0' } }],
  })
})

test('of Endpoints the pods are told that differ in both looks', () => {
  const without = (...some: typeof pods) => explain(observed({ pods, about, endpoints: [endpointsObject(some)] }))
  expect(seenTwice(without(), without(WEB_1)).findings).toMatchObject([
    { reason: { code: 'endpoints-differ', pods: [{ pod: 'web-0', is: 'absent', made: 'ready' }] } },
  ])
  expect(seenTwice(without(pod()), without(WEB_1)).findings).toEqual([])
})

test('a pod that is not ready is told by the second look as it stands', () => {
  const second = explain(observed({ pods: [notReady(), WEB_1], about }))
  expect(seenTwice(lacksSecond, second)).toMatchObject({
    verdict: 'wrong',
    findings: [{ reason: { code: 'containers-not-ready' } }],
  })
})
