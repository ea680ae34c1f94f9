import { expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import type { EffectAnswer } from '../../../machines/pod-upgrade/ports.ts'
import { TARGET } from '../../../machines/pod-upgrade/testing/world.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { JournalStep, PodView } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { PodState } from '../events.ts'
import type { ExposableMember } from './exposed-pods.ts'
import { exposedPods } from './exposed-pods.ts'
import type { PodStore } from '../../observation/pod-store.ts'
import { createScopeQueues } from '../traffic/scope-queues.ts'
import { createTraffic, type Traffic } from '../traffic/traffic.ts'

const OTHER = { ...TARGET, loadBalancer: 'inner' }

/**
 * A drained pod in this state, with its own and its stored record at these steps, gets requests through `TARGET`. Returns the events of its
 * machine, and the drains.
 */
function told(
  state: PodState,
  step: 'drain' | 'patched',
  { at = step, change = {}, isBusy = false }: { at?: JournalStep; change?: Partial<PodView>; isBusy?: boolean } = {},
): { exposed: number; events: string[]; drained: string[] } {
  const pod = testPod({ ip: '10.0.0.1' })
  const events: string[] = []
  const context = { pod, gone: false, address: pod.ip, record: { step, targets: [TARGET, OTHER] } }
  const member = {
    uid: pod.uid,
    name: pod.name,
    state,
    result: undefined,
    actor: {
      getSnapshot: () => ({ context, hasTag: () => isBusy }),
      send: ({ type }: { type: string }) => void events.push(type),
    },
  } as unknown as ExposableMember
  const journal = { run: 'run-1', epoch: 1, attempt: 1, step: at, baseline: [], targets: [] }
  const store: Pick<PodStore, 'get'> = { get: () => ({ pod: { ...pod, ...change }, stored: { kind: 'read', journal } }) }
  const drained: string[] = []
  const effect: Traffic['effect'] = async ({ record }) => {
    drained.push(...record.targets.map(({ target }) => target))
    return { kind: 'applied' }
  }
  const exposed = exposedPods({ members: [member], store, traffic: { effect } })
  for (const { reloaded } of exposed) void reloaded([TARGET])
  return { exposed: exposed.length, events, drained }
}

test.each(['draining', 'emptying'] as const)(
  'one that an earlier run has patched, and that is to get other images, may be restarting: %s',
  (state) => {
    expect(told(state, 'patched')).toEqual({ exposed: 1, events: ['reloaded'], drained: [] })
    expect(told(state, 'drain')).toEqual({ exposed: 0, events: [], drained: [] })
  },
)

test('one whose write or call is waited out is drained from outside, where it gets requests, and hears of it', () => {
  const drained = [TARGET.target]
  expect(told('patching', 'patched', { isBusy: true })).toEqual({ exposed: 1, events: ['reloaded'], drained })
  expect(told('restarting', 'patched', { isBusy: true })).toEqual({ exposed: 1, events: ['reloaded'], drained })
})

test('one whose restore may be called, by an intent that was given up and has arrived after all, is not drained again', () => {
  expect(told('warming', 'patched')).toEqual({ exposed: 1, events: ['reloaded'], drained: [] })
  expect(told('warming', 'patched', { at: 'restore' })).toEqual({ exposed: 0, events: [], drained: [] })
})

test('for one that is at another address since, or going, nothing is drained again', () => {
  expect(told('failed', 'patched')).toMatchObject({ exposed: 1 })
  expect(told('failed', 'patched', { change: { ip: '10.0.0.9' } })).toMatchObject({ exposed: 0 })
  expect(told('failed', 'patched', { change: { deleting: true } })).toMatchObject({ exposed: 0 })
})

test.each([{ isGoing: true }, { isGoing: false }])(
  'one that has failed, and waits for its turn at the load balancer: going meanwhile ($isGoing), it is not drained again',
  async ({ isGoing }) => {
    const balancer = createMemoryBalancer([{ name: 'web-0', address: '10.0.0.1', port: 80 }], 'edge')
    const held = Promise.withResolvers<void>()
    const adapter = createMemoryAdapter(balancer, { delay: (_, { method }) => (method === 'inspect' ? held.promise : undefined) })
    const clock = createVirtualClock()
    const traffic = createTraffic({
      clock,
      queues: createScopeQueues(clock),
      loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
      allowUnbalanced: false,
      assertOwned() {},
      tell() {},
    })
    const pod = testPod({ ip: '10.0.0.1' })
    const target = {
      loadBalancer: 'edge',
      target: 'edge/web-0',
      scope: 'edge',
      prior: { state: 'ready', weight: 1 },
      untouched: false,
    }
    const record = { run: 'run-1', epoch: 1, attempt: 1, step: 'patched' as const, baseline: [], targets: [target] }
    const context = { pod, gone: false, address: pod.ip, record }
    const member = {
      uid: pod.uid,
      name: pod.name,
      state: 'failed',
      result: { traffic: 'out' },
      actor: { getSnapshot: () => ({ context, hasTag: () => false }) },
    } as unknown as ExposableMember
    let deleting = false
    const store: Pick<PodStore, 'get'> = {
      get: () => ({ pod: { ...pod, deleting }, stored: { kind: 'read', journal: record } }),
    }
    const answers: EffectAnswer[] = []
    const effect: Traffic['effect'] = async (asked) => {
      const answer = await traffic.effect(asked)
      answers.push(answer)
      return answer
    }
    const [exposed] = exposedPods({ members: [member], store, traffic: { effect } })
    const reading = traffic.inspect(pod.uid, [target])
    const reloaded = exposed!.reloaded([target])
    await clock.advance(0)
    deleting = isGoing
    held.resolve()
    await Promise.all([reading, reloaded])
    const kept = { kind: 'retryable', reason: { code: 'no-longer-to-stay-out' } }
    expect(answers).toMatchObject([isGoing ? kept : { kind: 'applied' }])
    expect(balancer.servers.get('edge/web-0')!.state).toBe(isGoing ? 'ready' : 'drain')
  },
)
