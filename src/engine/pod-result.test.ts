import { expect, test } from 'vitest'
import type { PodContext } from '../../machines/pod-upgrade/context.ts'
import type { ReadJournal } from '../pods/glossary.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import { podResult } from './pod-result.ts'

const pod = testPod({ name: 'web-0', containers: [{ name: 'app', image: 'app:v1' }] })

/** Of a process that has epoch 2 and has lost its Lease, where the pod was drained by the owner of this epoch. */
function outAfter(epoch: number): boolean {
  const journal = { run: 'r1', epoch, attempt: 1, step: 'drain', baseline: [], targets: [] } as const
  const stored = { kind: 'read', journal } as unknown as ReadJournal
  const context = { pod, stored, gone: false, outcome: 'conflict', reason: '', run: 'r1', epoch: 2 } as unknown as PodContext
  return podResult(context, { isDone: false, now: { pod, stored }, phases: {} }).out
}

test('who was overtaken says of its own drains that they are open, and nothing of those of the next owner', () => {
  expect(outAfter(2)).toBe(true)
  expect(outAfter(1)).toBe(true)
  expect(outAfter(3)).toBe(false)
})
