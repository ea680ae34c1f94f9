import { expect, test } from 'vitest'
import type { KubeError } from './errors.ts'
import { field } from './json.ts'
import { createKubeClient } from './kube-client.ts'
import { createReflector, type ObjectRecord, ReflectorError, type ReflectorEvent } from './reflector.ts'
import { createScriptedTransport, type Incoming } from './testing/scripted-transport.ts'
import { createVirtualClock } from './testing/virtual-clock.ts'

const PATH = '/api/v1/namespaces/default/pods'

interface PodRecord extends ObjectRecord {
  image: string
}

function decode(raw: unknown): PodRecord {
  const metadata = field(raw, 'metadata') as ObjectRecord
  const image = field(field(raw, 'spec'), 'image')
  if (typeof image !== 'string') throw new Error('no image')
  const { uid, name, namespace, resourceVersion } = metadata
  return { uid, name, namespace, resourceVersion, image }
}

function pod(name: string, version: number, uid = name, image = 'v1') {
  return { metadata: { uid, name, namespace: 'default', resourceVersion: String(version) }, spec: { image } }
}

function listOf(version: number, items: unknown[], next?: string) {
  return { kind: 'PodList', metadata: { resourceVersion: String(version), continue: next }, items }
}

function bookmark(version: number) {
  return { type: 'BOOKMARK', object: { metadata: { resourceVersion: String(version) } } }
}

function errorEvent(code: number) {
  return { type: 'ERROR', object: { kind: 'Status', code, reason: 'Some', message: 'it ended' } }
}

/** An event as text, such as `added web-0@5`. */
function show({ type, record }: ReflectorEvent<PodRecord>): string {
  return `${type} ${record.uid}@${record.resourceVersion}`
}

function setUp(overrides: { onEvent?: (event: ReflectorEvent<PodRecord>) => void; random?: number; known?: unknown[] } = {}) {
  const clock = createVirtualClock()
  const transport = createScriptedTransport(clock)
  const random = { next: () => overrides.random ?? 0.5 }
  const client = createKubeClient({ transport, clock, random })
  const events: string[] = []
  const errors: { error: Error; lasting: boolean }[] = []
  const told: boolean[] = []
  const reflector = createReflector({
    client,
    clock,
    random,
    path: PATH,
    labelSelector: 'app=web',
    ...(overrides.known && { known: overrides.known.map(decode) }),
    decode,
    onEvent: (event) => {
      events.push(show(event))
      overrides.onEvent?.(event)
    },
    onError: (error, lasting) => errors.push({ error, lasting }),
    onCurrent: (isCurrent) => told.push(isCurrent),
  })
  /** The events since the last call. */
  const taken = () => events.splice(0)
  const problems = () => errors.map(({ error }) => (error instanceof ReflectorError ? error.problem : (error as KubeError).kind))
  const known = () => [...reflector.records().values()].map(({ uid, resourceVersion }) => `${uid}@${resourceVersion}`)

  async function next(kind: 'list' | 'watch'): Promise<Incoming> {
    const incoming = await transport.next()
    expect([incoming.path, incoming.stream]).toEqual([PATH, kind === 'watch'])
    return incoming
  }

  /** Answers the list with `items`, and returns the watch that follows. */
  async function startWith(version: number, items: unknown[]): Promise<Incoming> {
    const started = reflector.start()
    ;(await next('list')).answer(200, listOf(version, items))
    await started
    return next('watch')
  }

  const sight = () => told
  return { clock, transport, reflector, events, errors, problems, taken, known, next, startWith, sight }
}

test('lists consistently in pages, then watches from the version of the list', async () => {
  const { reflector, next, taken, known } = setUp()
  const started = reflector.start()
  const first = await next('list')
  expect(Object.fromEntries(first.query)).toEqual({ labelSelector: 'app=web', limit: '500' })
  first.answer(200, listOf(9, [pod('a', 1), pod('b', 2)], 'more'))
  const second = await next('list')
  expect(Object.fromEntries(second.query)).toEqual({ labelSelector: 'app=web', limit: '500', continue: 'more' })
  expect(taken()).toEqual([])
  second.answer(200, listOf(9, [pod('c', 3)]))
  await started
  expect(taken()).toEqual(['added a@1', 'added b@2', 'added c@3'])
  expect(known()).toEqual(['a@1', 'b@2', 'c@3'])
  const watch = await next('watch')
  expect(Object.fromEntries(watch.query)).toEqual({
    labelSelector: 'app=web',
    watch: 'true',
    allowWatchBookmarks: 'true',
    resourceVersion: '9',
    timeoutSeconds: '360',
  })
  await reflector.stop()
})

