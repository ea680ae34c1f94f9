import { expect, test } from 'vitest'
import { findUid, readReview } from './review.ts'
import { review } from './testing/review.ts'

test('a review of each kind is read', () => {
  expect(readReview(review({ name: 'web-abc', username: 'someone' }))).toMatchObject({
    uid: 'u-1',
    kind: 'EndpointSlice',
    namespace: 'shop',
    name: 'web-abc',
    operation: 'UPDATE',
    username: 'someone',
    isDryRun: false,
    subResource: undefined,
  })
  expect(readReview(review({ kind: 'Endpoints', dryRun: true }))).toMatchObject({ kind: 'Endpoints', isDryRun: true })
  expect(readReview(review({ resource: { group: 'apps', version: 'v1', resource: 'deployments' } }))?.kind).toBeUndefined()
  // Only v1 is known: the fields of another version may mean something else.
  const other = { group: 'discovery.k8s.io', version: 'v1beta1', resource: 'endpointslices' }
  expect(readReview(review({ resource: other }))?.kind).toBeUndefined()
})

test.each([
  ['nothing', undefined],
  ['a list', []],
  ['another version', { ...review(), apiVersion: 'admission.k8s.io/v1beta1' }],
  ['no request', { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }],
  ['no uid', review({ uid: '' })],
  ['a uid without end', review({ uid: 'x'.repeat(257) })],
  ['a uid that is a number', review({ uid: 7 as never })],
  ['an operation that there is not', review({ operation: 'PATCH' as never })],
  ['a name without end', review({ name: 'x'.repeat(2000) })],
])('%s is no review', (_, value) => {
  expect(readReview(value)).toBeUndefined()
})

test('the uid is found without parsing, in the text that the API server writes', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  expect(findUid(bytes('{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u-7","kind":{'))).toBe(
    'u-7',
  )
  expect(findUid(bytes(JSON.stringify(review())))).toBe('u-1')
  expect(findUid(bytes(`{"request":{"kind":{},"uid":"u-7"`))).toBeUndefined()
  expect(findUid(bytes(`${' '.repeat(5000)}{"request":{"uid":"u-7"`))).toBeUndefined()
  expect(findUid(bytes(''))).toBeUndefined()
})
