import { afterEach, expect, test } from 'vitest'
import type { Service } from '../../endpoints/objects.ts'
import { systemClock } from '../../ports/system.ts'
import { serve, type Served } from '../../server/serve.ts'
import { ask, connectRaw } from '../../server/testing/ask.ts'
import type { ClusterView } from '../cluster/cluster-view.ts'
import type { Answer, Question } from '../decide/question.ts'
import type { RuleSet } from '../rules/rule-set.ts'
import type { Answered, WaitOutcome } from './admission-event.ts'
import { type AdmissionRoutesOptions, admissionRoutes } from './routes.ts'
import { review, type ReviewOptions } from './testing/review.ts'

const RULES: RuleSet = { version: 'v7', mode: 'enforce', rules: [] }
const slice = { metadata: { name: 'web-abc', namespace: 'shop', annotations: { mine: 'x' } }, endpoints: [{ ready: true }] }
const isNotReady = { path: '/endpoints/0/ready', op: 'replace' as const, value: false }

let served: Served
const told: Answered[] = []
afterEach(async () => {
  await served.close({ graceMs: 0 })
  told.length = 0
})

/** Decides that the first endpoint is not ready. */
function answerOf({ rules, kind, object }: Question, change: Partial<Answer> = {}): Answer {
  const state = (ready: boolean) => ({ ready, serving: ready })
  return {
    decision: {
      kind,
      namespace: 'shop',
      name: 'web-abc',
      service: 'web',
      ruleSet: rules.version,
      mode: rules.mode,
      endpoints: [{ addresses: ['10.0.0.1'], wished: state(true), as: state(false), rule: 'r', effect: 'notReady', failed: [] }],
      total: 1,
      unseenPods: 0,
    },
    object,
    patch: rules.mode === 'audit' ? [] : [isNotReady],
    equalsOld: false,
    ...change,
  }
}

async function start(
  options: Partial<AdmissionRoutesOptions> = {},
  explain?: string,
  selector: Record<string, string> = { app: 'web' },
): Promise<void> {
  const service = {
    metadata: { annotations: explain === undefined ? {} : { 'sluice.dev/explain': explain } },
    spec: { selector },
  } as unknown as Service
  const routes = admissionRoutes({
    scope: { namespaces: new Set(['shop']), own: 'sluice-system' },
    cluster: { service: () => service } as unknown as ClusterView,
    rules: () => RULES,
    isListed: () => true,
    isStale: () => false,
    decide: answerOf,
    waits: { settle: () => undefined },
    warningOf: ({ code }) => code,
    mayFreeze: () => false,
    clock: systemClock,
    // A busy machine is no overload here.
    busyMs: 60_000,
    onAnswered: (one) => told.push(one),
    ...options,
  })
  served = await serve({ listen: '127.0.0.1:0', notReady: () => [], routes })
}

interface Reviewed {
  uid: string
  allowed: boolean
  patch?: string
  warnings?: string[]
  auditAnnotations?: Record<string, string>
}

async function admit(options: ReviewOptions = {}, query = ''): Promise<Reviewed & { operations: unknown }> {
  const body = JSON.stringify(review({ object: slice, oldObject: slice, ...options }))
  const answer = await ask(`${served.url}/admit${query}`, { method: 'POST', body })
  expect(answer.status).toBe(200)
  const { apiVersion, kind, response } = JSON.parse(answer.body) as { apiVersion: string; kind: string; response: Reviewed }
  expect([apiVersion, kind, response.allowed]).toEqual(['admission.k8s.io/v1', 'AdmissionReview', true])
  const { patch } = response
  return { ...response, operations: patch === undefined ? undefined : JSON.parse(Buffer.from(patch, 'base64').toString()) }
}

test('a write gets the patch of the rules, and the audit log the decision', async () => {
  await start()
  const { uid, operations, warnings, auditAnnotations } = await admit({ uid: 'u-9' })
  expect([uid, operations, warnings, auditAnnotations]).toEqual([
    'u-9',
    [isNotReady],
    undefined,
    { decision: 'v7: r=notReady 10.0.0.1' },
  ])
  expect(told).toMatchObject([{ result: 'changed', request: { uid: 'u-9', name: 'web' } }])
  expect(told[0]!.tookMs).toBeGreaterThan(0)
})

