import { expect, test } from 'vitest'
import { at, podResult, runResult, samplePlan } from '../testing/samples.ts'
import { createColors } from './color.ts'
import { inertJson } from './inert.ts'
import { createJson, createJsonLines } from './json.ts'
import type { Renderer } from './renderer.ts'
import { runReport, type RunReport } from './run-report.ts'
import { summary } from './summary.ts'

function collector() {
  let text = ''
  return { write: (more: string) => void (text += more), text: () => text }
}

const facts = {
  plan: samplePlan,
  startedAt: 'a',
  finishedAt: 'b',
  warnings: [],
  mixed: [],
  undoCommands: [],
  resumeCommand: 'c',
}

const report = runReport({
  result: runResult({
    outcome: 'deadline',
    reason: 'web-1 missed its drain deadline',
    pods: [
      podResult({
        uid: 'u1',
        pod: 'web-1',
        outcome: 'failed',
        reason: '3 in flight\u001b[31m\u2028',
        deadline: 'drain',
        phases: { emptying: 60_000 },
      }),
      podResult({ uid: 'u0', pod: 'web-0', outcome: 'skipped', reason: 'runs the wanted images' }),
    ],
  }),
  plan: samplePlan,
  exitCode: 4,
  startedAt: '2026-03-01T12:00:00.000Z',
  finishedAt: '2026-03-01T12:01:00.000Z',
  warnings: ['w'],
  mixed: [],
  undoCommands: [],
  resumeCommand: 'sluice upgrade sts/web',
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
  const renderer = createJson({ out, progress })
  renderer.onEvent(at(0, { type: 'warning', message: 'w' }))
  renderer.notice('n')
  expect(out.text()).toBe('')
  renderer.finish(report)
  expect(calls).toEqual(['warning', 'n', 'finish'])
  expect(JSON.parse(out.text())).toEqual({
    apiVersion: 'sluice.dev/v1',
    kind: 'RunReport',
    run: 'r7',
    outcome: 'deadline',
    exitCode: 4,
    reason: 'web-1 missed its drain deadline',
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
        reason: '3 in flight\u001b[31m\u2028',
        deadline: 'drain',
        out: false,
        images: [{ container: 'app', from: 'r/app:v1', to: 'r/app:v2' }],
        phasesMs: { emptying: 60_000 },
      },
      { pod: 'web-0', uid: 'u0', outcome: 'skipped', reason: 'runs the wanted images', out: false, images: [], phasesMs: {} },
    ],
    warnings: ['w'],
    guarantees: [{ loadBalancer: 'edge', adapter: 'haproxy', level: 'G1' }],
    resumeCommand: 'sluice upgrade sts/web',
  })
})

test('-o jsonl is an event a line, and the report as the last', () => {
  const out = collector()
  const err = collector()
  const renderer = createJsonLines({ out, err })
  renderer.onEvent(at(1500, { type: 'warning', message: 'two\nlines' }))
  renderer.notice('n')
  renderer.finish(report)
  const [event, last, rest] = out.text().split('\n')
  expect(event).toBe(
    '{"apiVersion":"sluice.dev/v1","kind":"RunEvent","type":"warning","message":"two\\nlines","atMs":1500,"wallAt":"2026-03-01T12:00:01.500Z"}',
  )
  expect(JSON.parse(last!)).toMatchObject({ kind: 'RunReport', exitCode: 4 })
  expect(rest).toBe('')
  expect(err.text()).toBe('n\nTo go on from here:\n  sluice upgrade sts/web\n')
})

test('a run that is paused does not go on by its command alone', () => {
  const err = collector()
  createJsonLines({ out: collector(), err }).finish({ ...report, outcome: 'paused', liftCommand: 'sluice resume sts/web' })
  expect(err.text()).toBe(
    'To lift the pause:\n  sluice resume sts/web\nTo go on from here, once the pause is lifted:\n  sluice upgrade sts/web\n',
  )
})

test('after a pause that holds, whatever else has ended the run', () => {
  const pause = { by: 'ann', liftCommand: 'l' }
  const headings = (outcome: 'interrupted' | 'failed'): string[] =>
    summary(runReport({ ...facts, result: runResult({ outcome }), exitCode: 1, pause }), createColors(false)).slice(-5)
  const lift = ['To lift the pause:', '  l', '']
  expect(headings('interrupted')).toEqual([...lift, 'To go on from here, once the pause is lifted:', '  c'])
  expect(headings('failed')).toEqual([
    ...lift,
    'To try the same again, once the cause is mended, and the pause is lifted:',
    '  c',
  ])
  const done = runReport({ ...facts, result: runResult(), exitCode: 0, pause })
  expect(done).not.toHaveProperty('pausedBy')
  expect(done).not.toHaveProperty('liftCommand')
})

test('where another run has the workload, its end comes first', () => {
  const result = runResult({ run: '', outcome: 'conflict', reason: 'another run has this workload', holder: 'host_7' })
  const taken = runReport({ ...facts, result, exitCode: 7 })
  expect(taken).toMatchObject({ holder: 'host_7', resumeCommand: 'c' })
  expect(summary(taken, createColors(false)).slice(-2)).toEqual(['Once that run is over:', '  c'])
  const { holder: _, ...edited } = taken
  expect(summary(edited, createColors(false)).slice(-2)).toEqual([
    'To go on from here, once you have looked at what somebody else has changed (of a template, whatever is more than images has to be taken back first: until then this is refused):',
    '  c',
  ])
})

