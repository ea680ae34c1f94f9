import { expect, test } from 'vitest'
import type { PodView } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { AvailabilityOwner } from './availability.ts'
import { createAvailability } from './availability.ts'

/* Pods of one workload with minReadySeconds 20, each with the second in which it became Ready last. Undefined: the pod is not Ready. */

const OWNER = { kind: 'StatefulSet', name: 'web', uid: 'web' }

function podAt(name: string, second: number | undefined): PodView {
  const since = second === undefined ? {} : { readySince: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z` }
  return testPod({ name, uid: name, owner: OWNER, ready: second !== undefined, ...since })
}

function podsAt(seconds: Record<string, number | undefined>): PodView[] {
  return Object.entries(seconds).map(([name, second]) => podAt(name, second))
}

function scene(counted: ReturnType<AvailabilityOwner['counted']>, minReadyMs = 20_000) {
  let now = 1_000_000
  const owner = { counted, minReadyMs }
  const availability = createAvailability({ now: () => now }, () => [
    { owns: ({ owner: of }) => of?.uid === OWNER.uid, minReadyMs: () => owner.minReadyMs, counted: () => owner.counted },
  ])
  return {
    owner,
    pass(ms: number) {
      now += ms
    },
    pending: (seconds: Record<string, number | undefined>) => Object.fromEntries(availability.pendingOf(podsAt(seconds))),
  }
}

test('of the pods that were Ready before, the controller’s count says how many are available: the last ones are not', () => {
  const { pending } = scene({ ready: 3, available: 2 })
  expect(pending({ a: 10, b: 30, c: 20 })).toEqual({ b: 20_000 })
})

test('where the controller counts all of them, none is waited for; where it has not counted, all are', () => {
  expect(scene({ ready: 2, available: 2 }).pending({ a: 10, b: 30 })).toEqual({})
  expect(scene(undefined).pending({ a: 10, b: 30 })).toEqual({ a: 20_000, b: 20_000 })
})

test('one that the controller has not seen become Ready yet is not available', () => {
  expect(scene({ ready: 1, available: 1 }).pending({ a: 10, b: 30 })).toEqual({ b: 20_000 })
})

test('pods of one second that the controller does not count both wait', () => {
  expect(scene({ ready: 3, available: 2 }).pending({ a: 10, b: 30, c: 30 })).toEqual({ b: 20_000, c: 20_000 })
})

test('once it is counted it stays available for as long as it stays Ready', () => {
  const { owner, pending } = scene({ ready: 2, available: 2 })
  pending({ a: 10, b: 30 })
  owner.counted = undefined
  expect(pending({ a: 10, b: 30 })).toEqual({})
  // The pod has become Ready again in between, which was not observed.
  expect(pending({ a: 10, b: 40 })).toEqual({ b: 20_000 })
})

test('a Ready that was seen to come is counted from then on, whatever the controller says', () => {
  const { pending, pass } = scene({ ready: 2, available: 2 })
  expect(pending({ a: 10, b: undefined })).toEqual({})
  pass(5_000)
  expect(pending({ a: 10, b: 30 })).toEqual({ b: 20_000 })
  pass(19_999)
  expect(pending({ a: 10, b: 30 })).toEqual({ b: 1 })
  pass(1)
  expect(pending({ a: 10, b: 30 })).toEqual({})
})

test('a longer minReadySeconds is asked for anew; without one nothing is pending', () => {
  const { owner, pending } = scene({ ready: 1, available: 1 })
  expect(pending({ a: 10 })).toEqual({})
  Object.assign(owner, { minReadyMs: 60_000, counted: { ready: 1, available: 0 } })
  expect(pending({ a: 10 })).toEqual({ a: 60_000 })
  owner.minReadyMs = 0
  expect(pending({ a: 10 })).toEqual({})
})