test('a body without a length is read whole', async () => {
  await start()
  const body = JSON.stringify(review({ object: slice, oldObject: slice }))
  const answer = await ask(`${served.url}/admit`, { method: 'POST', body, headers: { 'transfer-encoding': 'chunked' } })
  expect([answer.status, told]).toMatchObject([200, [{ result: 'changed' }]])
})

test('a person sees the decision as a warning, and a controller does not', async () => {
  await start()
  expect((await admit({ username: 'jane', dryRun: true })).warnings).toEqual(['decided'])
  expect((await admit({ username: 'system:kube-controller-manager' })).warnings).toBeUndefined()
})

test('mode audit changes nothing, and says what it would', async () => {
  await start({ rules: () => ({ ...RULES, mode: 'audit' }) }, 'true')
  const { patch, auditAnnotations } = await admit()
  expect([patch, auditAnnotations]).toEqual([undefined, { decision: 'v7 audit: r=notReady 10.0.0.1' }])
  expect(told).toMatchObject([{ result: 'audited', decision: { mode: 'audit' } }])
})

test('a decision over its time is cut off, and the write goes on with a warning', async () => {
  const slow = (question: Question): Answer => {
    for (;;) question.assertInTime!()
  }
  await start({ decide: slow, budgetMs: 30 })
  expect(await admit()).toMatchObject({ uid: 'u-1', warnings: ['decision-cut-off'], operations: undefined })
  // Half of the time that the API server waits is less.
  await served.close({ graceMs: 0 })
  await start({ decide: slow, budgetMs: 600_000 })
  expect(await admit({}, '?timeout=1s')).toMatchObject({ warnings: ['decision-cut-off'] })
  expect(told.map(({ result }) => result)).toEqual(['cut-off', 'cut-off'])
  expect(told[1]!.tookMs).toBeGreaterThan(499)
})

test('a decision that fails lets the write through', async () => {
  const error = new Error('no path')
  await start({
    decide: () => {
      throw error
    },
  })
  expect(await admit()).toMatchObject({ warnings: ['decision-failed'], operations: undefined })
  expect(told).toMatchObject([{ result: 'failed', error }])
})

test.each<[string, Partial<AdmissionRoutesOptions>, ReviewOptions, string]>([
  ['another namespace', {}, { namespace: 'other' }, 'namespace'],
  ['a delete', {}, { operation: 'DELETE' }, 'operation'],
  ['before rules are loaded', { rules: () => undefined }, {}, 'not-ready'],
  ['before the cluster is listed', { isListed: () => false }, {}, 'not-ready'],
  ['while the cluster has not been current for long', { isStale: () => true }, {}, 'stale'],
])('%s is allowed, and not decided', async (_, options, asked, skipped) => {
  const decide = (): Answer => expect.unreachable()
  await start({ decide, ...options })
  expect(await admit(asked)).toEqual({ uid: 'u-1', allowed: true, operations: undefined })
  expect(told).toMatchObject([{ result: 'skipped', skipped }])
})

test('one answer rests on one version of the rules, whatever comes in between', async () => {
  let asked = 0
  const versions = new Set<string>()
  const decide = (question: Question): Answer => {
    versions.add(question.rules.version)
    return answerOf(question)
  }
  await start({ rules: () => ({ ...RULES, version: `v${++asked}` }), decide })
  const { auditAnnotations } = await admit()
  expect([[...versions], auditAnnotations]).toEqual([[`v${asked}`], { decision: `v${asked}: r=notReady 10.0.0.1` }])
})

test('a request waits for the pods that it tells of, and is decided by the rules that are in force after that', async () => {
  let version = 'v1'
  let seen: (outcome: WaitOutcome) => void = () => {}
  const asked: number[] = []
  const settle: AdmissionRoutesOptions['waits']['settle'] = (_request, _rules, longestMs) => {
    asked.push(longestMs)
    return new Promise((resolve) => (seen = resolve))
  }
  await start({ rules: () => ({ ...RULES, version }), waits: { settle }, budgetMs: 60_000 })
  const waiting = admit()
  await expect.poll(() => asked.length).toBe(1)
  version = 'v2'
  seen('timed-out')
  expect((await waiting).auditAnnotations).toEqual({ decision: 'v2: r=notReady 10.0.0.1' })
  expect(told).toMatchObject([{ result: 'changed', waited: { outcome: 'timed-out' } }])
  // At most 200 ms, and half of the time that is left.
  const short = admit({}, '?timeout=1s')
  await expect.poll(() => asked.length).toBe(2)
  seen('seen')
  await short
  expect(asked.map((ms) => ms <= 200)).toEqual([true, true])
})

