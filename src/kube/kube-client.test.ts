import { expect, test } from 'vitest'
import type { KubeErrorKind } from './errors.ts'
import { KubeError } from './errors.ts'
import { createKubeClient } from './kube-client.ts'
import { createScriptedTransport, type ScriptOptions } from './testing/scripted-transport.ts'
import { createVirtualClock } from './testing/virtual-clock.ts'

const POD = '/api/v1/namespaces/default/pods/web-0'
const random = { next: () => 0.5 }

function setUp(script?: ScriptOptions, limits?: { requestTimeoutMs: number }) {
  const clock = createVirtualClock()
  const transport = createScriptedTransport(clock, script)
  return { clock, transport, client: createKubeClient({ transport, clock, random, ...limits }) }
}

/** The outcome of a promise, without an unhandled rejection before it is awaited. */
function outcome(promise: Promise<unknown>): Promise<KubeError> {
  return promise.then(
    (value) => expect.unreachable(`it gave ${JSON.stringify(value)}`),
    (error: unknown) => {
      expect(error).toBeInstanceOf(KubeError)
      return error as KubeError
    },
  )
}

function statusObject(reason: string, message: string, details?: object) {
  return { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason, message, details }
}

test('sends what the API server expects of each method', async () => {
  const { client, transport } = setUp()
  const calls = [
    client.get(POD),
    client.create('/api/v1/namespaces/default/configmaps', { a: 1 }, { dryRun: true }),
    client.replace(`${POD}?x=y`, { a: 1 }),
    client.patch(POD, [{ op: 'remove', path: '/a' }], { dryRun: true }),
    client.delete(POD),
  ]
  const seen = []
  for (const _ of calls) {
    const { request, answer } = await transport.next()
    seen.push([request.method, request.path, request.headers['content-type'], request.body])
    answer(200, { ok: true })
  }
  expect(seen).toEqual([
    ['GET', POD, undefined, undefined],
    ['POST', '/api/v1/namespaces/default/configmaps?fieldManager=sluice&dryRun=All', 'application/json', '{"a":1}'],
    ['PUT', `${POD}?x=y&fieldManager=sluice`, 'application/json', '{"a":1}'],
    ['PATCH', `${POD}?fieldManager=sluice&dryRun=All`, 'application/json-patch+json', '[{"op":"remove","path":"/a"}]'],
    ['DELETE', POD, undefined, undefined],
  ])
  expect(await Promise.all(calls)).toEqual(calls.map(() => ({ ok: true })))
})

test('beforeSend goes to the transport with the request, and with none that has it not', async () => {
  const { client, transport } = setUp()
  const beforeSend = (): void => {}
  const calls = [client.replace(POD, {}, { beforeSend }), client.delete(POD, { beforeSend }), client.replace(POD, {})]
  const seen = []
  for (const _ of calls) {
    const { request, answer } = await transport.next()
    seen.push(request.beforeSend)
    answer(200, {})
  }
  await Promise.all(calls)
  expect(seen).toEqual([beforeSend, beforeSend, undefined])
})

test.each<[number, string, KubeErrorKind]>([
  [400, 'BadRequest', 'definite'],
  [401, 'Unauthorized', 'definite'],
  [403, 'Forbidden', 'definite'],
  [404, 'NotFound', 'definite'],
  [408, 'Timeout', 'ambiguous'],
  [409, 'AlreadyExists', 'conflict'],
  [410, 'Expired', 'definite'],
  [412, 'PreconditionFailed', 'conflict'],
  [422, 'Invalid', 'definite'],
  [500, 'InternalError', 'ambiguous'],
  [502, 'BadGateway', 'ambiguous'],
  [503, 'ServiceUnavailable', 'ambiguous'],
  [504, 'Timeout', 'ambiguous'],
  [302, 'Found', 'ambiguous'],
])('%i %s is %s', async (status, reason, kind) => {
  const { client, transport } = setUp()
  const failed = outcome(client.patch(POD, []))
  const { answer } = await transport.next()
  answer(status, statusObject(reason, 'why it failed'))
  expect(await failed).toMatchObject({
    kind,
    status,
    reason,
    method: 'PATCH',
    path: POD,
    message: `PATCH ${POD}: ${status} ${reason}: why it failed`,
  })
})