test('an expired page makes it one list without pages', async () => {
  const { reflector, next, taken } = setUp()
  const started = reflector.start()
  ;(await next('list')).answer(200, listOf(9, [pod('a', 1)], 'more'))
  ;(await next('list')).answer(410, { kind: 'Status', reason: 'Expired' })
  const whole = await next('list')
  expect(Object.fromEntries(whole.query)).toEqual({ labelSelector: 'app=web' })
  whole.answer(200, listOf(12, [pod('a', 10), pod('b', 11)]))
  await started
  expect(taken()).toEqual(['added a@10', 'added b@11'])
  await reflector.stop()
})

test('the server is asked to close each watch after 240 to 480 s', async () => {
  for (const [random, timeoutSeconds] of [
    [0, '240'],
    [0.999, '479'],
  ] as const) {
    const { reflector, startWith } = setUp({ random })
    expect((await startWith(9, [])).query.get('timeoutSeconds')).toBe(timeoutSeconds)
    await reflector.stop()
  }
})

test('the watch tells each change, and the first sight of an object as added', async () => {
  const { startWith, taken, known, reflector } = setUp()
  const watch = await startWith(9, [pod('a', 1)])
  taken()
  watch.line({ type: 'MODIFIED', object: pod('a', 10) })
  watch.line({ type: 'ADDED', object: pod('b', 11) })
  watch.line({ type: 'MODIFIED', object: pod('b', 12) })
  watch.line({ type: 'DELETED', object: pod('a', 13) })
  expect(taken()).toEqual(['modified a@10', 'added b@11', 'modified b@12', 'deleted a@13'])
  expect(known()).toEqual(['b@12'])
  await reflector.stop()
})

test('a watch that ends is resumed from the last version, bookmarks included', async () => {
  for (const [how, ended] of [
    ['in order', []],
    ['by a reset', ['ambiguous']],
    ['by an error of the server', ['server']],
  ] as const) {
    const { startWith, next, taken, problems, reflector } = setUp()
    const first = await startWith(9, [pod('a', 1)])
    taken()
    first.line({ type: 'MODIFIED', object: pod('a', 10) })
    first.line(bookmark(20))
    if (how === 'in order') first.end()
    if (how === 'by a reset') first.fail(true)
    if (how === 'by an error of the server') first.line(errorEvent(500))
    const second = await next('watch')
    expect(second.query.get('resourceVersion')).toBe('20')
    second.line({ type: 'MODIFIED', object: pod('a', 21) })
    expect(taken()).toEqual(['modified a@10', 'modified a@21'])
    expect(problems()).toEqual(ended)
    await reflector.stop()
  }
})

test('410 makes it list again: the difference is by uid', async () => {
  for (const how of ['as status', 'in the stream'] as const) {
    const { startWith, next, taken, errors, known, reflector } = setUp()
    const watch = await startWith(9, [pod('same', 1), pod('changed', 2), pod('gone', 3), pod('web-0', 4, 'old')])
    taken()
    if (how === 'as status') watch.answer(410, { kind: 'Status', reason: 'Expired' })
    else watch.line(errorEvent(410))
    ;(await next('list')).answer(
      200,
      listOf(30, [pod('same', 1), pod('changed', 20), pod('new', 21), pod('web-0', 22, 'reborn')]),
    )
    const second = await next('watch')
    expect(taken()).toEqual(['deleted gone@3', 'deleted old@4', 'modified changed@20', 'added new@21', 'added reborn@22'])
    expect(known()).toEqual(['same@1', 'changed@20', 'new@21', 'reborn@22'])
    expect(errors.map(({ lasting }) => lasting)).toEqual([false])
    second.line({ type: 'MODIFIED', object: pod('same', 31) })
    second.line({ type: 'MODIFIED', object: pod('changed', 32) })
    expect(taken()).toEqual(['modified same@31', 'modified changed@32'])
    await reflector.stop()
  }
})

test('after a restore of etcd, a list replaces newer records, and the watch goes on from its version', async () => {
  const { startWith, next, taken, known, reflector } = setUp()
  const watch = await startWith(90, [pod('same', 1), pod('changed', 5), pod('deleted', 6), pod('reused', 7)])
  watch.line({ type: 'MODIFIED', object: pod('changed', 91) })
  watch.line({ type: 'DELETED', object: pod('deleted', 92) })
  watch.line({ type: 'ADDED', object: pod('made', 93) })
  watch.line({ type: 'MODIFIED', object: pod('reused', 94, 'reused', 'v2') })
  reflector.observe(pod('answered', 95))
  taken()
  watch.line(errorEvent(410))
  ;(await next('list')).answer(
    200,
    listOf(60, [pod('same', 1), pod('changed', 5), pod('deleted', 6), pod('reused', 94, 'reused', 'v3')]),
  )
  const second = await next('watch')
  expect(second.query.get('resourceVersion')).toBe('60')
  expect(known()).toEqual(['same@1', 'changed@5', 'reused@94', 'deleted@6'])
  expect(reflector.records().get('reused')).toMatchObject({ image: 'v3' })
  expect(taken()).toEqual([
    'deleted made@93',
    'deleted answered@95',
    'modified same@1',
    'modified changed@5',
    'added deleted@6',
    'modified reused@94',
  ])
  second.line({ type: 'MODIFIED', object: pod('changed', 61) })
  second.line({ type: 'DELETED', object: pod('deleted', 62) })
  reflector.observe(pod('same', 63))
  second.line({ type: 'MODIFIED', object: pod('same', 63) })
  expect(taken()).toEqual(['modified changed@61', 'deleted deleted@62', 'modified same@63'])
  await reflector.stop()
})