test('rules that are gone after the wait leave the write as it is', async () => {
  let inForce: RuleSet | undefined = RULES
  const settle = async (): Promise<WaitOutcome> => {
    inForce = undefined
    return 'seen'
  }
  await start({ rules: () => inForce, waits: { settle } })
  expect(await admit()).toEqual({ uid: 'u-1', allowed: true, operations: undefined })
  expect(told).toMatchObject([{ result: 'skipped', skipped: 'not-ready' }])
})

const explained = (value: string): object => ({
  ...slice,
  metadata: { ...slice.metadata, annotations: { 'sluice.dev/decision': value } },
})

test('a Service that asks gets each decision as an annotation, which goes once it no longer asks', async () => {
  await start({}, 'true')
  const path = '/metadata/annotations/sluice.dev~1decision'
  expect((await admit()).operations).toEqual([isNotReady, { op: 'add', path, value: 'v7: r=notReady 10.0.0.1' }])
  const { annotations: _, ...bare } = slice.metadata
  const add = { op: 'add', path: '/metadata/annotations', value: { 'sluice.dev/decision': 'v7: r=notReady 10.0.0.1' } }
  expect((await admit({ object: { ...slice, metadata: bare } })).operations).toEqual([isNotReady, add])
  expect((await admit({ object: explained('v7: r=notReady 10.0.0.1') })).operations).toEqual([isNotReady])
  await served.close({ graceMs: 0 })
  await start({}, 'false')
  expect((await admit({ object: explained('v7: r=notReady 10.0.0.1') })).operations).toEqual([isNotReady, { op: 'remove', path }])
})

const MARK = 'sluice.dev/rules-applied'
const MARK_PATH = '/metadata/annotations/sluice.dev~1rules-applied'
const marked = { ...slice, metadata: { ...slice.metadata, annotations: { mine: 'x', [MARK]: 'true' } } }
const made = (object: typeof slice, more: object = {}): object => ({
  ...object,
  metadata: {
    ...object.metadata,
    ...more,
    labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
  },
})
const nothing = (question: Question): Answer => answerOf(question, { patch: [] })

test('an object of a controller of Kubernetes has a mark while the rules alter it, and no other object has one', async () => {
  const add = { op: 'add', path: MARK_PATH, value: 'true' }
  const remove = { op: 'remove', path: MARK_PATH }
  await start()
  expect((await admit({ object: made(slice) })).operations).toEqual([isNotReady, add])
  expect((await admit({ object: made(marked) })).operations).toEqual([isNotReady])
  expect((await admit({ kind: 'Endpoints' })).operations).toEqual([isNotReady, add])
  // A slice of another controller, which may compare the annotations.
  expect((await admit()).operations).toEqual([isNotReady])
  expect((await admit({ object: marked })).operations).toEqual([isNotReady])
  await served.close({ graceMs: 0 })
  await start({ decide: nothing })
  expect((await admit({ object: made(marked) })).operations).toEqual([remove])
  expect((await admit({ object: made(slice) })).operations).toBeUndefined()
  await served.close({ graceMs: 0 })
  // In mode audit nothing is altered.
  await start({ rules: () => ({ ...RULES, mode: 'audit' }) })
  told.length = 0
  expect((await admit({ object: made(marked) })).operations).toEqual([remove])
  expect((await admit({ object: made(slice) })).operations).toBeUndefined()
  expect(told).toMatchObject([{ result: 'audited' }, { result: 'audited' }])
  await served.close({ graceMs: 0 })
  // Endpoints of a Service without a selector are mirrored with their annotations.
  await start({}, undefined, {})
  expect((await admit({ kind: 'Endpoints' })).operations).toEqual([isNotReady])
})

