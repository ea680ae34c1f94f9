import { expect, test } from 'vitest'
import { KINDS } from './index.ts'
import type { Kind } from './kind.ts'
import { createKinds } from './kinds.ts'
import { isNamedIn } from './named-in.ts'
import { STATEFUL_SET, statefulSet } from './stateful-set.ts'

const advanced: Kind = { ...statefulSet, group: 'apps.kruise.io', version: 'v1beta1', shortNames: ['sts', 'asts'] }
const kinds = createKinds([...KINDS.all, advanced])
const named = (type: string): string | undefined => {
  const kind = kinds.kindNamed(type)
  return kind && `${kind.kind}.${kind.group}`
}

test.each([
  ['sts', 'StatefulSet.apps'],
  ['StatefulSets', 'StatefulSet.apps'],
  ['statefulset.apps', 'StatefulSet.apps'],
  ['statefulsets.v1.apps', 'StatefulSet.apps'],
  ['statefulsets.apps.kruise.io', 'StatefulSet.apps.kruise.io'],
  ['statefulset.v1beta1.apps.kruise.io', 'StatefulSet.apps.kruise.io'],
  ['sts.apps.kruise.io', 'StatefulSet.apps.kruise.io'],
  ['asts', 'StatefulSet.apps.kruise.io'],
  ['pods.v1', 'Pod.'],
  ['deploy', 'Deployment.apps'],
  ['statefulset.kruise.io', undefined],
  ['statefulset.v1', undefined],
  ['asts.apps', undefined],
  ['rs', undefined],
  ['', undefined],
])('TYPE %s is %s', (type, expected) => {
  expect(named(type)).toBe(expected)
})

test('the owner of a pod is of the kind of its own group', () => {
  const of = (apiVersion: string, kind: string) => kinds.ofOwner({ apiVersion, kind })?.group
  expect([of('apps/v1', 'StatefulSet'), of('apps.kruise.io/v1alpha1', 'StatefulSet')]).toEqual(['apps', 'apps.kruise.io'])
  expect([of('argoproj.io/v1alpha1', 'StatefulSet'), of('v1', 'Node')]).toEqual([undefined, undefined])
  expect(kinds.ofOwner({ apiVersion: 'apps/v1', kind: 'ReplicaSet' })?.kind).toBe('Deployment')
  expect(kinds.ofOwner({ apiVersion: 'example.dev/v1', kind: 'ReplicaSet' })).toBeUndefined()
})

test('what another group owns is of no workload of the same name', () => {
  const pod = { name: 'web-0', owner: { apiVersion: 'apps.kruise.io/v1beta1', kind: 'StatefulSet', name: 'web', uid: 'k' } }
  expect(isNamedIn(kinds, { ...STATEFUL_SET, name: 'web' }, pod)).toBe(false)
  expect(isNamedIn(kinds, { ...advanced, name: 'web' }, pod), 'control').toBe(true)
})

test('no kind that sluice knows by itself has a name of another', () => {
  const types = KINDS.all.flatMap(({ kind, plural, shortNames }) => [kind.toLowerCase(), plural, ...shortNames])
  expect(new Set(types).size).toBe(types.length)
  expect(types.filter((type) => type !== type.toLowerCase() || KINDS.kindNamed(type) === undefined)).toEqual([])
})
