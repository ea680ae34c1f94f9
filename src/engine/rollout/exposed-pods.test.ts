import { expect, test } from 'vitest'
import { TARGET } from '../../../machines/pod-upgrade/testing/world.ts'
import type { JournalStep, PodView } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { PodState } from '../events.ts'
import type { ExposableMember } from './exposed-pods.ts'
import { exposedPods } from './exposed-pods.ts'
import type { PodStore } from '../pod-store.ts'

/** A pod that is out, in this state and at this step of its record, and of the one that is stored; gives what its machine was told. */
function told(
  state: PodState,
  step: 'drain' | 'patched',
  { at = step, change = {} }: { at?: JournalStep; change?: Partial<PodView> } = {},
): { exposed: number; events: string[]; drained: number } {
  const pod = testPod({ ip: '10.0.0.1' })
  const events: string[] = []
  const context = { pod, gone: false, address: pod.ip, record: { step, targets: [TARGET] } }
  const member = {
    uid: pod.uid,
    name: pod.name,
    state,
    result: undefined,
    actor: { getSnapshot: () => ({ context }), send: ({ type }: { type: string }) => void events.push(type) },
  } as unknown as ExposableMember
  const journal = { run: 'run-1', epoch: 1, attempt: 1, step: at, baseline: [], targets: [] }
  const store: Pick<PodStore, 'get'> = { get: () => ({ pod: { ...pod, ...change }, stored: { kind: 'read', journal } }) }
  let drained = 0
  const effect = async () => {
    drained += 1
    return { kind: 'applied' } as const
  }
  const exposed = exposedPods({ members: [member], store, traffic: { effect } })
  for (const { reloaded } of exposed) void reloaded()
  return { exposed: exposed.length, events, drained }
}

test.each(['draining', 'emptying'] as const)(
  'one that an earlier run has patched, and that is to get other images, may be restarting: %s',
  (state) => {
    expect(told(state, 'patched')).toEqual({ exposed: 1, events: ['reloaded'], drained: 0 })
    expect(told(state, 'drain')).toEqual({ exposed: 0, events: [], drained: 0 })
  },
)

test.each(['patching', 'rollingBack'] as const)(
  'one whose write is waited out is drained from outside, and hears of it: %s',
  (state) => {
    expect(told(state, 'patched')).toEqual({ exposed: 1, events: ['reloaded'], drained: 1 })
  },
)

test('one whose restore may be called, by an intent that was given up and has arrived after all, is not drained again', () => {
  expect(told('warming', 'patched')).toEqual({ exposed: 1, events: ['reloaded'], drained: 0 })
  expect(told('warming', 'patched', { at: 'restore' })).toEqual({ exposed: 0, events: [], drained: 0 })
})

// Found by reading: it has failed and hears nothing any more, while its address is another's by now.
test('for one that is at another address since, or going, nothing is drained again', () => {
  expect(told('failed', 'patched')).toMatchObject({ exposed: 1 })
  expect(told('failed', 'patched', { change: { ip: '10.0.0.9' } })).toMatchObject({ exposed: 0 })
  expect(told('failed', 'patched', { change: { deleting: true } })).toMatchObject({ exposed: 0 })
})
