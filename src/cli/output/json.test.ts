import { expect, test } from 'vitest'
import { createWriting } from '../../report/words/words.ts'
import type { Plan } from '../../plan/plan.ts'
import type { Reason } from '../../reasons/reason.ts'
import { goOn, nextCommand, at, podResult, runResult, said, samplePlan } from '../testing/samples.ts'
import type { BadEnding, PodResult } from '../../engine/events.ts'
import { createColors } from './color.ts'
import { inertJson } from './inert.ts'
import { createJson, createJsonLines } from './json.ts'
import type { Renderer } from './renderer.ts'
import { planDocument } from './plan-view.ts'
import { runReport, type RunReport } from './run-report.ts'
import { summary } from './summary.ts'

const write = createWriting()
const summaryOf = (report: RunReport): string[] => summary(report, createColors(false), write)

function collector() {
  let text = ''
  return { write: (more: string) => void (text += more), text: () => text }
}

const facts = {
  plan: samplePlan,
  startedAt: 'a',
  finishedAt: 'b',
  warnings: [],
  next: [goOn('c')],
}

const MISSED: Reason = { code: 'not-empty', readsAsIn: false, traffic: said('3 in flight\u001b[31m\u2028') }

const report = runReport({
  result: runResult({
    outcome: 'deadline',
    reason: { code: 'pods', pods: [{ uid: 'u1', pod: 'web-1', reason: MISSED }] },
    pods: [
      podResult({
        uid: 'u1',
        pod: 'web-1',
        outcome: 'failed',
        reason: MISSED,
        deadline: 'drain',
        phases: { emptying: 60_000 },
      }),
      podResult({ uid: 'u0', pod: 'web-0', outcome: 'skipped', reason: { code: 'runs-wanted-images', ready: true } }),
    ],
  }),
  plan: samplePlan,
  exitCode: 4,
  startedAt: '2026-03-01T12:00:00.000Z',
  finishedAt: '2026-03-01T12:01:00.000Z',
  warnings: [{ pod: 'web-1', reason: said('w') }],
  next: [goOn('sluice upgrade sts/web')],
})

test('-o json is one versioned document', () => {
  const out = collector()
  const calls: string[] = []
  const progress: Renderer = {
    onEvent: ({ type }) => calls.push(type),
    notice: (text) => calls.push(text),
    finish: () => calls.push('finish'),
    close: () => calls.push('close'),
  }
  const renderer = createJson({ out, progress, write })
  renderer.onEvent(at(0, { type: 'warning', reason: said('w') }))
  renderer.notice('n')
  expect(out.text()).toBe('')
  renderer.finish(report)
  expect(calls).toEqual(['warning', 'n', 'finish'])
  const words = '3 in flight\u001b[31m\u2028'
  const missed = {
    code: 'not-empty',
    readsAsIn: false,
    traffic: { code: 'error', said: words, message: words },
    message: `not empty in time: ${words}`,
  }
  const rest = { traffic: 'asBefore', record: 'closed', advice: [] }
  expect(JSON.parse(out.text())).toEqual({
    apiVersion: 'sluice.dev/v1',
    kind: 'RunReport',
    run: 'r7',
    outcome: 'deadline',
    exitCode: 4,
    reason: {
      code: 'pods',
      pods: [{ uid: 'u1', pod: 'web-1', reason: missed }],
      message: `web-1: ${missed.message}`,
    },
    namespace: 'shop',
    workloads: ['statefulset/web'],
    images: [{ container: 'app', image: 'r/app:v2' }],
    startedAt: '2026-03-01T12:00:00.000Z',
    finishedAt: '2026-03-01T12:01:00.000Z',
    pods: [
      {
        pod: 'web-1',
        uid: 'u1',
        outcome: 'failed',
        reason: missed,
        deadline: 'drain',
        ...rest,
        images: [{ container: 'app', from: 'r/app:v1', to: 'r/app:v2' }],
        phasesMs: { emptying: 60_000 },
      },
      {
        pod: 'web-0',
        uid: 'u0',
        outcome: 'skipped',
        reason: { code: 'runs-wanted-images', ready: true, message: 'it runs the wanted images already' },
        ...rest,
        images: [],
        phasesMs: {},
      },
    ],
    warnings: [{ pod: 'web-1', reason: { code: 'error', said: 'w', message: 'w' } }],
    guarantees: [{ loadBalancer: 'edge', adapter: 'haproxy', level: 'G1', inFlight: 'exact', disruptsOthers: false }],
    next: [{ to: 'goOn', argv: ['sluice', 'upgrade', 'sts/web'], shell: 'sluice upgrade sts/web' }],
  })
})

