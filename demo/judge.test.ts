import { expect, test } from 'vitest'
import type { ActResult } from './acts/result.ts'
import { faults } from './judge.ts'
import type { RotationChange } from './rotation/change.ts'

const out = (pod: string, at: number): RotationChange => ({ at, pod, isIn: false })
const back = (pod: string, at: number): RotationChange => ({ at, pod, isIn: true })

const kept: ActResult = {
  name: 'sluice',
  pods: ['web-1', 'web-0'],
  startedAt: 0,
  homeAt: 9_000,
  endedAt: 10_000,
  requests: 1_000,
  failures: [],
  changes: [out('web-1', 1_000), back('web-1', 4_000), out('web-0', 5_000), back('web-0', 8_000)],
  silences: [],
}

test('no failed request, one drain and one restore for each pod: nothing to find', () => {
  expect(faults(kept)).toEqual([])
})

test('one failed request is found', () => {
  const failures = [{ type: 'failed', at: 2_000, kind: '502', pod: 'web-1' } as const]
  expect(faults({ ...kept, failures })).toEqual(['1 of 1000 requests failed'])
})

test('a second drain and restore is found', () => {
  const changes = [...kept.changes, out('web-1', 8_500), back('web-1', 8_600)]
  expect(faults({ ...kept, changes })).toEqual(['web-1 was drained 2 times and restored 2 times'])
})

test('a pod that stayed out, and one that never went out, are found', () => {
  expect(faults({ ...kept, changes: kept.changes.slice(0, 3) })).toEqual(['web-0 was drained once and restored 0 times'])
  expect(faults({ ...kept, changes: kept.changes.slice(0, 2) })).toEqual(['web-0 was drained 0 times and restored 0 times'])
})

test('a way that has given up is told', () => {
  expect(faults({ ...kept, complaint: 'it ended with 8' })).toEqual(['it ended with 8'])
})

test('without a request nothing is proven', () => {
  expect(faults({ ...kept, requests: 0 })).toEqual(['no request was sent'])
})
