import { expect, test } from 'vitest'
import type { Observation } from '../../machines/pod-upgrade/context.ts'
import type { Journal, JournalTarget } from '../pods/glossary.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import { heirOf } from './heirs.ts'

const OWNER = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'set-1', controller: true }
const EDGE: JournalTarget = { loadBalancer: 'edge', target: 'web-0', scope: 'web', prior: 'ready', untouched: false }
const INNER: JournalTarget = { ...EDGE, loadBalancer: 'inner' }

const podAt = (uid: string, ip: string) =>
  testPod({ name: 'web-0', uid, ip, owner: OWNER, containers: [{ name: 'app', image: 'app:v1' }] })
const recordOf = (targets: JournalTarget[], step: Journal['step'] = 'drain'): Journal => ({
  run: 'run-1',
  epoch: 1,
  attempt: 1,
  step,
  baseline: [],
  targets,
})
const gone = podAt('old', '10.0.0.1')

function isDrained(before: JournalTarget[], journal: Journal): boolean | undefined {
  const heir: Observation = { pod: podAt('new', '10.0.0.1'), stored: { kind: 'read', journal } }
  return heirOf(gone, recordOf(before), [heir])?.isDrained
}

test('none, at the same address, at another', () => {
  const stored = { kind: 'none' } as const
  expect(heirOf(gone, undefined, [{ pod: gone, stored }])).toBeNull()
  expect(heirOf(gone, undefined, [{ pod: podAt('new', '10.0.0.1'), stored }])?.sameAddress).toBe(true)
  expect(heirOf(gone, undefined, [{ pod: podAt('new', '10.0.0.2'), stored }])?.sameAddress).toBe(false)
})

test('it is drained itself where its own open record has all that is left of the one before', () => {
  expect(isDrained([EDGE], recordOf([EDGE]))).toBe(true)
  expect(isDrained([EDGE, { ...INNER, untouched: true }], recordOf([EDGE]))).toBe(true)
  expect(isDrained([EDGE, INNER], recordOf([EDGE]))).toBe(false)
  expect(isDrained([EDGE], recordOf([EDGE], 'closed'))).toBe(false)
})

test('not where it was out already when its record was made, nor where nothing is left', () => {
  expect(isDrained([EDGE], recordOf([{ ...EDGE, untouched: true }]))).toBe(false)
  expect(isDrained([{ ...EDGE, untouched: true }], recordOf([EDGE]))).toBe(false)
  expect(isDrained([], recordOf([EDGE]))).toBe(false)
})
