import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { runPlan } from './run-plan.ts'
import type { UpgradeDeps, UpgradeOrder } from './run-upgrade.ts'
import type { Terminal } from './terminal.ts'
import { createFakeClock } from './testing/fake-clock.ts'
import { at, samplePlan } from './testing/samples.ts'

async function plan(flags: object): Promise<{ out: string; err: string }> {
  const written = { out: '', err: '' }
  const sink = (name: 'out' | 'err'): Terminal['out'] => ({
    isTerminal: false,
    columns: 80,
    rows: 24,
    backlog: 0,
    write: (more) => void (written[name] += more),
    flush: async () => {},
  })
  const world = { namespace: 'shop', close: async () => {} } as unknown as Awaited<ReturnType<UpgradeDeps['openWorld']>>
  const deps: UpgradeDeps = {
    terminal: { out: sink('out'), err: sink('err'), env: {}, events: new EventEmitter(), clock: createFakeClock(), exit() {} },
    openWorld: async () => world,
    prepareRun: async (_request, { onEvent }) => {
      onEvent(at(0, { type: 'planned', plan: samplePlan }))
      return { plan: samplePlan, holders: [], execute: () => Promise.reject(new Error()), interrupt() {}, close: async () => {} }
    },
  }
  const order = { request: { overrides: {} }, flags: { output: 'json', color: 'never', ...flags } } as unknown as UpgradeOrder
  await runPlan(order, deps)
  return written
}

test('with -v a plan logs to stderr, as an upgrade does, and without it nothing', async () => {
  const { out, err } = await plan({ verbose: true })
  expect(JSON.parse(err)).toMatchObject({ msg: 'Run planned', pods: 2, window: 1 })
  expect(JSON.parse(out)).toMatchObject({ kind: 'Plan' })
  expect((await plan({})).err).toBe('')
})
