import { expect, test } from 'vitest'
import type { RunEventBody } from '../../engine/events.ts'
import { createWriting } from '../../report/words/words.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { goOn, at, podResult, runResult, said, samplePlan } from '../testing/samples.ts'
import { createColors } from './color.ts'
import { createLines } from './lines.ts'
import { runReport } from './run-report.ts'

function setup() {
  let text = ''
  let notices = ''
  const clock = createFakeClock()
  const renderer = createLines({
    out: { write: (more) => void (text += more) },
    err: { write: (more) => void (notices += more) },
    clock,
    colors: createColors(false),
    write: createWriting(),
  })
  const emit = (body: RunEventBody): void => renderer.onEvent(at(clock.now(), body))
  return { clock, renderer, emit, text: () => text, notices: () => notices }
}

const PLAN_WARNING =
  'statefulset/web has minReadySeconds 10: a pod is put back once it has been Ready for 10 s, since rollout.readyFor is shorter'

const pods = [
  { uid: 'u1', pod: 'web-1' },
  { uid: 'u0', pod: 'web-0' },
]

test('of details that come soon after each other the last is told when it is due, unless the pod is further by then', () => {
  const { clock, renderer, emit, text } = setup()
  const state = (to: 'restarting' | 'warming'): void => emit({ type: 'podState', uid: 'u1', pod: 'web-1', from: 'draining', to })
  const detail = (words: string): void =>
    emit({ type: 'podDetail', uid: 'u1', pod: 'web-1', state: 'restarting', waiting: said(words) })
  emit({ type: 'started', run: 'r7', epoch: 3, resumed: false, pods })
  state('restarting')
  detail('the new container is not up yet')
  clock.advance(1000)
  detail('ContainerCreating')
  clock.advance(1000)
  detail('CrashLoopBackOff')
  clock.advance(8000)
  detail('ErrImagePull')
  clock.advance(9000)
  state('warming')
  clock.advance(1000)
  expect(text().split('\n').slice(1, -1)).toEqual([
    '2026-03-01T12:00:00Z  web-1 restarting',
    '2026-03-01T12:00:00Z  web-1 restarting: the new container is not up yet',
    '2026-03-01T12:00:10Z  web-1 restarting: CrashLoopBackOff',
    '2026-03-01T12:00:19Z  web-1 warming',
  ])
  state('restarting')
  detail('one more')
  detail('and another')
  renderer.close()
  const closed = text()
  clock.advance(20_000)
  expect(text()).toBe(closed)
})

test('a Lease that is gone has no holder to name', () => {
  const { emit, text } = setup()
  emit({ type: 'leaseWaiting', lease: 'sluice-statefulset-web', holder: '', remainingMs: 15_500 })
  expect(text()).toContain(
    'the Lease sluice-statefulset-web was deleted, or its holder cleared, and its owner may be alive: waiting 16s for its calls to end before taking over',
  )
})

