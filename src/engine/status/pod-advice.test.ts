import { expect, test } from 'vitest'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { JournalStep } from '../../pods/glossary.ts'
import type { Reason } from '../../reasons/reason.ts'
import { STANDING } from './pod-advice.ts'

const entries = [{ loadBalancer: 'edge', target: 'web/web-0' }]

test.each<[JournalStep, boolean, Reason]>([
  ['drain', true, { code: 'may-be-drained', entries }],
  ['patched', true, { code: 'is-patched', entries, ready: true }],
  ['patched', false, { code: 'is-patched', entries, ready: false }],
  ['restore', true, { code: 'may-be-put-back', entries }],
  ['closed', true, { code: 'nothing-open' }],
])('how a pod stands whose journal is at %s (ready: %s)', (step, ready, reason) => {
  expect(STANDING[step](entries, testPod({ ready }))).toEqual(reason)
})