test('after a restore of etcd, the first list replaces newer records that are known from elsewhere', async () => {
  const { reflector, next, taken, known } = setUp({ known: [pod('same', 50), pod('changed', 91), pod('made', 93)] })
  const started = reflector.start()
  ;(await next('list')).answer(200, listOf(60, [pod('same', 50), pod('changed', 5)]))
  await started
  expect(known()).toEqual(['same@50', 'changed@5'])
  expect(taken()).toEqual(['deleted made@93', 'added same@50', 'added changed@5'])
  await reflector.stop()
})

test('after a restore with a raised revision, a list shows records that are older than the known ones', async () => {
  const { startWith, next, taken, known, reflector } = setUp()
  const watch = await startWith(90, [pod('changed', 5), pod('answered', 6)])
  watch.line({ type: 'MODIFIED', object: pod('changed', 91) })
  taken()
  watch.line(errorEvent(410))
  const list = await next('list')
  // The answer of a write on the new history comes while the list is under way.
  reflector.observe(pod('answered', 1002))
  list.answer(200, listOf(1000, [pod('changed', 5), pod('answered', 6)]))
  await next('watch')
  expect(taken()).toEqual(['modified changed@5'])
  expect(known()).toEqual(['changed@5', 'answered@1002'])
  await reflector.stop()
})

test('a recreated object is another one', async () => {
  const { startWith, taken, reflector } = setUp()
  const watch = await startWith(9, [pod('web-0', 1, 'first')])
  taken()
  watch.line({ type: 'DELETED', object: pod('web-0', 10, 'first') })
  watch.line({ type: 'ADDED', object: pod('web-0', 11, 'second') })
  expect(taken()).toEqual(['deleted first@10', 'added second@11'])
  await reflector.stop()
})

test('what the watch replays is dropped', async () => {
  const { startWith, taken, known, reflector } = setUp()
  const watch = await startWith(9, [pod('a', 8)])
  taken()
  watch.line({ type: 'MODIFIED', object: pod('a', 100) })
  watch.line({ type: 'MODIFIED', object: pod('a', 99) })
  watch.line({ type: 'MODIFIED', object: pod('a', 100) })
  watch.line({ type: 'ADDED', object: pod('a', 8) })
  watch.line({ type: 'DELETED', object: pod('a', 50) })
  expect(taken()).toEqual(['modified a@100'])
  watch.line({ type: 'DELETED', object: pod('a', 101) })
  watch.line({ type: 'MODIFIED', object: pod('a', 100) })
  watch.line({ type: 'DELETED', object: pod('a', 101) })
  expect(taken()).toEqual(['deleted a@101'])
  expect(known()).toEqual([])
  await reflector.stop()
})

test('versions that an answer has overtaken are no events: the clock is never turned back', async () => {
  const { startWith, taken, known, reflector } = setUp()
  const watch = await startWith(9, [pod('a', 8)])
  taken()
  expect(reflector.observe(pod('a', 12)).resourceVersion).toBe('12')
  expect([taken(), known()]).toEqual([[], ['a@12']])
  watch.line({ type: 'MODIFIED', object: pod('a', 10) })
  watch.line({ type: 'MODIFIED', object: pod('a', 11) })
  expect([taken(), known()]).toEqual([[], ['a@12']])
  watch.line({ type: 'MODIFIED', object: pod('a', 12) })
  watch.line({ type: 'MODIFIED', object: pod('a', 13) })
  expect([taken(), known()]).toEqual([['modified a@12', 'modified a@13'], ['a@13']])
  // A late answer changes nothing.
  expect(reflector.observe(pod('a', 11)).resourceVersion).toBe('13')
  await reflector.stop()
})

test('an answer that comes after the deletion does not bring the object back', async () => {
  const { startWith, known, reflector } = setUp()
  const watch = await startWith(9, [pod('a', 8)])
  watch.line({ type: 'DELETED', object: pod('a', 11) })
  expect(reflector.observe(pod('a', 10)).resourceVersion).toBe('10')
  expect(known()).toEqual([])
  // A newer version means that the object is in the selection again.
  reflector.observe(pod('a', 12))
  expect(known()).toEqual(['a@12'])
  await reflector.stop()
})

