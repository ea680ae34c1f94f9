import { expect, test } from 'vitest'
import { readReview } from './review.ts'
import { forbiddenNamespaces, type Scope, skippedFor } from './scope.ts'
import { review, type ReviewOptions } from './testing/review.ts'

const scope: Scope = { namespaces: new Set(['shop', 'default', 'kube-system', 'sluice-system']), own: 'sluice-system' }
const skipped = (options: ReviewOptions): string | undefined => skippedFor(readReview(review(options))!, scope)
const label = (service: string): object => ({ metadata: { labels: { 'kubernetes.io/service-name': service } } })

test.each<[ReviewOptions, string | undefined]>([
  [{}, undefined],
  [{ kind: 'Endpoints' }, undefined],
  [{ operation: 'CREATE' }, undefined],
  [{ namespace: 'default' }, undefined],
  [{ resource: { group: 'apps', version: 'v1', resource: 'deployments' } }, 'kind'],
  [{ resource: { group: '', version: 'v1', resource: 'endpointslices' } }, 'kind'],
  [{ subResource: 'status' }, 'subresource'],
  [{ operation: 'DELETE' }, 'operation'],
  [{ operation: 'CONNECT' }, 'operation'],
  [{ namespace: 'other' }, 'namespace'],
  [{ namespace: '' }, 'namespace'],
  [{ namespace: 'kube-system' }, 'namespace'],
  [{ namespace: 'sluice-system' }, 'namespace'],
  [{ kind: 'Endpoints', namespace: 'default', name: 'kubernetes' }, 'api-server'],
  [{ namespace: 'default', name: 'kubernetes' }, 'api-server'],
  [{ namespace: 'default', name: 'kubernetes-x7x2p', object: label('kubernetes') }, 'api-server'],
  [{ namespace: 'default', name: 'x', object: label('web'), oldObject: label('kubernetes') }, 'api-server'],
  [{ namespace: 'default', name: '', operation: 'CREATE', object: { metadata: { name: 'kubernetes' } } }, 'api-server'],
  [{ namespace: 'shop', name: 'kubernetes' }, undefined],
])('%j: %s', (options, reason) => {
  expect(skipped(options)).toBe(reason)
})

test('namespaces that no webhook may act in are named', () => {
  expect(forbiddenNamespaces(scope)).toEqual(['kube-system', 'sluice-system'])
  expect(forbiddenNamespaces({ namespaces: new Set(['shop']), own: 'sluice-system' })).toEqual([])
})