test('an object without annotations gets the mark and the decision by one operation', async () => {
  await start({}, 'true')
  const value = { [MARK]: 'true', 'sluice.dev/decision': 'v7: r=notReady 10.0.0.1' }
  const bare = made(slice, { annotations: undefined })
  expect((await admit({ object: bare })).operations).toEqual([isNotReady, { op: 'add', path: '/metadata/annotations', value }])
})

test('freeze (1.28.12 to 1.28.14, 1.29.7 to 1.29.9, 1.30.3 to 1.30.5, 1.31.0, 1.31.1): an update of Endpoints that the patch turns into nothing still moves the resourceVersion', async () => {
  const moved = [isNotReady, { op: 'add', path: '/metadata/annotations/sluice.dev~1write', value: 'u-1' }]
  const noop = (question: Question): Answer => answerOf(question, { equalsOld: true })
  await start({ decide: noop, mayFreeze: () => true })
  expect((await admit({ kind: 'Endpoints', object: marked })).operations).toEqual(moved)
  expect(told).toMatchObject([{ isMoved: true }])
  // A mark that is new moves it, too.
  expect((await admit({ kind: 'Endpoints' })).operations).toEqual([isNotReady, { op: 'add', path: MARK_PATH, value: 'true' }])
  // The controller of EndpointSlices goes by the generation, and does not wait.
  expect((await admit({ object: made(marked) })).operations).toEqual([isNotReady])
  await served.close({ graceMs: 0 })
  await start({ decide: noop, mayFreeze: () => false })
  expect((await admit({ kind: 'Endpoints', object: marked })).operations).toEqual([isNotReady])
  await served.close({ graceMs: 0 })
  await start({ mayFreeze: () => true })
  expect((await admit({ kind: 'Endpoints', object: marked })).operations).toEqual([isNotReady])
})

test('a server with more requests than it can answer allows the rest at once, by their uid', async () => {
  const busy = (question: Question): Answer => {
    for (const until = performance.now() + 20; performance.now() < until;) question.assertInTime!()
    return answerOf(question)
  }
  await start({ decide: busy, busyMs: 100, budgetMs: 10_000 })
  const uids = Array.from({ length: 40 }, (_, index) => `u-${index}`)
  const answers = await Promise.all(uids.map((uid) => admit({ uid })))
  expect(answers.map(({ uid }) => uid)).toEqual(uids)
  const shed = told.filter(({ result }) => result === 'shed').length
  expect(shed).toBeGreaterThan(0)
  expect(answers.filter(({ patch }) => patch === undefined)).toHaveLength(shed)
  // Afterwards the server decides again.
  await expect.poll(async () => (await admit()).patch).toBeDefined()
})

test('bodies that do not end take no place of the others', async () => {
  await start()
  const slow = await Promise.all(Array.from({ length: 100 }, () => connectRaw(served.port)))
  for (const { socket } of slow) socket.write('POST /admit HTTP/1.1\r\nhost: a\r\ncontent-length: 999\r\n\r\n{"kind"')
  expect((await admit()).patch).toBeDefined()
  expect(told).toMatchObject([{ result: 'changed' }])
  for (const { socket } of slow) socket.destroy()
})

test('a body without room is allowed undecided, and the next one is decided', async () => {
  await start({ mostBodyBytes: 1_000_000 })
  const large = { ...slice, filler: 'x'.repeat(2_000_000) }
  expect(await admit({ uid: 'u-large', object: large })).toMatchObject({ uid: 'u-large', operations: undefined })
  expect(told).toMatchObject([{ result: 'shed' }])
  expect((await admit()).patch).toBeDefined()
})

test.each([
  ['no JSON', 'what', 400],
  ['no review', '{}', 400],
  ['nested without end', '['.repeat(1_000_000), 400],
  ['5 MB', JSON.stringify(review({ object: { filler: 'x'.repeat(5_000_000) } })), 413],
])('a body with %s is refused, and the server goes on', async (_, body, status) => {
  await start()
  expect((await ask(`${served.url}/admit`, { method: 'POST', body })).status).toBe(status)
  expect((await admit()).operations).toEqual([isNotReady])
})