test('an object that was made while the list was under way is not taken for deleted', async () => {
  const { startWith, next, taken, known, reflector } = setUp()
  const watch = await startWith(9, [])
  watch.line(errorEvent(410))
  const list = await next('list')
  reflector.observe(pod('made', 31))
  reflector.observe(pod('gone', 29))
  list.answer(200, listOf(30, []))
  const second = await next('watch')
  expect([taken(), known()]).toEqual([['deleted gone@29'], ['made@31']])
  second.line({ type: 'ADDED', object: pod('made', 31) })
  expect(taken()).toEqual(['added made@31'])
  await reflector.stop()
})

test('a line that cannot be read makes it list again, since an event may be lost with it', async () => {
  for (const line of [
    '{"type":"MODIF',
    '[]',
    '{"type":"NEW","object":{}}',
    '{"type":"BOOKMARK","object":{}}',
    '{"type":"ADDED"}',
  ]) {
    const { startWith, next, taken, problems, reflector } = setUp()
    const watch = await startWith(9, [pod('a', 1)])
    taken()
    watch.line(line)
    // Later lines are ignored, because they would move the version past the lost event.
    watch.line({ type: 'MODIFIED', object: pod('a', 11) })
    ;(await next('list')).answer(200, listOf(12, [pod('a', 11)]))
    await next('watch')
    expect(taken()).toEqual(['modified a@11'])
    expect(problems()).toEqual(['malformed'])
    await reflector.stop()
  }
})

test('an object that cannot be read stops no other', async () => {
  const { startWith, taken, problems, known, reflector } = setUp()
  const watch = await startWith(9, [pod('a', 1), pod('b', 2), pod('c', 3)])
  taken()
  watch.line({ type: 'MODIFIED', object: { metadata: { uid: 'a', resourceVersion: '10' } } })
  watch.line({ type: 'MODIFIED', object: pod('a', 11) })
  watch.line({ type: 'MODIFIED', object: pod('b', 12) })
  watch.line({ type: 'MODIFIED', object: pod('a', 13) })
  watch.line({ type: 'DELETED', object: { metadata: { uid: 'c', resourceVersion: '14' } } })
  expect(taken()).toEqual(['modified a@11', 'modified b@12', 'modified a@13', 'deleted c@3'])
  expect(problems()).toEqual(['malformed', 'malformed'])
  expect(known()).toEqual(['a@13', 'b@12'])
  await reflector.stop()
})

test('an object that cannot be read in a list is neither gone nor known', async () => {
  const { startWith, next, taken, problems, known, reflector } = setUp()
  const broken = { metadata: { uid: 'a', resourceVersion: '20' } }
  const watch = await startWith(9, [pod('a', 1)])
  taken()
  watch.line(errorEvent(410))
  ;(await next('list')).answer(200, listOf(30, [broken]))
  const second = await next('watch')
  expect([taken(), known(), problems()]).toEqual([[], ['a@1'], ['expired', 'malformed']])
  second.line({ type: 'MODIFIED', object: pod('a', 31) })
  expect(taken()).toEqual(['modified a@31'])
  await reflector.stop()
})

test('a watch without a line for 90 s is resumed; bookmarks keep it', async () => {
  const { startWith, next, taken, problems, clock, transport, reflector } = setUp()
  const watch = await startWith(9, [pod('a', 1)])
  watch.open()
  taken()
  for (const version of [20, 30, 40]) {
    await clock.advance(60_000)
    watch.line(bookmark(version))
  }
  await clock.advance(89_999)
  expect(transport.waiting()).toBe(0)
  expect(watch.request.signal?.aborted).toBe(false)
  const second = await next('watch')
  expect(watch.request.signal?.aborted).toBe(true)
  expect(second.query.get('resourceVersion')).toBe('40')
  expect(problems()).toEqual(['quiet'])
  second.line({ type: 'MODIFIED', object: pod('a', 41) })
  watch.line({ type: 'MODIFIED', object: pod('a', 42) })
  expect(taken()).toEqual(['modified a@41'])
  await reflector.stop()
})

test('failures in a row wait longer and longer, up to 5 s; a watch that lived ends the row', async () => {
  const { startWith, next, clock, reflector } = setUp({ random: 1 })
  let request = await startWith(9, [])
  const waits: number[] = []
  for (let failure = 1; failure <= 7; failure += 1) {
    const failedAt = clock.now()
    request.fail(false)
    // After a break of 2 s the missed events come by a list, not one by one.
    request = await next(failure <= 3 ? 'watch' : 'list')
    waits.push(clock.now() - failedAt)
  }
  expect(waits).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000])
  request.answer(200, listOf(9, []))
  const watch = await next('watch')
  await clock.advance(10_000)
  watch.fail(true)
  const failedAt = clock.now()
  await next('watch')
  expect(clock.now() - failedAt).toBe(250)
  await reflector.stop()
})

