import { expect, test } from 'vitest'
import { RunError } from '../../engine/errors.ts'
import type { LeaseHolder } from '../../engine/run.ts'
import type { Plan } from '../../plan/plan.ts'
import { runPlan } from './run-plan.ts'
import type { UpgradeDeps, UpgradeOrder } from './run-upgrade.ts'
import { createFakeSluice } from '../testing/fake-sluice.ts'
import { createFakeTerminal } from '../testing/fake-terminal.ts'
import { at, samplePlan } from '../testing/samples.ts'
import type { Refusal } from '../../plan/plan.ts'

interface Planned {
  request?: object
  holders?: readonly LeaseHolder[]
  refusals?: Plan['refusals']
  flags?: object
  /** What its preparation ends with instead. */
  error?: Error
}

/** The plan in text, as lines. */
async function planText(planned: Planned): Promise<string[]> {
  const { out } = await planRun({ ...planned, flags: { output: 'text' } })
  return out.trimEnd().split('\n')
}

async function plan(planned: Planned = {}) {
  const { out, code, err } = await planRun(planned)
  const document = JSON.parse(out || '{}') as { kind: string; warnings: string[]; refusals: Plan['refusals'] }
  return { code, document, err }
}

async function planRun({ request = {}, holders = [], refusals = [], flags = {}, error }: Planned = {}) {
  const terminal = createFakeTerminal()
  const sluice = createFakeSluice({
    async prepare(emit) {
      if (error !== undefined) throw error
      emit(at(0, { type: 'planned', plan: samplePlan }))
      return {
        plan: { ...samplePlan, refusals, warnings: ['of the plan'] },
        holders,
        execute: () => Promise.reject(new Error('a plan touches nothing')),
      }
    },
  })
  const deps: UpgradeDeps = { terminal, openSluice: async () => sluice }
  const order = {
    request: { select: { refs: [] }, images: [], overrides: {}, ...request },
    flags: { output: 'json', color: 'never', ...flags },
    invocation: { program: 'kubectl sluice', args: ['plan', 'sts/web', 'app=r/app:v2'] },
  } as unknown as UpgradeOrder
  const code = await runPlan(order, deps)
  return { code, out: terminal.written.out, err: terminal.written.err }
}

// Found by trial: the plan of a run that another was at work on said nothing of it, and the upgrade ended with 7.
test('it warns of whoever holds the Lease', async () => {
  const holders = [{ lease: 'sluice-statefulset-web', holder: 'desk_17_x' }]
  const { code, document } = await plan({ holders })
  expect(code).toBe(1)
  const held = 'the Lease sluice-statefulset-web is held by desk_17_x: where that is at work, '
  expect(document.warnings).toEqual(['of the plan', expect.stringContaining(`${held}an upgrade ends with exit code 7; `)])
  const undo = await plan({ holders, request: { undo: {} } })
  expect(undo.document.warnings[1]).toContain(`${held}an undo ends with exit code 7; `)
  expect((await plan()).document.warnings).toEqual(['of the plan'])
})

test('with -v a plan logs to stderr, as an upgrade does, and without it nothing', async () => {
  const { document, err } = await plan({ flags: { verbose: true } })
  expect(JSON.parse(err)).toMatchObject({ msg: 'Run planned', pods: 2, window: 1 })
  expect(document.kind).toBe('Plan')
  expect((await plan()).err).toBe('')
})

// Found by reading: the code of a mistake is that of changes, and a pipeline went on.
test('a mistake of sluice itself is no plan with changes', async () => {
  const { code, err } = await plan({ error: new TypeError('no plan') })
  expect(err).toBe(
    'error: TypeError: no plan\nThis is a bug in sluice. Please report it with the output of the same command under SLUICE_LOG=debug.\n',
  )
  expect(code).toBe(3)
})

test('a command that it prints names the program that was called, and the way to the cluster', async () => {
  const flags = { context: 'prod' }
  const command = 'kubectl sluice resolve --context prod pod/web-1 -n shop --traffic out'
  const refusals: Refusal[] = [
    { code: 'left-open', message: 'it must not be', hint: 'Say so:', command: 'sluice resolve pod/web-1 -n shop --traffic out' },
  ]
  const refused = await plan({ refusals, flags })
  expect(refused.document.refusals).toMatchObject([{ command }])
  expect(refused.code).toBe(3)
  const failed = await plan({ error: new RunError('preflight', 'sluice resolve pod/web-1 --traffic out'), flags })
  expect(failed).toMatchObject({ code: 3, err: `error: ${command}\n` })
})

test('the last lines are the command that does what the plan shows, and of a refused plan the way out', async () => {
  expect((await planText({})).slice(-2)).toEqual(['To do this:', '  kubectl sluice upgrade sts/web app=r/app:v2'])
  const refusal: Refusal = {
    code: 'update-strategy',
    message: 'RollingUpdate',
    hint: 'Change it.',
    command: 'kubectl -n shop patch sts web',
  }
  const refused = await planText({ refusals: [refusal, { ...refusal, message: 'the other one' }] })
  expect(refused.slice(-4)).toEqual([
    'refused: RollingUpdate [update-strategy]',
    'refused: the other one [update-strategy]',
    '    Change it.',
    '      kubectl -n shop patch sts web',
  ])
  expect(refused).not.toContain('To do this:')
})
