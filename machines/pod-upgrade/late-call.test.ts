import { expect, test } from 'vitest'
import { createActor, SimulatedClock, waitFor } from 'xstate'
import type { TrafficReading } from '../../src/pods/glossary.ts'
import { podUpgradeMachine } from './index.ts'
import type { EffectAnswer, PodPorts } from './ports.ts'
import { missingPorts, portActors } from './ports.ts'
import { PODS } from './testing/explore.ts'
import { recorded, said } from './testing/recorded.ts'
import { WANTED } from './testing/world.ts'

/*
 * A drain without an answer was sent again, and the first one arrives after the restore. A load balancer whose state is only set cannot
 * prevent that. So the drain must be seen and repaired while the restore intent is open.
 */

/** Begins at an open restore intent, plays these answers and readings, and returns the calls. */
async function play(answers: EffectAnswer[], readings: TrafficReading['state'][]): Promise<{ calls: string[]; value: unknown }> {
  const calls: string[] = []
  const next = <T>(name: string, list: T[]): T => {
    calls.push(name)
    if (list.length === 0) throw new Error(`one ${name} too many`)
    return list.shift()!
  }
  const ports: PodPorts = {
    ...missingPorts,
    effect: async ({ effect }) => next(effect, answers),
    inspect: async () => ({ state: next('inspect', readings), inFlight: 0, detail: said('') }),
    compare: async () => ({ kind: 'equal' }),
    store: async ({ record, pod }) => {
      calls.push(`store ${record.step}`)
      return { kind: 'stored', seen: { pod, stored: { kind: 'read', journal: record } } }
    },
  }
  const actor = createActor(podUpgradeMachine.provide({ actors: portActors(ports), delays: { restoreDeadline: 60_000 } }), {
    input: {
      pod: PODS.ready,
      stored: recorded('restore'),
      run: 'run-1',
      epoch: 2,
      wanted: WANTED,
      rehearsed: false,
      address: '10.0.0.1',
      gone: false,
    },
  })
  actor.start()
  const { value } = await waitFor(actor, ({ status }) => status === 'done')
  return { calls, value }
}

test('without a doubt the journal is closed at once', async () => {
  const { calls, value } = await play([{ kind: 'applied' }], ['out'])
  expect([calls, value]).toEqual([['inspect', 'restore', 'store closed'], 'done'])
})

test('where a call may still arrive, it is closed once the pod is seen to be in after that time', async () => {
  const { calls, value } = await play([{ kind: 'applied', lateCall: true }], ['out', 'in'])
  expect([calls, value]).toEqual([['inspect', 'restore', 'inspect', 'store closed'], 'done'])
})

test('where it did arrive, the pod is put back under the same intent', async () => {
  const { calls, value } = await play([{ kind: 'applied', lateCall: true }, { kind: 'applied' }], ['out', 'out'])
  expect([calls, value]).toEqual([['inspect', 'restore', 'inspect', 'restore', 'store closed'], 'done'])
})

test('a reading that fails is read again, never taken for either', async () => {
  const { calls, value } = await play([{ kind: 'applied', lateCall: true }], ['out', 'unknown', 'unknown', 'in'])
  expect(calls).toEqual(['inspect', 'restore', 'inspect', 'inspect', 'inspect', 'store closed'])
  expect(value).toBe('done')
})

test.each([{ lateCall: true as const }, {}])(
  'a drain that may still arrive is waited out before the restore: %o',
  async (late) => {
    const calls: string[] = []
    let traffic: TrafficReading['state'] = 'in'
    const clock = new SimulatedClock()
    const ports: PodPorts = {
      ...missingPorts,
      effect: async ({ effect }) => {
        calls.push(effect)
        traffic = effect === 'drain' ? 'out' : 'in'
        return { kind: 'applied', ...late }
      },
      inspect: async () => ({ state: traffic, inFlight: 0, detail: said('') }),
      compare: async () => ({ kind: 'equal' }),
      store: async ({ record }) => ({ kind: 'stored', seen: { pod: PODS.ready, stored: { kind: 'read', journal: record } } }),
    }
    const machine = podUpgradeMachine.provide({
      actors: portActors(ports),
      delays: {
        lateArrival: 20_000,
        drainDeadline: 60_000,
        restartDeadline: 60_000,
        readyDeadline: 60_000,
        restoreDeadline: 60_000,
      },
    })
    const actor = createActor(machine, {
      clock,
      input: {
        pod: PODS.before,
        stored: recorded('drain'),
        run: 'run-1',
        epoch: 2,
        wanted: WANTED,
        rehearsed: false,
        address: '10.0.0.1',
        gone: false,
      },
    })
    actor.start()
    const settle = async (ms: number) => {
      await new Promise((resolve) => setImmediate(resolve))
      clock.increment(ms)
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (let turn = 0; turn < 20; turn++) {
      await settle(0)
      if (actor.getSnapshot().matches({ draining: 'admitting' })) actor.send({ type: 'start' })
    }
    expect(calls).toEqual(late.lateCall ? ['drain'] : ['drain', 'restore'])
    await settle(19_999)
    expect(calls).toHaveLength(late.lateCall ? 1 : 2)
    await settle(1)
    for (let turn = 0; turn < 20; turn++) await settle(0)
    expect(calls).toEqual(['drain', 'restore'])
  },
)
