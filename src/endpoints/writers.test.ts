import { expect, test } from 'vitest'
import { byKubelet, READY_FIELDS, writtenBy } from './testing/managed-fields.ts'
import type { ManagedFields } from './stored.ts'
import {
  addressWriterOf,
  conditionPath,
  ENDPOINTS_CONTROLLER_WRITES,
  KUBELET,
  lastWriterOf,
  SLICE_CONTROLLER_WRITES,
  writerOf,
} from './writers.ts'

const READY = conditionPath('Ready')

test.each<[what: string, all: ManagedFields[], writer: unknown]>([
  ['the kubelet', [byKubelet('Ready')], { manager: 'kubelet', is: 'kubelet' }],
  [
    'the node lifecycle controller',
    [byKubelet('ContainersReady'), writtenBy('kube-controller-manager', READY_FIELDS)],
    { manager: 'kube-controller-manager', is: 'controller-manager' },
  ],
  [
    'a person, with kubectl edit --subresource=status',
    [byKubelet('ContainersReady'), writtenBy('kubectl-edit', READY_FIELDS)],
    { manager: 'kubectl-edit', is: 'person' },
  ],
  ['another client', [byKubelet(), writtenBy('acme', READY_FIELDS)], { manager: 'acme', is: 'other' }],
  ['a kubelet within a larger program', [{ ...byKubelet('Ready'), manager: 'k3s' }], { manager: 'k3s', is: 'kubelet' }],
  [
    'the last of two that have applied the same',
    [writtenBy('acme', READY_FIELDS, '2026-11-29T11:00:00Z'), writtenBy('kubectl', READY_FIELDS, '2026-11-29T10:00:00Z')],
    { manager: 'acme', is: 'other', at: '2026-11-29T11:00:00Z' },
  ],
])('a condition is written by %s', (_what, all, writer) => {
  expect(writerOf(all, READY, KUBELET)).toMatchObject(writer as object)
})

test('an object that does not say has no writer', () => {
  expect(writerOf(undefined, READY, KUBELET)).toBeUndefined()
  expect(writerOf([byKubelet('ContainersReady')], READY, KUBELET)).toBeUndefined()
  expect(writerOf([{ manager: 'kubelet', fieldsV1: { 'f:status': null } }], READY, KUBELET)).toBeUndefined()
})

test('the controller of a slice is the client that has given it its owner, and that of Endpoints the one of its labels', () => {
  const endpoints = { 'f:endpoints': {} }
  const made = { 'f:metadata': { 'f:ownerReferences': {} } }
  const labels = { 'f:metadata': { 'f:labels': { 'f:endpoints.kubernetes.io/managed-by': {} } } }
  expect(writerOf([writtenBy('k3s', { ...made, ...endpoints })], ['f:endpoints'], SLICE_CONTROLLER_WRITES)?.is).toBe(
    'controller-manager',
  )
  expect(writerOf([writtenBy('k3s', made), writtenBy('acme', endpoints)], ['f:endpoints'], SLICE_CONTROLLER_WRITES)?.is).toBe(
    'other',
  )
  expect(writerOf([writtenBy('k3s', { ...labels, 'f:subsets': {} })], ['f:subsets'], ENDPOINTS_CONTROLLER_WRITES)?.is).toBe(
    'controller-manager',
  )
})

test('of endpoints without addresses the writer is the client that has changed the object last; the later entry of one second', () => {
  const labels = { 'f:metadata': { 'f:labels': { 'f:endpoints.kubernetes.io/managed-by': {} } } }
  const controller = writtenBy('kube-controller-manager', labels, '2026-11-29T11:00:00Z')
  expect(addressWriterOf('Endpoints', [controller], true)).toMatchObject({ is: 'controller-manager', at: '2026-11-29T11:00:00Z' })
  expect(addressWriterOf('Endpoints', [controller], false)).toBeUndefined()
  const note = { 'f:metadata': { 'f:annotations': { 'f:note': {} } } }
  const [earlier, same] = [
    writtenBy('kubectl-annotate', note, '2026-11-29T10:00:00Z'),
    writtenBy('kubectl-annotate', note, '2026-11-29T11:00:00Z'),
  ]
  expect(addressWriterOf('Endpoints', [earlier, controller], true)?.is).toBe('controller-manager')
  expect(addressWriterOf('Endpoints', [controller, same], true)?.is).toBe('person')
  const owner = writtenBy('acme', { 'f:subsets': {} }, '2026-11-29T09:00:00Z')
  expect(addressWriterOf('Endpoints', [owner, controller], true)?.manager).toBe('acme')
  expect(addressWriterOf('EndpointSlice', undefined, true)).toBeUndefined()
  expect(lastWriterOf([owner, controller], ENDPOINTS_CONTROLLER_WRITES)?.is).toBe('controller-manager')
})