test('-o jsonl is an event a line, and the report as the last', () => {
  const out = collector()
  const err = collector()
  const renderer = createJsonLines({ out, err, write })
  renderer.onEvent(at(1500, { type: 'warning', reason: said('two\nlines') }))
  renderer.notice('n')
  renderer.finish(report)
  const [event, last, rest] = out.text().split('\n')
  expect(event).toBe(
    '{"apiVersion":"sluice.dev/v1","kind":"RunEvent","type":"warning","reason":{"code":"error","said":"two\\nlines","message":"two\\nlines"},"atMs":1500,"wallAt":"2026-03-01T12:00:01.500Z"}',
  )
  expect(JSON.parse(last!)).toMatchObject({ kind: 'RunReport', exitCode: 4 })
  expect(rest).toBe('')
  expect(err.text()).toBe('n\nTo go on from here:\n  sluice upgrade sts/web\n')
})

test('a plan in an event is as the document of a plan: whether there is something to do, and the way out of each refusal', () => {
  const out = collector()
  const plan: Plan = { ...samplePlan, refusals: [{ code: 'workload-deleting', workload: 'statefulset/web' }] }
  createJsonLines({ out, err: collector(), write }).onEvent(at(0, { type: 'planned', plan }))
  const { plan: told } = JSON.parse(out.text()) as { plan: object }
  expect({ apiVersion: 'sluice.dev/v1', kind: 'Plan', ...told }).toEqual(planDocument(plan, write))
  expect(told).toMatchObject({ changes: true, refusals: [{ hint: expect.stringMatching(/\.$/) }] })
})

test('a run that is paused does not go on by its command alone', () => {
  const err = collector()
  createJsonLines({ out: collector(), err, write }).finish({
    ...report,
    outcome: 'paused',
    pausedBy: 'ann',
    next: [nextCommand('liftPause', 'sluice resume sts/web'), ...report.next],
  })
  expect(err.text()).toBe(
    'To lift the pause:\n  sluice resume sts/web\nTo go on from here, once the pause is lifted:\n  sluice upgrade sts/web\n',
  )
})

test('after a pause that holds, whatever else has ended the run', () => {
  const pause = { pausedBy: 'ann', next: [nextCommand('liftPause', 'l'), goOn('c')] }
  const headings = (outcome: 'interrupted' | 'failed'): string[] =>
    summaryOf(runReport({ ...facts, ...pause, result: runResult({ outcome }), exitCode: 1 })).slice(-5)
  const lift = ['To lift the pause:', '  l', '']
  expect(headings('interrupted')).toEqual([...lift, 'To go on from here, once the pause is lifted:', '  c'])
  expect(headings('failed')).toEqual([
    ...lift,
    'To try the same again, once the cause is mended, and the pause is lifted:',
    '  c',
  ])
})

test('where another run has the workload, its end comes first', () => {
  const { run: _none, ...begun } = runResult({
    outcome: 'conflict',
    reason: said('another run has this workload'),
    holder: 'host_7',
  })
  const taken = runReport({ ...facts, result: begun, exitCode: 7 })
  expect(taken).not.toHaveProperty('run')
  expect(taken).toMatchObject({ holder: 'host_7', next: [{ to: 'goOn', shell: 'c' }] })
  expect(summaryOf(taken).slice(-2)).toEqual(['Once that run is over:', '  c'])
  const { holder: _, ...edited } = taken
  expect(summaryOf(edited).slice(-2)).toEqual([
    'To go on from here, once you have looked at what somebody else has changed (of a template, whatever is more than images has to be taken back first: until then this is refused):',
    '  c',
  ])
})

test('a pod that an earlier process has patched has its images by its restart', () => {
  const restarts = [{ container: 'app', image: { from: 'r/app:v1', to: 'r/app:v2' }, containerId: {}, imageId: {} }]
  const adopted = podResult({ uid: 'u0', pod: 'web-0', outcome: 'upgraded' })
  const imagesOf = (pod: PodResult) => runReport({ ...facts, result: runResult({ pods: [pod] }), exitCode: 0 }).pods[0]!.images
  expect(imagesOf({ ...adopted, restarts })).toEqual([{ container: 'app', from: 'r/app:v1', to: 'r/app:v2' }])
  expect(imagesOf(adopted), 'control: its restart was seen by that process alone').toEqual([])
})