test.each([
  ['/apis/apps.example.dev/v1/namespaces/shop/clonesets/web', 'this cluster has no clonesets.apps.example.dev in version v1'],
  ['/apis/apps.example.dev/v1/namespaces/shop/clonesets', 'this cluster has no clonesets.apps.example.dev in version v1'],
  // Controls: every API server has these paths, so the hint about a missing API does not apply.
  [POD, 'the answer is no Status object'],
  ['/apis/apps/v1/namespaces/shop/statefulsets/web', 'the answer is no Status object'],
  ['/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', 'the answer is no Status object'],
])('a path that is not served names the kind that the cluster lacks: %s', async (path, said) => {
  const { client, transport } = setUp()
  const failed = outcome(client.get(path))
  ;(await transport.next()).answer(404, '404 page not found\n')
  expect((await failed).message).toBe(`GET ${path}: 404: ${said}`)
})

test('the message holds one bounded line of what the server says, and nothing of a foreign answer', async () => {
  const { client, transport } = setUp()
  const long = outcome(client.get(POD))
  ;(await transport.next()).answer(422, statusObject('Invalid', `${'x'.repeat(1000)}\ncore.PodSpec{Env: SECRET}`))
  expect((await long).message.length).toBeLessThan(400)

  const spec = outcome(client.get(POD))
  ;(await transport.next()).answer(422, statusObject('Invalid', 'may not change\ncore.PodSpec{Env: SECRET}'))
  expect((await spec).message).toBe(`GET ${POD}: 422 Invalid: may not change`)

  const html = outcome(client.get(POD))
  ;(await transport.next()).answer(502, '<html>SECRET</html>')
  expect((await html).message).toBe(`GET ${POD}: 502: the answer is no Status object`)

  const plain = outcome(client.get(POD))
  ;(await transport.next()).answer(400, 'Client sent an HTTP request to an HTTPS server.\n')
  expect((await plain).hint).toBe('the server speaks TLS: its URL in the kubeconfig has to begin with https://')

  const broken = outcome(client.patch(POD, []))
  ;(await transport.next()).answer(200, '{"token": SECRET')
  const error = await broken
  expect(error.kind).toBe('ambiguous')
  expect(JSON.stringify([error.message, String(error.cause)])).not.toContain('SECRET')
})

test('a call without an answer ends at its deadline; only proof that nothing left makes it definite', async () => {
  for (const [bytesLeftOnAbort, kind] of [
    [true, 'ambiguous'],
    [false, 'definite'],
    [undefined, 'ambiguous'],
  ] as const) {
    const { client, transport, clock } = setUp({ bytesLeftOnAbort })
    const startedAt = clock.now()
    const failed = outcome(client.patch(POD, [], { deadlineMs: 700 }))
    await clock.advance(699)
    expect((await transport.next()).request.signal?.aborted).toBe(false)
    await clock.advance(1)
    expect((await failed).kind).toBe(kind)
    expect(clock.now() - startedAt).toBe(700)
    expect(clock.pending()).toBe(0)
  }
})

test('no call takes longer than it is told that one may', async () => {
  const { client, transport, clock } = setUp({}, { requestTimeoutMs: 2_000 })
  for (const [deadlineMs, limitMs] of [
    [undefined, 2_000],
    [60_000, 2_000],
    [700, 700],
  ] as const) {
    const failed = outcome(client.get(POD, deadlineMs === undefined ? {} : { deadlineMs }))
    await clock.advance(limitMs - 1)
    expect((await transport.next()).request.signal?.aborted).toBe(false)
    await clock.advance(1)
    expect((await failed).message).toContain(`no answer within ${limitMs} ms`)
  }
})