test('after a rollback that has failed too, the same command is the way back', () => {
  const ended = (hadFailed?: 'rolledBack') => {
    const pods = [podResult({ pod: 'web-0', outcome: 'failed', out: true, ...(hadFailed ? { hadFailed } : {}) })]
    return runReport({ ...facts, result: runResult({ outcome: 'failed', reason: 'late', pods }), exitCode: 1 })
  }
  expect(summary(ended('rolledBack'), createColors(false)).at(-2)).toMatch(/^To go on with the way back to the former images/)
  expect(ended('rolledBack').pods).toMatchObject([{ rollingBack: true }])
  expect(summary(ended(), createColors(false)).at(-2)).toMatch(/^To try the same again/)
})

test('after a failure the way back comes before the way on', () => {
  const err = collector()
  const out = collector()
  const failed: RunReport = {
    ...report,
    outcome: 'failed',
    undoCommands: ['sluice undo sts/web --run r7', 'sluice undo ds/log --run r7'],
  }
  createJsonLines({ out, err }).finish(failed)
  expect(err.text()).toBe(`To take it back:
  sluice undo sts/web --run r7
  sluice undo ds/log --run r7
To try the same again, once the cause is mended:
  sluice upgrade sts/web
`)
  expect(JSON.parse(out.text())).toMatchObject({ undoCommands: failed.undoCommands, resumeCommand: failed.resumeCommand })
  expect(summary(failed, createColors(false)).slice(-7)).toEqual([
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
  const mixed = [{ workload: 'statefulset/web', upgraded: 1, pods: 3, command: 'sluice upgrade statefulset/web' }]
  const aborted = runReport({ ...facts, mixed, result: runResult({ outcome: 'aborted' }), exitCode: 0 })
  expect(aborted).toMatchObject({ mixed })
  expect(summary(aborted, createColors(false)).slice(-3)).toEqual([
    '',
    'statefulset/web: 1 of 3 pods run other images than the template, which has its former images again. To bring all pods to it (possible where they differ from it in images alone):',
    '  sluice upgrade statefulset/web',
  ])
})

// Found by a fresh user: the last line was the abort, which failed once more on the image that does not exist.
test('after an abort that has failed the last command brings the pods to the template', () => {
  const mixed = [{ workload: 'statefulset/web', upgraded: 1, pods: 3, command: 'sluice upgrade statefulset/web' }]
  const ending = (outcome: 'failed' | 'deadline') =>
    summary(runReport({ ...facts, mixed, result: runResult({ outcome }), exitCode: 1 }), createColors(false))
  expect(ending('failed').at(-1)).toBe('  sluice upgrade statefulset/web')
  expect(ending('failed')).toContain('To try the same again, once the cause is mended:')
  expect(ending('deadline').at(-1)).toBe('  c')
})

// Found by a fresh user: nothing said that it was open, and its status of days later had exit code 4.
test('after a rollback the run stays open, and what ends it is said before what tries again', () => {
  const rolledBack = runReport({
    ...facts,
    result: runResult({ outcome: 'rolledBack' }),
    exitCode: 6,
    endCommand: 'sluice abort x',
  })
  expect(rolledBack).toMatchObject({ endCommand: 'sluice abort x' })
  expect(summary(rolledBack, createColors(false)).slice(-5)).toEqual([
    'The run stays open. To end it:',
    '  sluice abort x',
    '',
    'To try the same again, once the cause is mended:',
    '  c',
  ])
})

test('a pod that is upgraded and out of rotation by an operator is named, in text and JSON', () => {
  const said = (...names: string[]): string[] => {
    const pods = [
      ...names.map((pod) => podResult({ pod, outcome: 'upgraded', outBefore: true })),
      podResult({ pod: 'web-9', outcome: 'upgraded' }),
    ]
    const done = runReport({ ...facts, result: runResult({ pods }), exitCode: 0 })
    expect(done.pods.map(({ out, outBefore }) => [out, outBefore])).toEqual([
      ...names.map(() => [false, true]),
      [false, undefined],
    ])
    return summary(done, createColors(false)).slice(3)
  }
  expect(said()).toEqual([])
  expect(said('web-2')).toEqual(['web-2 is out of rotation by an operator, as before'])
  expect(said('web-2', 'web-0')).toEqual(['web-2, web-0 are out of rotation by an operator, as before'])
})

test('there is a command to go on with exactly where there is something to go on with', () => {
  const result = runResult()
  expect(runReport({ ...facts, result, exitCode: 0 })).not.toHaveProperty('resumeCommand')
  expect(runReport({ ...facts, result, exitCode: 130 })).toMatchObject({ resumeCommand: 'c' })
})

test('JSON on a terminal has no effect on it, and is the same JSON', () => {
  const value = { key: '\u001b[2J\u009b1m\u2028\u202e\u007f\n' }
  expect(inertJson(value)).toBe('{"key":"\\u001b[2J\\u009b1m\\u2028\\u202e\\u007f\\n"}')
  expect(JSON.parse(inertJson(value, 2))).toEqual(value)
})
