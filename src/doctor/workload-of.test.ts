import { expect, test } from 'vitest'
import { KINDS } from '../workloads/kinds/index.ts'
import { goDurationMs } from './ages.ts'
import { pod } from './testing/healthy.ts'
import { workloadOf } from './workload-of.ts'

test.each([
  [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web' }, 'statefulset/web'],
  [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'api-5d8f7' }, 'deployment/api'],
  [{ apiVersion: 'apps.kruise.io/v1alpha1', kind: 'CloneSet', name: 'web' }, 'clonesets.apps.kruise.io/web'],
])('a pod of %j is of %s', (owner, expected) => {
  const one = pod(0)
  const ownerReferences = [{ ...owner, uid: 'u', controller: true }]
  expect(workloadOf({ ...one, metadata: { ...one.metadata, ownerReferences } }, KINDS)).toBe(expected)
})

test('a bare pod is its own workload', () => {
  const one = pod(0)
  expect(workloadOf({ ...one, metadata: { ...one.metadata, ownerReferences: [] } }, KINDS)).toBe('pod/web-0')
})

test.each([
  ['16s', 16_000],
  ['1m30s', 90_000],
  ['500ms', 500],
  ['1.5m', 90_000],
  ['50', undefined],
  ['5 s', undefined],
  ['', undefined],
])('%j is %s ms for Go', (text, ms) => {
  expect(goDurationMs(text)).toBe(ms)
})