test('a call that is given up by its caller ends at once', async () => {
  const { client, transport, clock } = setUp({ bytesLeftOnAbort: undefined })
  const caller = new AbortController()
  const failed = outcome(client.patch(POD, [], { signal: caller.signal }))
  await transport.next()
  caller.abort()
  await clock.advance(0)
  expect(await failed).toMatchObject({ kind: 'ambiguous' })
  expect(await outcome(client.patch(POD, [], { signal: caller.signal }))).toMatchObject({ kind: 'definite' })
  expect(transport.waiting()).toBe(0)
})

test('what the transport proves is kept', async () => {
  const { client, transport } = setUp()
  for (const [bytesLeft, kind] of [
    [true, 'ambiguous'],
    [false, 'definite'],
  ] as const) {
    const failed = outcome(client.patch(POD, []))
    ;(await transport.next()).fail(bytesLeft)
    expect((await failed).kind).toBe(kind)
  }
})

test('429 is waited out on any method, as long as the server asks', async () => {
  const { client, transport, clock } = setUp()
  const patched = client.patch(POD, [])
  ;(await transport.next()).answer(429, statusObject('TooManyRequests', 'slow down'), { 'retry-after': '3' })
  const refusedAt = clock.now()
  ;(await transport.next()).answer(200, { patched: true })
  expect(await patched).toEqual({ patched: true })
  expect(clock.now() - refusedAt).toBeGreaterThanOrEqual(3_000)
})

test('429 of a write that is sent once is its answer', async () => {
  const { client, transport, clock } = setUp()
  const failed = outcome(client.patch(POD, [], { once: true }))
  ;(await transport.next()).answer(429, statusObject('TooManyRequests', 'slow down'), { 'retry-after': '3' })
  const refusedAt = clock.now()
  expect(await failed).toMatchObject({ kind: 'throttled', retryAfterMs: 3_000 })
  expect([clock.now(), clock.pending()]).toEqual([refusedAt, 0])
})

test('429 of a write is not followed by it where its caller may not write any more', async () => {
  const { client, transport, clock } = setUp()
  let isLost = false
  const beforeAgain = (): void => {
    if (isLost) throw new Error('taken')
  }
  const failed = client.patch(POD, [], { beforeAgain }).catch((error: unknown) => error)
  const throttle = async (): Promise<void> =>
    (await transport.next()).answer(429, statusObject('TooManyRequests', 'slow down'), { 'retry-after': '3' })
  await throttle()
  await clock.advance(5_000)
  await throttle()
  isLost = true
  await clock.advance(5_000)
  expect(await failed).toMatchObject({ message: 'taken' })
})

test('429 that would outlast the deadline is thrown at once', async () => {
  const { client, transport, clock } = setUp()
  const failed = outcome(client.patch(POD, [], { deadlineMs: 2_000 }))
  const startedAt = clock.now()
  ;(await transport.next()).answer(429, statusObject('TooManyRequests', 'slow down'), { 'retry-after': '3' })
  expect(await failed).toMatchObject({ kind: 'throttled', retryAfterMs: 3_000 })
  expect(clock.now()).toBe(startedAt)
})

test('the deadline is one for all attempts, and the last attempt decides what is known', async () => {
  const { client, transport, clock } = setUp()
  const startedAt = clock.now()
  const failed = outcome(client.patch(POD, [], { deadlineMs: 2_000 }))
  ;(await transport.next()).answer(429, statusObject('TooManyRequests', 'slow down'), { 'retry-after': '1' })
  await transport.next()
  await clock.advance(2_000 - (clock.now() - startedAt))
  expect(clock.pending()).toBe(0)
  expect(await failed).toMatchObject({ kind: 'ambiguous' })
})

