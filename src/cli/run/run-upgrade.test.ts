import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { RunEventBody } from '../../engine/events.ts'
import type { ReportFile } from './report-files.ts'
import { runUpgrade, type UpgradeOrder } from './run-upgrade.ts'
import type { FakeClock } from '../testing/fake-clock.ts'
import { createFakeSluice } from '../testing/fake-sluice.ts'
import { createFakeTerminal } from '../testing/fake-terminal.ts'
import { at, podResult, runResult, said, samplePlan } from '../testing/samples.ts'
import { createScreen } from '../testing/screen.ts'

const STARTED: RunEventBody = { type: 'started', run: 'r7', epoch: 3, resumed: false, pods: [{ uid: 'u1', pod: 'web-1' }] }
const DRAINING: RunEventBody = { type: 'podState', uid: 'u1', pod: 'web-1', from: null, to: 'draining', waiting: said('waits') }

function orderOf(fields: Partial<UpgradeOrder> = {}): UpgradeOrder {
  return {
    request: { select: { refs: [] }, images: [], overrides: {}, graceMs: 5000 },
    flags: { output: 'text', color: 'never' },
    invocation: { program: 'sluice', args: ['abort', 'sts/web'] },
    ...fields,
  } as unknown as UpgradeOrder
}

type Play = (emit: (body: RunEventBody) => void, advance: (ms: number) => Promise<void>) => Promise<void>

/** Returns the text at the end of a run whose engine plays `play`. */
async function seen(play: Play, reportFiles: readonly ReportFile[] = []): Promise<{ code: number; text: string }> {
  const fake = createFakeTerminal()
  const clock = fake.clock as FakeClock
  const screen = createScreen(200, 40)
  const sink = { ...fake.out, ...screen, isTerminal: true }
  /** Advances the clock once the emitted events are shown. */
  async function advance(ms: number): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(ms)
  }
  const sluice = createFakeSluice({
    prepare: async (emit) => ({
      plan: samplePlan,
      async execute() {
        await play((body) => emit(at(clock.now(), body)), advance)
        return runResult({ pods: [podResult({ uid: 'u1', pod: 'web-1', outcome: 'upgraded' })] })
      },
    }),
  })
  const code = await runUpgrade(orderOf({ reportFiles }), {
    terminal: { ...fake, out: sink, err: sink },
    openSluice: async () => sluice,
  })
  return { code, text: screen.text() }
}

test('that a report could not be written stands on the terminal when the run is over', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-report-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'report.json')
  const { code, text } = await seen(
    async (emit, advance) => {
      emit(STARTED)
      emit(DRAINING)
      await advance(2000)
      rmSync(folder, { recursive: true })
    },
    [{ path, format: 'json' }],
  )
  expect(text).toContain(`\nwarning: the report could not be written to ${path}: ENOENT`)
  expect(text).toContain('\nDone: all pods run the wanted images\n')
  // The table is gone.
  expect(text).not.toContain('1 at work')
  expect(code).toBe(0)
})

test('a mistake in the output stands on the terminal, and the run goes on without it', async () => {
  const { code, text } = await seen(async (emit, advance) => {
    emit(STARTED)
    emit(DRAINING)
    await advance(2000)
    emit({ type: 'ordered', order: 'pause', by: undefined as unknown as string })
    await advance(2000)
    emit(DRAINING)
    await advance(2000)
  })
  expect(text).toMatch(/\nerror: TypeError: .*\nThis is a bug in sluice\./)
  expect(text).toContain('\nDone: all pods run the wanted images\n')
  expect(text).not.toContain('at work')
  expect(code).toBe(0)
})

test.each([
  ['SIGTERM', 143, 'SIGTERM: stopped. An order that was given stands'],
  [
    'uncaughtException',
    1,
    'This is a bug in sluice. Please report it with the output of the same command under SLUICE_LOG=debug.\nAn order',
  ],
])('an abort hears %s from the first moment on', (event, code, text) => {
  const terminal = createFakeTerminal()
  const exits: number[] = []
  const never = new Promise<never>(() => {})
  void runUpgrade(orderOf({ aborts: true }), {
    terminal: { ...terminal, exit: (one) => void exits.push(one) },
    openSluice: () => never,
  })
  terminal.events.emit(event, new TypeError('x'))
  expect(terminal.written.err).toContain(text)
  expect(exits).toEqual([code])
})

test('an undo that is stopped at once names the run that it takes back', async () => {
  const terminal = createFakeTerminal()
  const { promise: exited, resolve } = Promise.withResolvers<number>()
  const request = {
    select: { refs: [] },
    images: [],
    overrides: {},
    graceMs: 5000,
    undo: {},
  } as unknown as UpgradeOrder['request']
  const sluice = createFakeSluice({
    prepare: async () => ({
      plan: { ...samplePlan, undoes: { run: 'r6', images: [] } },
      execute() {
        for (const signal of ['SIGINT', 'SIGTERM']) setTimeout(() => terminal.events.emit(signal, signal))
        return new Promise<never>(() => {})
      },
    }),
  })
  void runUpgrade(orderOf({ request, invocation: { program: 'sluice', args: ['undo', 'sts/web'] } }), {
    terminal: { ...terminal, exit: resolve },
    openSluice: async () => sluice,
  })
  expect(await exited).toBe(130)
  expect(terminal.written.err).toContain('stopped at once. To go on from here:\n  sluice undo sts/web --run r6\n')
})