test.each([
  [20, 20_000],
  [86_400, 90_000],
])('a server that asks to come back in %i s is asked again after %i ms', async (seconds, expectedMs) => {
  const { startWith, next, clock } = setUp()
  const watch = await startWith(10, [])
  const startedAt = clock.now()
  watch.answer(503, { kind: 'Status', message: 'maintenance' }, { 'retry-after': String(seconds) })
  // After a break of that length the reflector lists.
  await next('list')
  expect(clock.now() - startedAt).toBe(expectedMs)
})

test('it is current with a list, and where a watch broke once one has gone on for a moment', async () => {
  const { startWith, next, clock, reflector, sight } = setUp()
  expect(reflector.isCurrent()).toBe(false)
  ;(await startWith(9, [])).fail(false)
  await clock.settle()
  expect(reflector.isCurrent()).toBe(false)
  ;(await next('watch')).fail(false)
  const watch = await next('watch')
  await clock.advance(1_000)
  // The watch has no answer yet.
  expect(reflector.isCurrent()).toBe(false)
  watch.open()
  await clock.advance(999)
  expect(reflector.isCurrent()).toBe(false)
  await clock.advance(1)
  expect([reflector.isCurrent(), sight()]).toEqual([true, [true, false, true]])
  await reflector.stop()
})

test('a watch that the server closes in order is no break', async () => {
  const { startWith, next, clock, reflector, sight } = setUp()
  const watch = await startWith(9, [])
  watch.open()
  await clock.advance(10_000)
  watch.end()
  ;(await next('watch')).open()
  expect(sight()).toEqual([true])
  await reflector.stop()
})

test('a watch that nobody answers is a break after 10 s, also the first one after a list', async () => {
  const { startWith, next, clock, problems, reflector } = setUp()
  const watch = await startWith(9, [])
  await clock.advance(9_999)
  expect([reflector.isCurrent(), watch.request.signal?.aborted]).toEqual([true, false])
  await clock.advance(1)
  expect([reflector.isCurrent(), watch.request.signal?.aborted, problems()]).toEqual([false, true, ['silent']])
  ;(await next('watch')).open()
  await clock.advance(1_000)
  expect(reflector.isCurrent()).toBe(true)
  await reflector.stop()
})

test('asked anew it lists, whatever the watch does, and says when that is in', async () => {
  const { startWith, next, reflector, known } = setUp()
  await startWith(9, [pod('a', 1)])
  let isIn = false
  const refreshed = reflector.refresh().then(() => (isIn = true))
  // For the other callers the records stay current.
  expect(reflector.isCurrent()).toBe(true)
  ;(await next('list')).fail(false)
  const list = await next('list')
  expect([isIn, reflector.isCurrent()]).toEqual([false, false])
  list.answer(200, listOf(12, [pod('b', 11)]))
  await refreshed
  expect([known(), reflector.isCurrent()]).toEqual([['b@11'], true])
  expect((await next('watch')).query.get('resourceVersion')).toBe('12')
  await reflector.stop()
})

test('asked anew while lists are put off, it goes on with the watch, and says when that has caught up', async () => {
  const { startWith, next, clock, reflector, taken, problems } = setUp()
  await startWith(9, [pod('a', 1)])
  taken()
  let isIn = false
  const refreshed = reflector.refresh().then(() => (isIn = true))
  ;(await next('list')).answer(429, { kind: 'Status', reason: 'TooManyRequests' }, { 'retry-after': '1' })
  const watch = await next('watch')
  expect([watch.query.get('resourceVersion'), reflector.isCurrent(), problems()]).toEqual(['9', false, ['throttled']])
  watch.open()
  watch.line({ type: 'MODIFIED', object: pod('a', 10) })
  await clock.advance(999)
  expect([isIn, taken()]).toEqual([false, ['modified a@10']])
  await clock.advance(1)
  await refreshed
  expect(reflector.isCurrent()).toBe(true)
  // The next refresh requests a list again, and the watch resumes from the version that it has reached.
  void reflector.refresh()
  ;(await next('list')).answer(429, { kind: 'Status', reason: 'TooManyRequests' })
  expect((await next('watch')).query.get('resourceVersion')).toBe('10')
  await reflector.stop()
})

test('watches that break while lists are put off go on, until a list may be asked for again', async () => {
  const { startWith, next, clock, reflector } = setUp({ random: 1 })
  await startWith(9, [pod('a', 1)])
  const refreshed = reflector.refresh()
  ;(await next('list')).answer(429, { kind: 'Status', reason: 'TooManyRequests' }, { 'retry-after': '3' })
  const putOffAt = clock.now()
  ;(await next('watch')).fail(true)
  // The watch does not wait for the Retry-After of the list.
  expect(clock.now() - putOffAt).toBe(250)
  ;(await next('watch')).fail(true)
  ;(await next('watch')).fail(true)
  const list = await next('list')
  expect(clock.now() - putOffAt).toBeGreaterThanOrEqual(3_000)
  list.answer(200, listOf(12, []))
  await refreshed
  expect(reflector.isCurrent()).toBe(true)
  await reflector.stop()
})

