import { expect, test } from 'vitest'
import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { minReadyRefusals, minReadyWarnings } from './min-ready.ts'

const withMinReady = (minReadyMs: number) => [
  { ref: { ...STATEFUL_SET, name: 'web', namespace: 'shop' }, minReadyMs: () => minReadyMs },
]

test('minReadySeconds that is longer than readyFor is told of', () => {
  const settings = { readyForMs: 5_000 }
  expect(minReadyWarnings(withMinReady(5_001), settings)).toEqual([
    { code: 'min-ready-longer', workload: 'statefulset/web', minReadyMs: 5_001 },
  ])
  expect(minReadyWarnings(withMinReady(5_000), settings)).toEqual([])
})

test('with minReadySeconds that is not shorter than the ready deadline no pod could come back', () => {
  const settings = { readyDeadlineMs: 60_000 }
  expect(minReadyRefusals(withMinReady(60_000), settings)).toEqual([
    { code: 'min-ready-too-long', workload: 'statefulset/web', minReadyMs: 60_000, readyDeadlineMs: 60_000 },
  ])
  expect(minReadyRefusals(withMinReady(59_999), settings)).toEqual([])
  expect(minReadyRefusals(withMinReady(0), { readyDeadlineMs: 0 })).toEqual([])
})
