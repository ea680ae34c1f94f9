import type { Actor } from 'xstate'
import { SimulatedClock, createActor } from 'xstate'
import type { PodView } from '../../../src/pods/glossary.ts'
import type { PodEvent, PodUpgradeInput } from '../context.ts'
import { podUpgradeMachine } from '../index.ts'
import type { PodPorts, StoreInput } from '../ports.ts'
import { portActors } from '../ports.ts'
import { PODS } from './explore.ts'
import { WANTED } from './world.ts'

/** A machine whose calls wait for the answers of the test, on a clock that the test steps. */
export interface Drive {
  actor: Actor<typeof podUpgradeMachine>
  /** The port that is being called. Undefined without a call. */
  calling(): keyof PodPorts | undefined
  /** The input of the call that is under way. */
  input(): unknown
  answer(value: unknown): Promise<void>
  /** Answers the write that is under way as stored, with `pod` as the state of the pod. */
  stored(pod?: PodView): Promise<void>
  send(event: PodEvent): void
  /** Lets time pass in steps: a delay that another one sets begins only when that fires. */
  pass(ms: number): Promise<void>
  state(): string
}

export const DEADLINES = {
  drainDeadline: 60_000,
  restartDeadline: 300_000,
  readyDeadline: 600_000,
  restoreDeadline: 70_000,
  settleDeadline: 670_000,
}
/** The time of the last tries of a write after its deadline. */
export const LAST_TRIES_MS = 3_000
export const DELAYS = { retry: 250, poll: 100, settle: 2_000, quiet: 35_000, readyFor: 5_000, lateArrival: 20_000 }
const STEP_MS = 50

export function createDrive(
  input: Partial<PodUpgradeInput> = {},
  guards: { mayProceed?: () => boolean; rollsBack?: () => boolean } = {},
): Drive {
  let call: { port: keyof PodPorts; input: unknown; resolve(value: unknown): void } | undefined
  const port =
    (name: keyof PodPorts) =>
    (given: unknown): Promise<never> =>
      new Promise((resolve) => (call = { port: name, input: given, resolve: resolve as (value: unknown) => void }))
  const names = [
    'snapshot',
    'rehearse',
    'enroll',
    'store',
    'read',
    'pulls',
    'effect',
    'inspect',
    'compare',
    'relocate',
    'settle',
  ] as const
  const ports = Object.fromEntries(names.map((name) => [name, port(name)])) as unknown as PodPorts
  const clock = new SimulatedClock()
  const machine = podUpgradeMachine.provide({ actors: portActors(ports), delays: { ...DELAYS, ...DEADLINES }, guards })
  const actor = createActor(machine, {
    clock,
    input: {
      pod: PODS.before,
      stored: { kind: 'none' },
      run: 'run-1',
      epoch: 2,
      wanted: WANTED,
      rehearsed: true,
      address: '10.0.0.1',
      gone: false,
      ...input,
    },
  }).start()
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  async function answer(value: unknown): Promise<void> {
    const { resolve } = call!
    call = undefined
    resolve(value)
    await settle()
  }
  return {
    actor,
    calling: () => call?.port,
    input: () => call?.input,
    answer,
    stored(pod) {
      const { record, pod: seen } = call!.input as StoreInput
      return answer({ kind: 'stored', seen: { pod: pod ?? seen, stored: { kind: 'read', journal: record } } })
    },
    send: (event) => actor.send(event),
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        clock.increment(Math.min(STEP_MS, ms - passed))
        await settle()
      }
    },
    state() {
      const { value } = actor.getSnapshot()
      const text = (part: unknown): string =>
        typeof part === 'string' ? part : Object.entries(part as object).map(([key, inner]) => `${key}.${text(inner)}`)[0]!
      return text(value)
    },
  }
}
