import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { LeaseRecord } from '../leases/lease.ts'
import { askedForHolder } from './asked-for-holder.ts'

const lease = (name: string, holder: string): LeaseRecord => ({
  name,
  uid: 'l',
  resourceVersion: '7',
  holder,
  isGivenBack: holder === '',
  transitions: 1,
  durationMs: 15_000,
  renewTime: '',
  annotations: {},
})
const refs = [{ ...STATEFUL_SET, name: 'web' }]

test('who has the Lease of what was asked for is told', () => {
  const open = { refs, leases: [lease('sluice-statefulset-api', ''), lease('sluice-statefulset-web', 'ci-7_1_abc')] }
  expect(askedForHolder(open)).toBe('ci-7_1_abc')
})

test('who has that of another workload of the same run is at work there', () => {
  const open = { refs, leases: [lease('sluice-statefulset-api', 'ci-7_1_abc'), lease('sluice-statefulset-web', '')] }
  expect(askedForHolder(open)).toBeUndefined()
})
