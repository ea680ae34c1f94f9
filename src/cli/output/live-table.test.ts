import { expect, test } from 'vitest'
import type { RunEventBody } from '../../engine/events.ts'
import { createWriting } from '../../report/words/words.ts'
import type { Reason } from '../../reasons/reason.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { at, podResult, runResult, said, samplePlan } from '../testing/samples.ts'
import { createScreen } from '../testing/screen.ts'
import { createColors } from './color.ts'
import { createLiveTable } from './live-table.ts'
import { runReport } from './run-report.ts'

const COLUMNS = 72

function setup({ columns = COLUMNS, rows = 24 } = {}) {
  const screen = createScreen(columns, rows)
  const writes: string[] = []
  const out = {
    columns,
    rows,
    backlog: 0,
    write: (text: string) => {
      writes.push(text)
      screen.write(text)
    },
  }
  const clock = createFakeClock()
  const renderer = createLiveTable({
    out,
    err: { write: (text) => screen.write(text) },
    clock,
    colors: createColors(false),
    write: createWriting(),
  })
  const emit = (...bodies: RunEventBody[]): void => {
    for (const body of bodies) renderer.onEvent(at(clock.now(), body))
  }
  return { out, screen, writes, clock, renderer, emit }
}

const started: RunEventBody = {
  type: 'started',
  run: 'r7',
  epoch: 3,
  resumed: false,
  pods: [
    { uid: 'u2', pod: 'web-2' },
    { uid: 'u1', pod: 'web-1' },
    { uid: 'u0', pod: 'web-0' },
  ],
}
/** A number has a code, which lets the table show its trend. */
function waits(words: string): Reason {
  const requests = /^(\d+) in flight$/.exec(words)?.[1]
  return requests === undefined ? said(words) : { code: 'in-flight', requests: Number(requests) }
}

const state = (pod: string, to: 'queued' | 'draining' | 'emptying' | 'warming', words: string): RunEventBody => ({
  type: 'podState',
  uid: `u${pod.at(-1)}`,
  pod,
  from: null,
  to,
  ...(words === '' ? {} : { waiting: waits(words) }),
})
const detail = (pod: string, text: string): RunEventBody => ({
  type: 'podDetail',
  uid: `u${pod.at(-1)}`,
  pod,
  state: 'emptying',
  waiting: waits(text),
})

test('what somebody has ordered stands above the table, until it is lifted', () => {
  const { screen, clock, emit } = setup()
  emit(started, { type: 'ordered', order: 'pause', by: 'ann@desk' })
  clock.advance(1000)
  expect(screen.text()).toContain('\npaused by ann@desk: 0 of 3 pods finished, 0 at work, 1.0s\n')
  emit({ type: 'ordered', order: 'resume', by: '' })
  clock.advance(1000)
  expect(screen.text()).toContain('the pause is lifted\n0 of 3 pods finished, 0 at work, 2.0s\n')
})

test('pods that an interrupt has left as they were are not finished', () => {
  const { screen, clock, emit } = setup()
  const finished = (uid: string, outcome: 'upgraded' | 'unchanged'): RunEventBody => ({
    type: 'podFinished',
    result: podResult({ uid, pod: `web-${uid.at(-1)}`, outcome }),
  })
  emit(started, finished('u2', 'upgraded'), finished('u0', 'unchanged'), state('web-1', 'warming', 'not ready yet'))
  clock.advance(1000)
  expect(screen.text()).toContain('\n1 of 3 pods finished, 1 at work, 1.0s\n')
})