test('a run, line by line', () => {
  const { clock, renderer, emit, text, notices } = setup()
  const effect = {
    type: 'effect',
    uid: 'u1',
    pod: 'web-1',
    loadBalancer: 'edge',
    target: 'web/web1',
    operation: 'o',
    batch: 1,
    durationMs: 7,
  } as const
  emit({ type: 'planned', plan: samplePlan })
  emit({ type: 'leaseWaiting', lease: 'sluice-statefulset-web', holder: 'host_7', remainingMs: 15_000 })
  clock.advance(1000)
  emit({ type: 'leaseWaiting', lease: 'sluice-statefulset-web', holder: 'host_7', remainingMs: 14_000 })
  emit({ type: 'started', run: 'r7', epoch: 3, resumed: true, pods })
  emit({ type: 'template', workload: 'statefulset/web', reason: { code: 'pods-take-revision', revision: 'web-6d9' } })
  emit({ type: 'podState', uid: 'u1', pod: 'web-1', from: 'queued', to: 'draining', waiting: said('waits for edge') })
  emit({ ...effect, effect: 'drain', outcome: 'ambiguous', said: 'reset after 12 bytes' })
  emit({ ...effect, effect: 'drain', outcome: 'confirmed' })
  emit({
    type: 'podState',
    uid: 'u1',
    pod: 'web-1',
    from: 'draining',
    to: 'emptying',
    waiting: { code: 'in-flight', requests: 20 },
  })
  for (let count = 19; count > 0; count -= 1) {
    clock.advance(1000)
    emit({ type: 'podDetail', uid: 'u1', pod: 'web-1', state: 'emptying', waiting: { code: 'in-flight', requests: count } })
  }
  emit({ ...effect, effect: 'restore', outcome: 'applied' })
  emit({ type: 'podState', uid: 'u1', pod: 'web-1', from: 'emptying', to: 'failed', waiting: said('not told twice') })
  emit({
    type: 'podFinished',
    result: podResult({
      uid: 'u1',
      pod: 'web-1',
      outcome: 'failed',
      reason: said('1 still in flight'),
      deadline: 'drain',
      traffic: 'out',
      phases: { emptying: 20_000 },
    }),
  })
  emit({ type: 'warning', reason: said('the API server is slow') })
  emit({ type: 'interrupting', graceMs: 5000 })
  renderer.notice('SIGINT: stopping in order.')
  expect(text())
    .toBe(`2026-03-01T12:00:00Z  statefulset/web in namespace shop: 1 to upgrade, 1 to skip; at most 1 out of rotation at once
2026-03-01T12:00:00Z  The template of statefulset/web is patched first: app: r/app:v1 → r/app:v2
2026-03-01T12:00:00Z  edge (haproxy) G1: one drain and one restore per pod, in order, given that a call lives a bounded time; anything else is detected and repaired
2026-03-01T12:00:00Z  warning: ${PLAN_WARNING}
2026-03-01T12:00:00Z  the Lease sluice-statefulset-web is held by host_7: waiting 15s for a sign of life before taking over
2026-03-01T12:00:01Z  run r7 goes on: 2 pods, epoch 3
2026-03-01T12:00:01Z  statefulset/web: pods take the revision web-6d9
2026-03-01T12:00:01Z  web-1 draining: waits for edge
2026-03-01T12:00:01Z  web-1 drain of web/web1 in edge: no trustworthy answer, reading back (reset after 12 bytes)
2026-03-01T12:00:01Z  web-1 drain of web/web1 in edge confirmed by read-back
2026-03-01T12:00:01Z  web-1 emptying: 20 in flight
2026-03-01T12:00:02Z  web-1 emptying: 19 in flight
2026-03-01T12:00:12Z  web-1 emptying: 10 in flight
2026-03-01T12:00:20Z  web-1 restore of web/web1 in edge done
2026-03-01T12:00:20Z  ✗ web-1 failed in 20s: 1 still in flight [drain deadline] (out of rotation)
2026-03-01T12:00:20Z  warning: the API server is slow
2026-03-01T12:00:20Z  interrupted: no new pod is started; pods that are drained and not patched are put back; patched ones get 5.0s to come home
`)
  expect(notices()).toBe('SIGINT: stopping in order.\n')
})

test('what somebody has ordered, while it holds', () => {
  const { clock, emit, text } = setup()
  emit({ type: 'started', run: 'r7', epoch: 1, resumed: false, pods })
  emit({ type: 'ordered', order: 'pause', by: 'ann@desk' })
  emit({ type: 'paused', by: 'ann@desk' })
  clock.advance(30_000)
  emit({ type: 'ordered', order: 'resume', by: '' })
  clock.advance(30_000)
  expect(text().split('\n').slice(1, -1)).toEqual([
    '2026-03-01T12:00:00Z  paused by ann@desk: no new pod is started; pods that are under way come home',
    '2026-03-01T12:00:00Z  paused by ann@desk: nothing is under way any more',
    '2026-03-01T12:00:30Z  still waiting: 2 queued, paused by ann@desk',
    '2026-03-01T12:00:30Z  the pause is lifted',
    '2026-03-01T12:01:00Z  still waiting: 2 queued',
  ])
})

test('an abort that is under way is called ordered, and finds no pods to go on with where none is half done', () => {
  const { clock, emit, text } = setup()
  emit({ type: 'planned', plan: { ...samplePlan, pods: [], templates: [], guarantees: [], warnings: [] } })
  emit({ type: 'started', run: 'r7', epoch: 1, resumed: true, pods })
  emit({ type: 'ordered', order: 'abort', by: 'ann@desk' })
  clock.advance(30_000)
  const [outline, , told, still] = text().split('\n')
  expect(outline).toMatch(/ {2}statefulset\/web in namespace shop: no pods to go on with; at most 1 out of rotation at once$/)
  expect(told).toMatch(/ {2}abort ordered by ann@desk: no new pod is started; /)
  expect(still).toMatch(/ {2}still waiting: 2 queued, abort ordered by ann@desk$/)
})