test('after a rollback that has failed too, the same command is the way back', () => {
  const ended = (...failed: BadEnding[]) => {
    const pods = [podResult({ pod: 'web-0', outcome: 'failed', traffic: 'out', ...(failed[0] && { before: failed[0] }) })]
    return runReport({ ...facts, result: runResult({ outcome: 'failed', reason: said('late'), pods }), exitCode: 1 })
  }
  const before: BadEnding = { outcome: 'rolledBack', reason: said('no proof') }
  expect(summaryOf(ended(before)).at(-2)).toMatch(/^To go on with the way back to the former images/)
  expect(ended(before).pods).toMatchObject([{ before }])
  expect(summaryOf(ended()).at(-2)).toMatch(/^To try the same again/)
})

test('after a failure the way back comes before the way on', () => {
  const err = collector()
  const out = collector()
  const failed: RunReport = {
    ...report,
    outcome: 'failed',
    next: [
      nextCommand('undo', 'sluice undo sts/web --run r7'),
      nextCommand('undo', 'sluice undo ds/log --run r7'),
      ...report.next,
    ],
  }
  createJsonLines({ out, err, write }).finish(failed)
  expect(err.text()).toBe(`To take it back:
  sluice undo sts/web --run r7
  sluice undo ds/log --run r7
To try the same again, once the cause is mended:
  sluice upgrade sts/web
`)
  expect(JSON.parse(out.text())).toMatchObject({ next: failed.next })
  expect(summaryOf(failed).slice(-7)).toEqual([
    '',
    'To take it back:',
    '  sluice undo sts/web --run r7',
    '  sluice undo ds/log --run r7',
    '',
    'To try the same again, once the cause is mended:',
    '  sluice upgrade sts/web',
  ])
})

test('an abort that leaves pods on different images says how many, and how to bring them together', () => {
  const mixed = [{ workload: 'statefulset/web', upgraded: 1, pods: 3 }]
  const next = [nextCommand('backToTemplate', 'sluice upgrade statefulset/web', 'statefulset/web')]
  const aborted = runReport({ ...facts, next, result: runResult({ outcome: 'aborted', mixed }), exitCode: 0 })
  expect(aborted).toMatchObject({ mixed })
  expect(summaryOf(aborted).slice(-3)).toEqual([
    '',
    'statefulset/web: 1 of 3 pods run other images than the template, which has its former images again. To bring all pods to it (possible where they differ from it in images alone):',
    '  sluice upgrade statefulset/web',
  ])
})

// The run stays open after a rollback, and without a word on it a later `status` would exit with 4 unexpectedly.
test('after a rollback the run stays open, and what ends it is said before what tries again', () => {
  const rolledBack = runReport({
    ...facts,
    result: runResult({ outcome: 'rolledBack' }),
    exitCode: 6,
    next: [nextCommand('end', 'sluice abort x'), goOn('c')],
  })
  expect(summaryOf(rolledBack).slice(-5)).toEqual([
    'The run stays open. To end it:',
    '  sluice abort x',
    '',
    'To try the same again, once the cause is mended:',
    '  c',
  ])
})

test('a pod that is upgraded and out of rotation by an operator is named, in text and JSON', () => {
  const told = (...names: string[]): string[] => {
    const pods = [
      ...names.map((pod) => podResult({ pod, outcome: 'upgraded', traffic: 'operatorOut' })),
      podResult({ pod: 'web-9', outcome: 'upgraded' }),
    ]
    const done = runReport({ ...facts, next: [], result: runResult({ pods }), exitCode: 0 })
    expect(done.pods.map(({ traffic }) => traffic)).toEqual([...names.map(() => 'operatorOut'), 'asBefore'])
    return summaryOf(done).slice(3)
  }
  expect(told()).toEqual([])
  expect(told('web-2')).toEqual(['web-2 is out of rotation by an operator, as before'])
  expect(told('web-2', 'web-0')).toEqual(['web-2, web-0 are out of rotation by an operator, as before'])
})

test('JSON on a terminal has no effect on it, and is the same JSON', () => {
  const value = { key: '\u001b[2J\u009b1m\u2028\u202e\u007f\n' }
  expect(inertJson(value)).toBe('{"key":"\\u001b[2J\\u009b1m\\u2028\\u202e\\u007f\\n"}')
  expect(JSON.parse(inertJson(value, 2))).toEqual(value)
})