test('a process that was stopped while it waited does not write what nobody waits for any more', async () => {
  const clock = createVirtualClock()
  let stoppedMs = 0
  const transport = createScriptedTransport(clock)
  const client = createKubeClient({ transport, clock: { ...clock, now: () => clock.now() + stoppedMs }, random })
  const failed = outcome(client.patch(POD, [], { deadlineMs: 10_000 }))
  ;(await transport.next()).answer(429, statusObject('TooManyRequests', 'slow down'), { 'retry-after': '1' })
  await clock.settle()
  stoppedMs = 40_000
  await clock.advance(2_000)
  expect(await failed).toMatchObject({ kind: 'throttled' })
})

test('giving up while throttled is not ambiguous', async () => {
  const { client, transport, clock } = setUp()
  const caller = new AbortController()
  const failed = outcome(client.patch(POD, [], { signal: caller.signal }))
  ;(await transport.next()).answer(429, statusObject('TooManyRequests', 'slow down'), { 'retry-after': '3' })
  await clock.settle()
  caller.abort()
  expect(await failed).toMatchObject({ kind: 'throttled' })
  expect(clock.pending()).toBe(0)
})

test('503 with Retry-After is waited out for a read, and never for a write', async () => {
  const { client, transport } = setUp()
  const read = client.get(POD)
  ;(await transport.next()).answer(503, statusObject('ServiceUnavailable', 'starting'), { 'retry-after': '1' })
  ;(await transport.next()).answer(200, { read: true })
  expect(await read).toEqual({ read: true })

  const written = outcome(client.patch(POD, []))
  ;(await transport.next()).answer(503, statusObject('ServiceUnavailable', 'starting'), { 'retry-after': '1' })
  expect(await written).toMatchObject({ kind: 'ambiguous' })

  const plain = outcome(client.get(POD))
  ;(await transport.next()).answer(503, statusObject('ServiceUnavailable', 'starting'))
  expect(await plain).toMatchObject({ kind: 'ambiguous' })
})

test('a watch gives its lines until it is given up, and no more after', async () => {
  const { client, transport, clock } = setUp({ bytesLeftOnAbort: undefined })
  const lines: string[] = []
  const reader = new AbortController()
  const watched = outcome(client.watch('/watch', { signal: reader.signal, onLine: (line) => lines.push(line) }))
  const server = await transport.next()
  server.line('one')
  reader.abort()
  server.line('two')
  await clock.advance(0)
  await watched
  server.line('three')
  expect(lines).toEqual(['one'])
})

test('a watch that the server ends in order resolves; a refused one rejects', async () => {
  const { client, transport } = setUp()
  const { signal } = new AbortController()
  const watched = client.watch('/watch', { signal, onLine: () => {} })
  ;(await transport.next()).end()
  await watched
  const refused = outcome(client.watch('/watch', { signal, onLine: () => {} }))
  ;(await transport.next()).answer(410, statusObject('Expired', 'too old'))
  expect(await refused).toMatchObject({ kind: 'definite', status: 410 })
})

test('one signal may be shared by many calls', async () => {
  const { client, transport } = setUp()
  const { signal } = new AbortController()
  const warnings: Error[] = []
  const onWarning = (warning: Error) => warnings.push(warning)
  process.on('warning', onWarning)
  const calls = Array.from({ length: 50 }, () => client.get(POD, { signal }))
  for (const _ of calls) (await transport.next()).answer(200, {})
  await Promise.all(calls)
  process.off('warning', onWarning)
  expect(warnings).toEqual([])
})

test('onHeaders is given the headers of a good answer, and of no other', async () => {
  const { client, transport } = setUp()
  const seen: unknown[] = []
  const onHeaders = (headers: Readonly<Record<string, string>>): void => void seen.push(headers['date'])
  const good = client.get(POD, { onHeaders })
  ;(await transport.next()).answer(200, {}, { date: 'Thu, 01 Jan 2026 00:00:00 GMT' })
  await good
  const refused = outcome(client.get(POD, { onHeaders }))
  ;(await transport.next()).answer(404, {}, { date: 'Fri, 02 Jan 2026 00:00:00 GMT' })
  await refused
  expect(seen).toEqual(['Thu, 01 Jan 2026 00:00:00 GMT'])
})
