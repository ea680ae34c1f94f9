import { expect, test } from 'vitest'
import { RunError } from '../../engine/errors.ts'
import type { LeaseHolder } from '../../engine/run.ts'
import type { Plan } from '../../plan/plan.ts'
import { runPlan } from './run-plan.ts'
import type { UpgradeDeps, UpgradeOrder } from './run-upgrade.ts'
import { createFakeSluice } from '../testing/fake-sluice.ts'
import { createFakeTerminal } from '../testing/fake-terminal.ts'
import { at, said, samplePlan } from '../testing/samples.ts'
import type { Refusal } from '../../plan/plan.ts'
import type { Command } from '../../reasons/command.ts'

interface Planned {
  request?: object
  holders?: readonly LeaseHolder[]
  refusals?: Plan['refusals']
  flags?: object
  /** The error that the preparation ends with instead. */
  error?: Error
}

/** Returns the plan in text, as lines. */
async function planText(planned: Planned): Promise<string[]> {
  const { out } = await planRun({ ...planned, flags: { output: 'text' } })
  return out.trimEnd().split('\n')
}

async function plan(planned: Planned = {}) {
  const { out, code, err } = await planRun(planned)
  const document = JSON.parse(out || '{}') as {
    kind: string
    warnings: { code: string; message: string }[]
    refusals: Plan['refusals']
  }
  return { code, document, err }
}

async function planRun({ request = {}, holders = [], refusals = [], flags = {}, error }: Planned = {}) {
  const terminal = createFakeTerminal()
  const sluice = createFakeSluice({
    async prepare(emit) {
      if (error !== undefined) throw error
      emit(at(0, { type: 'planned', plan: samplePlan }))
      return {
        plan: { ...samplePlan, refusals, warnings: [said('of the plan')] },
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

// Without the warning, the plan would promise an upgrade that ends with exit code 7.
test('it warns of whoever holds the Lease', async () => {
  const holders = [{ lease: 'sluice-statefulset-web', holder: 'desk_17_x' }]
  const { code, document } = await plan({ holders })
  expect(code).toBe(1)
  const held = { code: 'lease-may-be-held', lease: 'sluice-statefulset-web', holder: 'desk_17_x' }
  const words = 'the Lease sluice-statefulset-web is held by desk_17_x: where that is at work, '
  const own = { ...said('of the plan'), message: 'of the plan' }
  const message: unknown = expect.stringContaining(`${words}an upgrade ends with exit code 7; `)
  expect(document.warnings).toEqual([own, { ...held, command: 'upgrade', message }])
  const undo = await plan({ holders, request: { undo: {} } })
  expect(undo.document.warnings[1]!.message).toContain(`${words}an undo ends with exit code 7; `)
  expect((await plan()).document.warnings).toEqual([own])
})

test('with -v a plan logs to stderr, as an upgrade does, and without it nothing', async () => {
  const { document, err } = await plan({ flags: { verbose: true } })
  expect(JSON.parse(err)).toMatchObject({ msg: 'Run planned', pods: 2, window: 1 })
  expect(document.kind).toBe('Plan')
  expect((await plan()).err).toBe('')
})

test('a plan is the same document as in an event, also where somebody has its Lease', async () => {
  const { document } = await plan({ holders: [{ lease: 'sluice-statefulset-web', holder: 'host_7' }] })
  expect(Object.keys(document).toSorted()).toEqual(['apiVersion', 'kind', 'changes', ...Object.keys(samplePlan)].toSorted())
  expect(document.warnings).toContainEqual(expect.objectContaining({ code: 'lease-may-be-held', holder: 'host_7' }))
})

// The exit code of a bug must differ from that of a plan with changes, on which a pipeline continues.
test('a mistake of sluice itself is no plan with changes', async () => {
  const { code, err } = await plan({ error: new TypeError('no plan') })
  expect(err).toBe(
    'error: TypeError: no plan\nThis is a bug in sluice. Please report it with the output of the same command under SLUICE_LOG=debug.\n',
  )
  expect(code).toBe(3)
})

test('a command that it prints names the program that was called, and the way to the cluster', async () => {
  const flags = { context: 'prod' }
  const shell = 'kubectl sluice resolve --context prod pod/web-1 -n shop --traffic out'
  const resolve = { command: 'resolve', namespace: 'shop', pod: 'web-1', traffic: 'out' } as const
  const refusals: Refusal[] = [
    { code: 'unreadable-journal', pod: 'web-1', because: said('it must not be'), isOnRecord: true, resolve },
  ]
  const refused = await plan({ refusals, flags })
  expect(refused.document.refusals).toMatchObject([{ code: 'unreadable-journal', resolve: { ...resolve, shell } }])
  expect(refused.code).toBe(3)
  const halfDone = { code: 'half-done-not-in-config', pod: 'web-1', place: { loadBalancer: 'edge' }, resolve } as const
  const failed = await plan({ error: new RunError('preflight', halfDone), flags })
  expect(failed.code).toBe(3)
  expect(failed.err).toMatch(/^error: pod\/web-1 is half done, /)
  expect(failed.err.endsWith(`${shell}\n`)).toBe(true)
})

test('the last lines are the command that does what the plan shows, and of a refused plan the way out', async () => {
  expect((await planText({})).slice(-2)).toEqual(['To do this:', '  kubectl sluice upgrade sts/web app=r/app:v2'])
  const resume: Command = { command: 'kubectl', namespace: 'shop', args: ['rollout', 'resume', 'deployment/web'] }
  const refusal: Refusal = { code: 'workload-paused', workload: 'deployment/web', resume }
  const refused = await planText({ refusals: [refusal, { ...refusal, workload: 'deployment/other' }] })
  const paused = 'is paused: whoever resumes it may start a rollout that replaces the pods [workload-paused]'
  expect(refused.slice(-4)).toEqual([
    `refused: deployment/web ${paused}`,
    `refused: deployment/other ${paused}`,
    '    Resume it, and run again once its rollout is over.',
    '      kubectl -n shop rollout resume deployment/web',
  ])
  expect(refused).not.toContain('To do this:')
})