test('each line of waiting says why pods are queued, once for all that share a reason', () => {
  const { clock, emit, text } = setup()
  const waits = (uid: string, pod: string, detail: string): void => {
    emit({ type: 'podState', uid, pod, from: null, to: 'queued' })
    emit({ type: 'podDetail', uid, pod, state: 'queued', waiting: said(detail) })
  }
  const full = 'the window of 1 is full: api-0 is not ready\u001b[31m'
  emit({ type: 'started', run: 'r7', epoch: 1, resumed: false, pods: [...pods, { uid: 'u2', pod: 'web-2' }] })
  waits('u1', 'web-1', full)
  waits('u0', 'web-0', full)
  const lines = (): string[] => text().split('\n').slice(0, -1)
  for (let beat = 1; beat <= 2; beat += 1) {
    clock.advance(30_000)
    expect(lines().at(-1)).toMatch(
      / {2}still waiting: 2 queued: the window of 1 is full: api-0 is not ready\\u001b\[31m; 1 queued$/,
    )
  }
  for (let index = 3; index < 9; index += 1) waits(`u${index}`, `web-${index}`, `what was drained before web-${index}`)
  clock.advance(30_000)
  expect(lines().at(-1)).toMatch(
    /; 1 queued: what was drained before web-4; 1 queued: what was drained before web-5; 3 more queued$/,
  )
})

test('30 s of silence are broken by what is waited for', () => {
  const { clock, emit, text } = setup()
  emit({ type: 'started', run: 'r7', epoch: 1, resumed: false, pods })
  emit({
    type: 'podState',
    uid: 'u1',
    pod: 'web-1',
    from: null,
    to: 'warming',
    waiting: said('not ready: readiness probe failed'),
  })
  const before = text().length
  clock.advance(29_999)
  expect(text().length).toBe(before)
  clock.advance(1)
  expect(text().slice(before)).toBe(
    '2026-03-01T12:00:30Z  still waiting: web-1 warming for 30s: not ready: readiness probe failed; 1 queued\n',
  )
  clock.advance(30_000)
  expect(text().slice(before).split('\n')).toHaveLength(3)
})

test('the silence before a run begins is broken too', () => {
  const { clock, emit, text } = setup()
  clock.advance(30_000)
  expect(text()).toBe('2026-03-01T12:00:30Z  still at work\n')
  emit({ type: 'leaseWaiting', lease: 'l', holder: 'h', remainingMs: 60_000 })
  clock.advance(30_000)
  expect(text().split('\n').at(-2)).toBe(
    '2026-03-01T12:01:00Z  still: the Lease l is held by h: waiting 30s for a sign of life before taking over',
  )
})

test('after the end there is no heartbeat', () => {
  const { clock, renderer, text } = setup()
  renderer.close()
  clock.advance(100_000)
  expect(text()).toBe('')
})

test('hostile text stays on its line', () => {
  const { emit, text } = setup()
  emit({ type: 'warning', reason: said('a\nb\u001b[31mc\r\u2028d'), pod: 'p\u0007' })
  expect(text()).toBe('2026-03-01T12:00:00Z  warning: p\\u0007: a b\\u001b[31mc \\u2028d\n')
})

test('the last word: how it ended, what is wrong with which pod, and what to type next', () => {
  const { renderer, text } = setup()
  const result = runResult({
    outcome: 'needsOperator',
    reason: said('1 pod cannot be judged'),
    pods: [
      podResult({ pod: 'web-2', outcome: 'upgraded' }),
      podResult({
        pod: 'web-1',
        outcome: 'needsOperator',
        reason: said('edge does not answer'),
        deadline: 'restore',
        traffic: 'out',
        advice: [
          { code: 'look-at-pod', commands: [{ command: 'kubectl', namespace: 'shop', args: ['describe', 'pod', 'web-1'] }] },
          { code: 'run-again' },
        ],
      }),
      podResult({ pod: 'web-0', outcome: 'unchanged' }),
    ],
  })
  renderer.finish(
    runReport({
      result,
      plan: samplePlan,
      exitCode: 8,
      startedAt: 'a',
      finishedAt: 'b',
      warnings: [],
      next: [goOn('sluice upgrade sts/web')],
    }),
  )
  expect(text()).toBe(`
A person has to look: 1 pod cannot be judged
Pods: 1 upgraded, 1 unchanged, 1 in need of an operator

web-1 (in need of an operator, restore deadline, out of rotation): edge does not answer
  Look at the pod:
    kubectl -n shop describe pod web-1
  Once the cause is gone, run the same command again: it reads what is there, and goes on. An entry that was put back by hand is left so.

To go on from here:
  sluice upgrade sts/web
`)
})
