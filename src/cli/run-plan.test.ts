import { expect, test } from 'vitest'
import { EventEmitter } from 'node:events'
import type { LeaseHolder } from '../engine/run.ts'
import type { Sink } from './output/sink.ts'
import { runPlan } from './run-plan.ts'
import type { UpgradeDeps, UpgradeOrder } from './run-upgrade.ts'
import { createFakeClock } from './testing/fake-clock.ts'
import { samplePlan } from './testing/samples.ts'

async function printed(holders: readonly LeaseHolder[]): Promise<{ warnings: string[] }> {
  let text = ''
  const sink = (write: (some: string) => void): Sink => ({
    isTerminal: false,
    columns: 80,
    rows: 24,
    backlog: 0,
    write,
    flush: async () => {},
  })
  const deps: UpgradeDeps = {
    terminal: {
      out: sink((some) => (text += some)),
      err: sink(() => {}),
      env: {},
      events: new EventEmitter(),
      clock: createFakeClock(),
      exit() {},
    },
    openWorld: async () =>
      ({ namespace: 'shop', close: async () => {} }) as unknown as Awaited<ReturnType<UpgradeDeps['openWorld']>>,
    prepareRun: async () => ({
      plan: { ...samplePlan, warnings: ['of the plan'] },
      holders,
      execute: () => Promise.reject(new Error('a plan touches nothing')),
      interrupt() {},
      close: async () => {},
    }),
  }
  const order = { request: { overrides: {} }, flags: { output: 'json', color: 'never' } } as unknown as UpgradeOrder
  expect(await runPlan(order, deps)).toBe(1)
  return JSON.parse(text) as { warnings: string[] }
}

// Found by trial: the plan of a run that another was at work on said nothing of it, and the upgrade ended with 7.
test('it warns of whoever holds the Lease', async () => {
  const { warnings } = await printed([{ lease: 'sluice-statefulset-web', holder: 'desk_17_x' }])
  expect(warnings).toEqual(['of the plan', expect.stringMatching(/^the Lease sluice-statefulset-web is held by desk_17_x: /)])
  expect((await printed([])).warnings).toEqual(['of the plan'])
})
