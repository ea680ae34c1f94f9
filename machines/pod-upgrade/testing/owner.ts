import type { Actor } from 'xstate'
import { createActor } from 'xstate'
import type { PodEvent, PodUpgradeInput } from '../context.ts'
import { podUpgradeMachine } from '../index.ts'
import { portActors } from '../ports.ts'
import { testPod } from '../../../src/pods/testing/raw-pod.ts'
import type { World } from './world.ts'
import { TARGET, WANTED } from './world.ts'

/** A process that upgrades the pod of a world. It can die at any moment, and its sent calls still arrive. */
export interface Owner {
  actor: Actor<typeof podUpgradeMachine>
  send(event: PodEvent): void
  kill(): void
}

export interface OwnerOptions extends Partial<PodUpgradeInput> {
  /** The events that are sent at the same instant, before any answer. */
  first?: PodEvent[]
  /** Guards that replace the real ones, with a protection off, for negative controls. */
  guards?: Parameters<typeof podUpgradeMachine.provide>[0]['guards']
}

const GRACE_MS = 1_000

/** The delays of a run, in the milliseconds of the world. */
export const DELAYS = {
  retry: 25,
  poll: 10,
  settle: 15,
  quiet: GRACE_MS + 500,
  readyFor: 10,
  drainDeadline: 5_000,
  restartDeadline: GRACE_MS + 20_000,
  readyDeadline: 20_000,
  restoreDeadline: 5_000,
  settleDeadline: 25_000,
}

export function startOwner(world: World, { first = [], guards = {}, ...input }: OwnerOptions = {}): Owner {
  let alive = true
  const { schedule } = world
  const machine = podUpgradeMachine.provide({ actors: portActors(world.ports(() => alive)), delays: DELAYS, guards: guards! })
  const gone = world.pod === undefined
  const actor = createActor(machine, {
    input: {
      ...(gone ? { pod: testPod({ ip: '10.0.0.1' }), stored: { kind: 'none' }, targets: [TARGET] } : world.observation()),
      run: 'run-1',
      epoch: 1,
      wanted: WANTED,
      rehearsed: false,
      address: '10.0.0.1',
      gone,
      ...input,
    },
    clock: {
      setTimeout: (callback: () => void, delayMs: number) => schedule.at(delayMs, () => alive && callback()),
      clearTimeout: (item) => (item as ReturnType<typeof schedule.at> | undefined)?.cancel(),
    },
  })
  function send(event: PodEvent): void {
    if (alive && actor.getSnapshot().status === 'active') actor.send(event)
  }
  function tellHeir(): void {
    const { heir } = world
    send({
      type: 'heir',
      heir: heir ? { pod: heir, sameAddress: true, isDrained: false, isReady: heir.ready } : null,
      expected: true,
    })
  }
  world.onChange = () => {
    const seen = world.pod && world.observation()
    schedule.at(3, () => {
      send(seen ? { type: 'observed', ...seen } : { type: 'gone' })
      if (!world.pod) tellHeir()
    })
  }
  actor.subscribe({ error: (error) => world.violations.push(`the machine broke: ${String(error)}`) })
  actor.start()
  for (const event of first) send(event)
  // The window always has a place.
  const look = (): void => {
    const snapshot = actor.getSnapshot()
    if (snapshot.matches('queued') || snapshot.matches({ draining: 'admitting' })) schedule.at(1, () => send({ type: 'start' }))
  }
  actor.subscribe(look)
  look()
  if (gone) tellHeir()
  return {
    actor,
    send,
    kill() {
      alive = false
    },
  }
}
