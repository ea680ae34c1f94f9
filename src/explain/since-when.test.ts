import { expect, test } from 'vitest'
import { AT } from '../endpoints/testing/managed-fields.ts'
import { service } from '../endpoints/testing/objects.ts'
import type { StoredEndpoint, StoredPod } from '../endpoints/stored.ts'
import { sinceWhen } from './since-when.ts'
import { endpointOf, notReady, pod } from './testing/observed.ts'

const GOING = { deletionTimestamp: '2026-11-29T12:30:30Z', deletionGracePeriodSeconds: 30 }
const terminating = { ready: false, serving: true, terminating: true }

/** The result of `sinceWhen`: the time, and the kind of its writer. */
function told(
  one: StoredPod,
  conditions?: StoredEndpoint['conditions'],
  spec: object = {},
): [string | undefined, string | undefined] {
  const endpoint = endpointOf(one, conditions === undefined ? {} : { conditions })
  const { since, writtenBy } = sinceWhen(service(spec), one, endpoint)
  return [since, writtenBy?.is]
}

test('a slice that says what condition Ready says has it since then, by the writer of that', () => {
  expect(told(pod())).toEqual([AT, 'kubelet'])
  expect(told(notReady())).toEqual([AT, 'kubelet'])
})

test('a slice that lags behind its pod has it since nobody knows when', () => {
  expect(told(pod(), { ready: false, serving: false, terminating: false })).toEqual([undefined, undefined])
  expect(told(notReady(), { ready: true, serving: true, terminating: false })).toEqual([undefined, undefined])
})

test('a pod that terminates does so since its deletion, of which nobody is told', () => {
  expect(told(pod({ metadata: GOING }), terminating)).toEqual(['2026-11-29T12:30:00Z', undefined])
  expect(told(pod({ metadata: GOING }), { ready: true, serving: true, terminating: false })).toEqual([undefined, undefined])
  const { deletionTimestamp } = GOING
  expect(told(pod({ metadata: { deletionTimestamp } }), terminating)).toEqual([undefined, undefined])
})

test('a Service that publishes addresses that are not ready has had it before', () => {
  expect(told(pod(), undefined, { publishNotReadyAddresses: true })).toEqual([undefined, undefined])
})