test('pods at work are rows, finished ones and warnings scroll away above', () => {
  const { screen, clock, renderer, emit } = setup()
  emit({ type: 'planned', plan: samplePlan }, started, state('web-2', 'draining', 'waits for edge'))
  clock.advance(2000)
  emit(state('web-2', 'emptying', '20 in flight'))
  clock.advance(3000)
  emit(detail('web-2', '14 in flight'))
  clock.advance(1000)
  expect(screen.text()).toBe(
    `statefulset/web in namespace shop: 1 to upgrade, 1 to skip; at most 1 out of rotation at once
The template of statefulset/web is patched first: app: r/app:v1 → r/app:v2
edge (haproxy) G1: one drain and one restore per pod, in order, given that a call lives a bounded time; anything else is detected and repaired
warning: statefulset/web has minReadySeconds 10: a pod is put back once it has been Ready for 10 s, since rollout.readyFor is shorter
run r7 begins: 3 pods, epoch 3
0 of 3 pods finished, 1 at work, 6.0s
  POD    STATE     FOR   DETAIL
  web-2  emptying  4.0s  14 in flight ↓
  2 queued`,
  )

  emit(
    { type: 'warning', pod: 'web-2', reason: said('its node is under pressure') },
    {
      type: 'podFinished',
      result: podResult({
        uid: 'u2',
        pod: 'web-2',
        outcome: 'upgraded',
        phases: { queued: 9000, draining: 2000, emptying: 4000 },
      }),
    },
    state('web-1', 'warming', 'not ready yet'),
  )
  renderer.notice('SIGINT: stopping in order.')
  clock.advance(1000)
  expect(screen.text().split('\n').slice(5).join('\n')).toBe(
    `warning: web-2: its node is under pressure
✓ web-2 upgraded in 6.0s (draining 2.0s, emptying 4.0s)
SIGINT: stopping in order.
1 of 3 pods finished, 1 at work, 7.0s
  POD    STATE    FOR   DETAIL
  web-1  warming  1.0s  not ready yet
  1 queued`,
  )

  const result = runResult({ pods: [podResult({ uid: 'u2', pod: 'web-2', outcome: 'upgraded' })] })
  renderer.finish(
    runReport({
      result,
      plan: samplePlan,
      exitCode: 0,
      startedAt: 'a',
      finishedAt: 'b',
      warnings: [],
      next: [],
    }),
  )
  expect(screen.text().split('\n').slice(7).join('\n')).toBe(
    `SIGINT: stopping in order.

Done: all pods run the wanted images
Pods: 1 upgraded`,
  )
})

// The table gives the reason of the wait, beside the number of queued pods.
test('why pods wait for their place is said once, and of several reasons that of most', () => {
  const { screen, clock, emit } = setup({ columns: 120 })
  const last = (): string => screen.text().split('\n').at(-1)!
  const full = 'the window of 1 is full: web-2 is not ready'
  emit(started, state('web-2', 'queued', ''), state('web-1', 'queued', full), state('web-0', 'queued', 'web-2 goes first'))
  emit({ ...detail('web-0', full), state: 'queued' } as RunEventBody)
  clock.advance(1000)
  expect(last()).toBe(`  3 queued, 2 of them: ${full}`)
  emit({ ...detail('web-2', full), state: 'queued' } as RunEventBody)
  clock.advance(1000)
  expect(last()).toBe(`  3 queued: ${full}`)
  // Under an order, the pods wait for the end of the order.
  emit({ type: 'ordered', order: 'pause', by: 'ann@desk' })
  clock.advance(1000)
  expect(screen.text().split('\n').slice(-2)).toEqual(['paused by ann@desk: 0 of 3 pods finished, 0 at work, 3.0s', '  3 queued'])
})

test('waiting for a Lease counts down', () => {
  const { screen, clock, emit } = setup({ columns: 120 })
  emit({ type: 'leaseWaiting', lease: 'sluice-statefulset-web', holder: 'host_7', remainingMs: 15_000 })
  clock.advance(4000)
  expect(screen.text()).toBe(
    'the Lease sluice-statefulset-web is held by host_7: waiting 11s for a sign of life before taking over',
  )
})

test('many events in a moment are one redraw, and a terminal that is behind gets none', () => {
  const { out, writes, clock, emit } = setup()
  emit(started, state('web-2', 'emptying', '500 in flight'))
  clock.advance(1000)
  const before = writes.length
  for (let index = 0; index < 50; index += 1) {
    emit(detail('web-2', `${400 - index} in flight`))
    clock.advance(2)
  }
  expect(writes.length - before).toBeLessThanOrEqual(2)

  out.backlog = 1
  const behind = writes.length
  emit(detail('web-2', '3 in flight'))
  clock.advance(5000)
  expect(writes.length).toBe(behind)
  out.backlog = 0
  clock.advance(1000)
  expect(writes.at(-1)).toContain('3 in flight')
})

