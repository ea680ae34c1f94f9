import { POD } from '../../workloads/kinds/pod.ts'
import { expect, test } from 'vitest'
import type { ParseOptions } from 'commander'
import { createProgram } from '../program.ts'
import { processTerminal } from '../terminal.ts'
import { podResult, runResult, said, samplePlan } from '../testing/samples.ts'
import { undoCommands } from './undo-command.ts'

const sluice = { program: 'sluice' }
const failed = runResult({ outcome: 'failed', pods: [podResult({ pod: 'web-1', outcome: 'failed', traffic: 'out' })] })

test('after a failure: the workload and the run, where the command was sent', () => {
  const flags = { namespace: 'shop', kubeconfig: 'my files/k', asGroup: ['a', 'b'], config: 'prod.yaml', allowUnbalanced: true }
  expect(
    undoCommands(failed, samplePlan, flags, { program: 'kubectl sluice' }, { SLUICE_CONFIG: 'x.yaml' }).map(({ shell }) => shell),
  ).toEqual([
    "kubectl sluice undo statefulset/web --run r7 --namespace shop --kubeconfig 'my files/k' --as-group a --as-group b --config prod.yaml --allow-unbalanced",
  ])
})

test('after a failure of a pod that is gone by now: what has come in its place may be on the same images', () => {
  const gone = podResult({ pod: 'web-1', outcome: 'settled', before: { outcome: 'rolledBack', reason: said('no proof') } })
  expect(undoCommands(runResult({ outcome: 'failed', pods: [gone] }), samplePlan, {}, sluice).map(({ shell }) => shell)).toEqual([
    'sluice undo statefulset/web --run r7',
  ])
})

test('after an interrupt that left a pod out: what it waits for may never come', () => {
  const left = (out: boolean) =>
    runResult({
      outcome: 'interrupted',
      pods: [podResult({ pod: 'web-1', outcome: 'interrupted', traffic: out ? 'out' : 'asBefore' })],
    })
  expect(undoCommands(left(true), samplePlan, {}, sluice).map(({ shell }) => shell)).toEqual([
    'sluice undo statefulset/web --run r7',
  ])
  expect(undoCommands(left(false), samplePlan, {}, sluice).map(({ shell }) => shell)).toEqual([])
})

test('the files that the environment named are written out', () => {
  const env = { SLUICE_CONFIG: 'my conf.yaml', KUBECONFIG: 'prod.conf' }
  expect(undoCommands(failed, samplePlan, {}, sluice, env).map(({ shell }) => shell)).toEqual([
    "sluice undo statefulset/web --run r7 --kubeconfig prod.conf --config 'my conf.yaml'",
  ])
})

test('a bare pod that did not fail needs none', () => {
  const pods = ['web-1', 'web-0'].map((name) => ({ ...POD, name, namespace: 'shop' }))
  expect(undoCommands(failed, { ...samplePlan, workloads: pods }, {}, sluice).map(({ shell }) => shell)).toEqual([
    'sluice undo pod/web-1 --run r7',
  ])
})

test.each([
  runResult({ outcome: 'done', pods: [podResult({ pod: 'web-1', outcome: 'upgraded' })] }),
  runResult({ outcome: 'deadline', pods: [podResult({ pod: 'web-1', outcome: 'failed', deadline: 'drain' })] }),
  runResult({ outcome: 'failed', pods: [podResult({ pod: 'web-1', outcome: 'unchanged' })] }),
])('none after the end $outcome: $pods.0.outcome', (result) => {
  expect(undoCommands(result, samplePlan, {}, sluice).map(({ shell }) => shell)).toEqual([])
})

test('none after an undo, nor where an abort has put the template back', () => {
  expect(
    undoCommands(failed, { ...samplePlan, undoes: { run: 'r6', images: [] } }, {}, sluice).map(({ shell }) => shell),
  ).toEqual([])
  const mixed = [{ workload: 'statefulset/web', upgraded: 1, pods: 2 }]
  expect(undoCommands({ ...failed, mixed }, samplePlan, {}, sluice).map(({ shell }) => shell)).toEqual([])
})

test('undo takes every flag that is in it', () => {
  const all = {
    namespace: 'n',
    context: 'c',
    kubeconfig: 'k',
    cluster: 'c',
    user: 'u',
    as: 'a',
    asGroup: ['g'],
    asUid: 'i',
    requestTimeout: '5s',
    config: 'f',
    acceptTemplateDrift: true,
    allowUnbalanced: true,
  }
  const [command] = undoCommands(failed, samplePlan, all, sluice)
  const program = createProgram({ invocation: { program: 'sluice', args: [] }, terminal: processTerminal(), onDone: () => {} })
  const undo = program.commands.find((one) => one.name() === 'undo')!.action(() => {})
  undo.parse(command!.argv.slice(2), { from: 'user' } satisfies ParseOptions)
  expect(undo.opts()).toMatchObject({ run: 'r7', ...all })
  expect(undo.args).toEqual(['statefulset/web'])
})
