import { expect, test } from 'vitest'
import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { World } from '../world.ts'
import { candidatesIn } from './candidates.ts'

const seen = (name: string): Observation => ({ pod: testPod({ name, uid: name }), stored: { kind: 'none' } })

function among(isStoreCurrent = true, isBesideCurrent = true) {
  return candidatesIn({
    store: { all: () => [seen('web-0')], isCurrent: () => isStoreCurrent },
    beside: { all: () => [seen('web-1')], isCurrent: () => isBesideCurrent },
  } as unknown as World)
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
