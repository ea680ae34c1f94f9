import { expect, test } from 'vitest'
import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { World } from '../world.ts'
import { candidatesIn } from './candidates.ts'

const seen = (name: string): Observation => ({ pod: testPod({ name, uid: name }), stored: { kind: 'none' } })

function among(isStoreCurrent = true, isBesideCurrent = true, told: string[] = []) {
  const store = {
    all: () => [seen('web-0')],
    get: (uid: string) => (uid === 'web-0' ? seen(uid) : undefined),
    isCurrent: () => isStoreCurrent,
    announce: (raw: string) => void told.push(`${raw} is asked for`),
    isHeard: () => true,
  }
  const beside = {
    all: () => [seen('web-1')],
    isCurrent: () => isBesideCurrent,
    announce: (raw: string) => void told.push(`${raw} is beside`),
    isHeard: () => false,
  }
  return candidatesIn({ store, beside } as unknown as World)
}

test('those that were asked for, and before them those beside', () => {
  expect(
    among()
      .all()
      .map(({ pod }) => pod.name),
  ).toEqual(['web-1', 'web-0'])
})

test('they are known as they are now where both are', () => {
  expect([among(), among(false), among(true, false)].map((one) => one.isCurrent())).toEqual([true, false, false])
})

test('an answer about one goes to where it is known', () => {
  const told: string[] = []
  for (const name of ['web-0', 'web-1']) among(true, true, told).announce(name, name)
  expect(told).toEqual(['web-0 is asked for', 'web-1 is beside'])
  expect(['web-0', 'web-1'].map((name) => among().isHeard(name))).toEqual([true, false])
})
