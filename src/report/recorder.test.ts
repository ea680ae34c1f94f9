import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { said } from '../cli/testing/samples.ts'
import type { Plan } from '../plan/plan.ts'
import { createRecorder } from './recorder.ts'

const PLAN: Plan = {
  namespace: 'shop',
  workloads: [{ ...STATEFUL_SET, name: 'web', namespace: 'shop' }],
  images: [],
  templates: [],
  pods: [],
  window: 1,
  guarantees: [],
  warnings: [],
  refusals: [],
}
const WALL_AT = '2026-01-01T00:00:00.000Z'
const ENDED = { by: 'me', at: new Date('2026-01-01T00:00:01.000Z'), result: { outcome: 'done', reason: said('all') } } as const

test('a pod is known with its node from the plan, also where the run did nothing with it', () => {
  const recorder = createRecorder()
  const pod = { uid: 'u', name: 'web-0', node: 'node-7', action: 'skip', reason: said('done'), images: [], targets: [] } as const
  recorder.onEvent({ type: 'planned', plan: { ...PLAN, pods: [{ ...pod, images: [], targets: [] }] }, atMs: 0, wallAt: WALL_AT })
  const { pods } = recorder.record(ENDED)
  expect(pods).toEqual([expect.objectContaining({ uid: 'u', pod: 'web-0', node: 'node-7' })])
})

test('an undo is known as one, and of which run', () => {
  const recorder = createRecorder()
  recorder.onEvent({ type: 'planned', plan: { ...PLAN, undoes: { run: 'r6', images: [] } }, atMs: 0, wallAt: WALL_AT })
  expect(recorder.record(ENDED)).toMatchObject({ undoes: 'r6' })
})