test('a narrow terminal shows the whole detail of a pod, wrapped below its column', () => {
  const { screen, clock, emit } = setup({ columns: 60, rows: 12 })
  const cause = 'container app ImagePullBackOff: Back-off pulling image "registry.example/team/app:v2"'
  emit(started, state('web-2', 'warming', cause), state('web-1', 'draining', '接続を待っています接続を待っています'))
  clock.advance(1000)
  expect(screen.text()).toBe(
    `run r7 begins: 3 pods, epoch 3
0 of 3 pods finished, 2 at work, 1.0s
  POD    STATE     FOR   DETAIL
  web-2  warming   1.0s  container app ImagePullBackOff:
                         Back-off pulling image
                         "registry.example/team/app:v2"
  web-1  draining  1.0s  接続を待っています接続を待っていま
                         す
  1 queued`,
  )
})

test('a terminal with no room beside the cells has the detail below them', () => {
  const { screen, clock, emit } = setup({ columns: 40, rows: 12 })
  emit(started, state('web-2', 'draining', 'a reason that is much too long for this terminal'))
  clock.advance(1000)
  expect(screen.text()).toBe(
    `run r7 begins: 3 pods, epoch 3
0 of 3 pods finished, 1 at work, 1.0s
  POD    STATE     FOR
  web-2  draining  1.0s
    a reason that is much too long for
    this terminal
  2 queued`,
  )
})

test('a low terminal shows as many whole pods as fit, and at least the beginning of one', () => {
  const { screen, clock, emit } = setup({ columns: 40, rows: 7 })
  emit(started, state('web-2', 'draining', 'short'), state('web-1', 'draining', 'a reason for three lines '.repeat(4)))
  emit(state('web-0', 'emptying', '1 in flight'))
  clock.advance(1000)
  expect(screen.text()).toBe(
    `run r7 begins: 3 pods, epoch 3
0 of 3 pods finished, 3 at work, 1.0s
  POD    STATE     FOR
  web-2  draining  1.0s
    short
  2 more at work`,
  )
  emit({ ...detail('web-2', 'a reason for many lines '.repeat(9)), state: 'draining' } as RunEventBody)
  clock.advance(1000)
  expect(screen.text().split('\n')).toHaveLength(7)
  expect(screen.text()).toContain('\n    a reason for many lines a reason\n')
})

test('hostile text has no effect on the terminal', () => {
  const { screen, writes, clock, renderer, emit } = setup({ columns: 200 })
  const hostile = 'x\u001b[2J\u001b]0;owned\u0007\ny\u202e\u009b31m'
  const shown = 'x\\u001b[2J\\u001b]0;owned\\u0007 y\\u202e\\u009b31m'
  emit({ ...started, pods: [{ uid: 'u2', pod: hostile }] }, {
    ...state('web-2', 'draining', hostile),
    pod: hostile,
  } as RunEventBody)
  emit({ type: 'warning', reason: said(hostile), pod: hostile })
  emit({
    type: 'effect',
    uid: 'u2',
    pod: hostile,
    loadBalancer: hostile,
    target: hostile,
    effect: 'drain',
    operation: 'o',
    outcome: 'failed',
    batch: 1,
    durationMs: 7,
    said: hostile,
  })
  emit({ type: 'leaseWaiting', lease: hostile, holder: hostile, remainingMs: 1 })
  clock.advance(100)
  emit({ ...started, pods: [] })
  clock.advance(100)
  expect(screen.text()).toContain(`${shown}  draining  `)
  emit({ type: 'podFinished', result: podResult({ uid: 'u2', pod: hostile, outcome: 'failed', reason: said(hostile) }) })
  renderer.notice(hostile)
  clock.advance(100)
  // oxlint-disable-next-line no-control-regex -- all that a table may write beside text
  const beyondTheTable = /\u001b(?!\[(?:\?2026[hl]|\d*[ABGK]))|[\u0000-\u0009\u000b-\u001a\u001c-\u001f\u007f-\u009f\u202e]/
  expect(writes.join('')).not.toMatch(beyondTheTable)
  expect(hostile).toMatch(beyondTheTable)
})

test('after the end nothing is drawn any more', () => {
  const { writes, clock, renderer, emit } = setup()
  emit(started)
  renderer.close()
  const count = writes.length
  emit(state('web-2', 'draining', 'x'))
  clock.advance(10_000)
  expect(writes.length).toBe(count)
})