test('asked anew again and again while lists are put off, all are told as the watch has caught up', async () => {
  const { startWith, next, clock, reflector } = setUp()
  await startWith(9, [pod('a', 1)])
  const told: number[] = []
  const ask = (which: number): void => void reflector.refresh().then(() => told.push(which))
  ask(1)
  ;(await next('list')).answer(429, { kind: 'Status', reason: 'TooManyRequests' }, { 'retry-after': '60' })
  ;(await next('watch')).open()
  await clock.advance(600)
  ask(2)
  await clock.advance(400)
  // Events from before the call may still be under way.
  expect([told, reflector.isCurrent()]).toEqual([[1], true])
  await clock.advance(1_000)
  expect([told, reflector.isCurrent()]).toEqual([[1, 2], true])
  // A watch that has delivered everything does not delay the answer.
  ask(3)
  ;(await next('watch')).open()
  await clock.advance(1_000)
  expect([told, reflector.isCurrent()]).toEqual([[1, 2, 3], true])
  await reflector.stop()
})

test('where it goes on is kept while the server is away', async () => {
  const { startWith, next, reflector } = setUp({ random: 1 })
  ;(await startWith(9, [pod('a', 1)])).fail(true)
  for (let times = 0; times < 3; times++) (await next('watch')).fail(false)
  ;(await next('list')).fail(false)
  ;(await next('list')).answer(429, { kind: 'Status', reason: 'TooManyRequests' })
  expect((await next('watch')).query.get('resourceVersion')).toBe('9')
  await reflector.stop()
})

// Only a list tells a missing permission from a server that has just started.
test('for a watch that is refused nothing stands in for the list', async () => {
  const { startWith, next, clock, reflector, errors } = setUp()
  ;(await startWith(9, [pod('a', 1)])).answer(403, { kind: 'Status', reason: 'Forbidden' })
  const startedAt = clock.now()
  ;(await next('list')).answer(429, { kind: 'Status', reason: 'TooManyRequests' }, { 'retry-after': '20' })
  ;(await next('list')).answer(200, listOf(12, []))
  expect(clock.now() - startedAt).toBeGreaterThanOrEqual(20_000)
  await next('watch')
  expect(errors.map(({ lasting }) => lasting)).toEqual([false, false])
  await reflector.stop()
})

// A server that has lost its etcd: its watches are open, and deliver nothing.
test('nor does a watch where lists fail otherwise', async () => {
  const { startWith, next, reflector } = setUp()
  await startWith(9, [pod('a', 1)])
  const refreshed = reflector.refresh()
  ;(await next('list')).answer(500, { kind: 'Status', reason: 'InternalError' })
  ;(await next('list')).answer(200, listOf(12, []))
  await refreshed
  expect(reflector.isCurrent()).toBe(true)
  await reflector.stop()
})

test('asked anew while a list is under way, it lists once more', async () => {
  const { next, reflector } = setUp()
  const started = reflector.start()
  const first = await next('list')
  let isIn = false
  const refreshed = reflector.refresh().then(() => (isIn = true))
  first.answer(200, listOf(9, []))
  await started
  expect([isIn, reflector.isCurrent()]).toEqual([false, true])
  ;(await next('list')).answer(200, listOf(10, []))
  await refreshed
  expect(reflector.isCurrent()).toBe(true)
  await reflector.stop()
})

test('whoever has asked anew does not wait for one that is stopped', async () => {
  const { startWith, next, reflector } = setUp()
  await startWith(9, [])
  const refreshed = reflector.refresh()
  await next('list')
  await reflector.stop()
  await expect(Promise.all([refreshed, reflector.refresh()])).resolves.toBeDefined()
})

test('a server that closes each watch at once is not asked in a tight loop', async () => {
  const { startWith, next, clock, problems, reflector } = setUp()
  const watch = await startWith(9, [])
  const closedAt = clock.now()
  watch.end()
  await next('watch')
  expect(clock.now()).toBeGreaterThan(closedAt)
  expect(problems()).toEqual(['closed'])
  await reflector.stop()
})

test('a server error that comes back without progress makes it list again', async () => {
  const { startWith, next, problems, reflector } = setUp()
  ;(await startWith(9, [])).line(errorEvent(500))
  ;(await next('watch')).line(errorEvent(500))
  ;(await next('list')).answer(200, listOf(12, []))
  expect((await next('watch')).query.get('resourceVersion')).toBe('12')
  expect(problems()).toEqual(['server', 'server'])
  await reflector.stop()
})

test.each([400, 401, 403, 404, 422])('%i on the first list ends it', async (status) => {
  const { reflector, next, errors, transport } = setUp()
  const started = reflector.start()
  const settled = started.then(
    () => 'started',
    (error: unknown) => error,
  )
  ;(await next('list')).answer(status, { kind: 'Status', reason: 'No', message: 'not you' })
  expect(await settled).toMatchObject({ status })
  expect(errors).toMatchObject([{ error: { status }, lasting: true }])
  expect(transport.waiting()).toBe(0)
  await reflector.stop()
})

