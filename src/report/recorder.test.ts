import { expect, test } from 'vitest'
import type { Plan } from '../plan/plan.ts'
import { createRecorder } from './recorder.ts'

test('a pod is known with its node from the plan, also where the run did nothing with it', () => {
  const recorder = createRecorder()
  const pod = { uid: 'u', name: 'web-0', node: 'node-7', action: 'skip', reason: 'done', images: [], targets: [] } as const
  const plan: Plan = {
    namespace: 'shop',
    workloads: [{ kind: 'StatefulSet', name: 'web', namespace: 'shop' }],
    images: [],
    templates: [],
    pods: [{ ...pod, images: [], targets: [] }],
    window: 1,
    guarantees: [],
    warnings: [],
    refusals: [],
  }
  recorder.onEvent({ type: 'planned', plan, atMs: 0, wallAt: '2026-01-01T00:00:00.000Z' })
  const { pods } = recorder.record({
    by: 'me',
    at: new Date('2026-01-01T00:00:01.000Z'),
    result: { outcome: 'done', reason: '' },
  })
  expect(pods).toEqual([expect.objectContaining({ uid: 'u', pod: 'web-0', node: 'node-7' })])
})