test.each(['list', 'watch'] as const)(
  'after the first list, refusals of the %s that last are told as such, and tried again',
  async (which) => {
    const { startWith, next, errors, clock, transport, reflector, known } = setUp()
    const refused = { kind: 'Status', reason: 'Forbidden', message: 'not yet' }

    /** Refuses requests for a while; a list that is not refused gets an answer. */
    async function refuse(done: () => boolean): Promise<void> {
      while (!done()) {
        const incoming = await transport.next()
        if (which === 'watch' && !incoming.stream) incoming.answer(200, listOf(12, []))
        else incoming.answer(403, refused)
        await clock.settle()
      }
    }
    const isLasting = () => errors.at(-1)?.lasting === true

    const first = await startWith(9, [])
    const startedAt = clock.now()
    first.answer(403, refused)
    await refuse(() => clock.now() - startedAt > 5_000)
    let back = await transport.next()
    if (!back.stream) {
      back.answer(200, listOf(13, []))
      back = await next('watch')
    }
    back.line(bookmark(14))
    expect(errors.some(({ lasting }) => lasting)).toBe(false)

    // That line ended the series of refusals.
    back.answer(403, refused)
    const refusedAt = clock.now()
    const refreshed = reflector.refresh()
    await refuse(isLasting)
    expect(clock.now() - refusedAt).toBeGreaterThanOrEqual(10_000)
    // A caller does not wait for objects that the user may not see.
    await refreshed
    const toldSoFar = errors.length
    await refuse(() => clock.now() - refusedAt > 60_000)
    expect(errors.length).toBeGreaterThan(toldSoFar + 5)
    expect(errors.filter(({ lasting }) => lasting)).toHaveLength(1)
    let granted = await transport.next()
    for (; !granted.stream; granted = await transport.next()) granted.answer(200, listOf(20, []))
    granted.line({ type: 'ADDED', object: pod('a', 21) })
    await clock.settle()
    expect([reflector.isCurrent(), known()]).toEqual([true, ['a@21']])
    await reflector.stop()
    expect(clock.pending()).toBe(0)
  },
)

test('a refusal long after another, with a watch that said nothing in between, is the first of its row', async () => {
  const { startWith, next, errors, clock, reflector } = setUp()
  const refused = { kind: 'Status', reason: 'Forbidden', message: 'not yet' }
  ;(await startWith(9, [])).answer(403, refused)
  ;(await next('list')).answer(200, listOf(12, []))
  const quiet = await next('watch')
  quiet.open()
  await clock.advance(30_000)
  quiet.fail(true)
  ;(await next('watch')).answer(403, refused)
  ;(await next('list')).answer(200, listOf(13, []))
  await next('watch')
  expect(errors.map(({ lasting }) => lasting)).toEqual([false, false, false])
  await reflector.stop()
})

test('refusals of a server that starts twice, and was away in between, do not last', async () => {
  const { startWith, next, errors, clock, reflector } = setUp()
  const refused = { kind: 'Status', reason: 'Forbidden', message: 'not yet' }
  const watch = await startWith(9, [])
  watch.answer(403, refused)
  const startedAt = clock.now()
  while (clock.now() - startedAt < 20_000) (await next('list')).fail(false)
  ;(await next('list')).answer(403, refused)
  ;(await next('list')).answer(200, listOf(12, []))
  await next('watch')
  expect(errors.filter(({ lasting }) => lasting)).toEqual([])
  await reflector.stop()
})

test('with what is known from elsewhere the first list is the next one: it says who is gone, and is tried until it is had', async () => {
  const { clock, reflector, events, problems, known, next } = setUp({ known: [pod('a', 3), pod('b', 4), pod('c', 5)] })
  expect(known()).toEqual(['a@3', 'b@4', 'c@5'])
  const started = reflector.start()
  const since = clock.now()
  ;(await next('list')).answer(403, { kind: 'Status', reason: 'Forbidden' })
  await clock.advance(1_000)
  while (clock.now() - since < 70_000) {
    ;(await next('list')).answer(500, { kind: 'Status', reason: 'InternalError' })
    await clock.advance(5_000)
  }
  expect([known(), reflector.isCurrent()]).toEqual([['a@3', 'b@4', 'c@5'], false])
  ;(await next('list')).answer(200, listOf(9, [pod('a', 3), { ...pod('b', 6), spec: {} }]))
  await started
  // An unreadable object in a list counts neither as deleted nor as changed.
  expect([events, known(), reflector.isCurrent()]).toEqual([['deleted c@5', 'added a@3'], ['a@3', 'b@4'], true])
  expect(problems().at(-1)).toBe('malformed')
  await reflector.stop()
})

test('other failures of the first list are tried again', async () => {
  const { reflector, next, errors, clock } = setUp()
  const started = reflector.start()
  ;(await next('list')).fail(false)
  ;(await next('list')).answer(500, { kind: 'Status', reason: 'InternalError' })
  ;(await next('list')).answer(200, 'no list')
  ;(await next('list')).answer(200, { kind: 'PodList', items: [] })
  const overloadedAt = clock.now()
  ;(await next('list')).answer(503, { kind: 'Status', reason: 'X' }, { 'retry-after': '70' })
  const last = await next('list')
  expect(clock.now() - overloadedAt).toBeGreaterThanOrEqual(70_000)
  last.answer(200, listOf(9, null as unknown as unknown[]))
  await started
  expect(errors.map(({ lasting }) => lasting)).toEqual([false, false, false, false, false])
  await reflector.stop()
})

test('a handler that throws is told of and stops nothing', async () => {
  const { startWith, taken, problems, reflector } = setUp({
    onEvent: () => {
      throw new Error('a bug in the handler')
    },
  })
  const watch = await startWith(9, [pod('a', 1), pod('b', 2)])
  watch.line({ type: 'MODIFIED', object: pod('a', 10) })
  watch.line({ type: 'MODIFIED', object: pod('b', 11) })
  expect(taken()).toEqual(['added a@1', 'added b@2', 'modified a@10', 'modified b@11'])
  expect(problems()).toEqual(['handler', 'handler', 'handler', 'handler'])
  await reflector.stop()
})

test('a watch that is refused goes by the list, not on as before', async () => {
  const { startWith, next, reflector } = setUp()
  ;(await startWith(9, [])).answer(403, { kind: 'Status', reason: 'Forbidden' })
  expect((await next('list')).query.get('limit')).toBe('500')
  await reflector.stop()
})

test('a handler that stops the reflector gets nothing more', async () => {
  const stopping: { now?: () => void } = {}
  const { reflector, next, taken } = setUp({ onEvent: () => stopping.now?.() })
  stopping.now = () => void reflector.stop()
  const started = reflector.start().catch((error: unknown) => error)
  ;(await next('list')).answer(200, listOf(9, [pod('a', 1), pod('b', 2)]))
  expect(await started).toMatchObject({ problem: 'stopped' })
  expect(taken()).toEqual(['added a@1'])
})

test('stop ends a watch, a list and a pause, leaves no timer, and is no error', async () => {
  const watching = setUp()
  const watch = await watching.startWith(9, [pod('a', 1)])
  watching.taken()
  const stopped = watching.reflector.stop()
  watch.line({ type: 'MODIFIED', object: pod('a', 10) })
  await stopped
  expect([watching.taken(), watching.errors, watching.clock.pending()]).toEqual([[], [], 0])

  const pausing = setUp()
  ;(await pausing.startWith(9, [])).fail(true)
  await pausing.clock.settle()
  expect(pausing.clock.pending()).toBe(1)
  await pausing.reflector.stop()
  expect(pausing.clock.pending()).toBe(0)

  const listing = setUp()
  const started = listing.reflector.start().catch((error: unknown) => error)
  await listing.next('list')
  await listing.reflector.stop()
  expect(await started).toMatchObject({ problem: 'stopped' })
  expect([listing.errors, listing.clock.pending()]).toEqual([[], 0])
})

test('versions without an order: nothing that the server says is dropped', async () => {
  const { startWith, taken, known, reflector } = setUp()
  const opaque = (version: string) => {
    const raw = pod('a', 0)
    raw.metadata.resourceVersion = version
    return raw
  }
  const watch = await startWith(9, [opaque('zz')])
  taken()
  watch.line({ type: 'MODIFIED', object: opaque('aa') })
  watch.line({ type: 'MODIFIED', object: opaque('aa') })
  watch.line({ type: 'MODIFIED', object: opaque('mm') })
  expect([taken(), known()]).toEqual([['modified a@aa', 'modified a@mm'], ['a@mm']])
  await reflector.stop()
})

test('a first list that fails for a minute is given up', async () => {
  const { reflector, next, clock } = setUp()
  const ended: unknown[] = []
  void reflector.start().catch((error: unknown) => ended.push(error))
  const begunAt = clock.now()
  for (let tries = 0; tries < 100 && ended.length === 0; tries++) {
    ;(await next('list')).answer(500, {})
    await clock.settle()
  }
  expect(ended).toMatchObject([{ status: 500 }])
  expect(clock.now() - begunAt).toBeGreaterThanOrEqual(60_000)
})

test('control: after the first, lists are asked for as long as it takes', async () => {
  const { startWith, transport, problems, errors, clock, reflector } = setUp()
  ;(await startWith(5, [])).answer(500, {})
  const begunAt = clock.now()
  while (clock.now() - begunAt < 600_000) {
    ;(await transport.next()).answer(500, {})
    await clock.settle()
  }
  expect(errors.some(({ lasting }) => lasting)).toBe(false)
  expect(problems().length).toBeGreaterThan(10)
  await reflector.stop()
})
