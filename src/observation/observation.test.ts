import { expect, test } from 'vitest'
import { KubeError } from '../kube/errors.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import { rawPod } from '../pods/testing/raw-pod.ts'
import { createFakeApi } from '../workloads/testing/fake-api.ts'
import type { FeedUser } from './feed.ts'
import { createObservation } from './observation.ts'
import { type PodRecord, podRecord } from './pod-record.ts'

const PODS = '/api/v1/namespaces/shop/pods'

function bed() {
  const api = createFakeApi()
  const clock = createVirtualClock()
  const observation = createObservation({ client: api.client, clock, random: { next: () => 0.5 }, scope: 'namespace' })
  let decoded = 0
  const decode = (raw: unknown): PodRecord => {
    decoded += 1
    return podRecord(raw)
  }
  const put = (name: string): void => void api.put(`${PODS}/${name}`, rawPod({ name, uid: name, labels: { app: 'web' } }))
  put('web-0')
  async function open(more: Partial<FeedUser<PodRecord>> = {}, as = decode) {
    const told: string[] = []
    const feed = await observation.open(
      { path: PODS, decode: as },
      {
        onEvent: ({ type, record }) => told.push(`${type} ${record.name}`),
        onError: (error, lasting) => told.push(`${lasting ? 'lasting ' : ''}${error.message}`),
        onSight: () => told.push('sight'),
        ...more,
      },
    )
    return { feed, taken: () => told.splice(0), events: () => told.splice(0).filter((one) => one !== 'sight') }
  }
  /** The calls since the last look. */
  const calls = (): string[] => api.calls.splice(0).map(({ method }) => method)
  const forbid = (): void => {
    api.faults.before = (method, path) => {
      if (method !== 'LIST') return
      throw new KubeError('pods is forbidden', { kind: 'definite', method: 'GET', path, status: 403 })
    }
  }
  const decodedSoFar = (): number => decoded
  return { api, clock, observation, put, open, calls, forbid, decodedSoFar }
}

test('users share one watch and its records; each version of an object is read once', async () => {
  const { clock, observation, put, open, calls, decodedSoFar, api } = bed()
  const first = await open()
  expect([calls(), first.events()]).toEqual([['LIST', 'WATCH'], ['added web-0']])
  const others = await Promise.all([open(), open(), open()])
  await clock.settle()
  // One list serves all users that came in the meantime, and the watch resumes from it.
  expect(calls().filter((one) => one === 'LIST')).toHaveLength(1)
  expect([observation.size, decodedSoFar()]).toEqual([1, 2])
  put('web-1')
  await clock.settle()
  expect(decodedSoFar()).toBe(3)
  for (const { feed, events } of [first, ...others]) {
    expect(events().at(-1)).toBe('added web-1')
    expect(feed.records()).toBe(first.feed.records())
  }
  expect(api.calls).toEqual([])
})

test('control: users that read the objects differently share nothing', async () => {
  const { observation, open } = bed()
  await open()
  await open({}, (raw) => podRecord(raw))
  expect(observation.size).toBe(2)
})

test('a user that joins hears of what is known, and knows what was so when it came', async () => {
  const { clock, open, put, api } = bed()
  const { watch } = api.client
  // The watch of the other users delivers nothing.
  api.client.watch = (path, watching) => watch(path, { ...watching, onLine: () => {} })
  const first = await open()
  await clock.settle()
  put('web-1')
  await clock.settle()
  expect(first.events()).toEqual(['added web-0'])
  const second = await open()
  expect([second.events(), second.feed.isCurrent()]).toEqual([['added web-0', 'added web-1'], true])
  expect(first.events()).toEqual(['added web-1'])
})

test('users that ask for a look at the same time share a list, and who asks while it is under way shares the next one', async () => {
  const { clock, open, calls } = bed()
  const users = [await open(), await open(), await open()]
  await clock.settle()
  calls()
  const done: number[] = []
  const asked = users.map(({ feed }, index) => feed.refresh().then(() => done.push(index)))
  await Promise.resolve()
  const late = users.map(({ feed }) => feed.refresh())
  await Promise.all([...asked, ...late])
  expect(done.toSorted()).toEqual([0, 1, 2])
  expect(calls().filter((one) => one === 'LIST').length).toBeLessThanOrEqual(2)
})

test('a user that has all looked at anew is not current meanwhile, and the others are', async () => {
  const { clock, open } = bed()
  const [asking, other] = [await open(), await open()]
  await clock.settle()
  asking.taken()
  other.taken()
  const refreshed = asking.feed.refresh()
  expect([asking.feed.isCurrent(), asking.feed.isBroken(), other.feed.isCurrent()]).toEqual([false, false, true])
  await refreshed
  await clock.settle()
  expect([asking.taken(), other.taken(), asking.feed.isCurrent()]).toEqual([['sight', 'sight'], [], true])
})

test('the last user closes the feed, and the next one opens another', async () => {
  const { clock, observation, open, put, calls } = bed()
  const [one, two] = [await open(), await open()]
  await clock.settle()
  await one.feed.stop()
  await one.feed.stop()
  one.taken()
  put('web-1')
  await clock.settle()
  expect([one.taken(), two.events().at(-1), observation.size]).toEqual([[], 'added web-1', 1])
  await two.feed.stop()
  put('web-2')
  await clock.settle()
  expect([observation.size, two.events(), clock.pending()]).toEqual([0, [], 0])
  calls()
  const three = await open()
  expect([calls(), observation.size, three.events()]).toEqual([
    ['LIST', 'WATCH'],
    1,
    ['added web-0', 'added web-1', 'added web-2'],
  ])
})

test('what one makes of an event is nothing that another has to do without', async () => {
  const { clock, open, put } = bed()
  const bad = await open({
    onEvent({ record }) {
      throw new Error(`cannot take ${record.name}`)
    },
  })
  const good = await open()
  put('web-1')
  await clock.settle()
  expect(bad.events()).toContain('cannot take web-1')
  expect(good.events()).toEqual(['added web-0', 'added web-1'])
})

test('a refused feed rejects who joins, goes on trying, and comes back for those that stayed', async () => {
  const { api, clock, observation, open, put, forbid } = bed()
  const stayed = await open()
  await clock.settle()
  stayed.taken()
  forbid()
  const joining = Promise.allSettled([open()])
  await clock.advance(15_000)
  expect(await joining).toMatchObject([{ status: 'rejected', reason: { status: 403 } }])
  const told = stayed.taken()
  expect(told.filter((one) => one === 'lasting pods is forbidden')).toHaveLength(1)
  expect([stayed.feed.isCurrent(), stayed.feed.isBroken(), observation.size]).toEqual([false, true, 1])
  // A refresh of forbidden objects does not wait forever.
  const refreshed = stayed.feed.refresh()
  await clock.advance(10_000)
  await refreshed
  expect(stayed.feed.isCurrent()).toBe(false)
  put('web-1')
  api.faults.before = () => {}
  await clock.advance(10_000)
  expect([stayed.feed.isCurrent(), stayed.feed.isBroken(), stayed.events().at(-1)]).toEqual([true, false, 'added web-1'])
  expect((await open()).events()).toEqual(['added web-0', 'added web-1'])
})

test('a first list that is refused rejects all that wait for it, and leaves nothing', async () => {
  const { clock, observation, open, forbid } = bed()
  forbid()
  const all = await Promise.allSettled([open(), open()])
  expect(all).toMatchObject([{ reason: { status: 403 } }, { reason: { status: 403 } }])
  expect([observation.size, clock.pending()]).toEqual([0, 0])
})

/** Every call fails with this error, until another one is set. */
function failing(api: ReturnType<typeof bed>['api']) {
  const fail = (status?: number): void => {
    api.faults.before = (method, path) => {
      if (method !== 'LIST') return
      const answer = status === undefined ? {} : { status }
      throw new KubeError(`no list: ${status ?? 'refused'}`, { kind: 'definite', method: 'GET', path, ...answer })
    }
  }
  const answer = (): void => void (api.faults.before = () => {})
  return { fail, answer }
}

/** The end of a call, and its time. */
function noted<T>(clock: ReturnType<typeof bed>['clock'], call: Promise<T>) {
  const note: { is: string; at: number; value?: T; error?: unknown } = { is: 'open', at: 0 }
  void call.then(
    (value) => Object.assign(note, { is: 'in', at: clock.now(), value }),
    (error: unknown) => Object.assign(note, { is: 'rejected', at: clock.now(), error }),
  )
  return note
}

test('a user that joins a list that others have long waited for has its own time: the feed is opened again', async () => {
  const { api, clock, observation, open, put } = bed()
  const { fail, answer } = failing(api)
  fail()
  const beganAt = clock.now()
  const first = noted(clock, open())
  await clock.advance(58_000)
  const others = [noted(clock, open()), noted(clock, open())]
  await clock.advance(10_000)
  expect([first.is, ...others.map(({ is }) => is), observation.size]).toEqual(['rejected', 'open', 'open', 1])
  expect(first.at - beganAt).toBeGreaterThanOrEqual(60_000)
  answer()
  await clock.advance(10_000)
  expect([...others.map(({ is }) => is), observation.size]).toEqual(['in', 'in', 1])
  put('web-1')
  await clock.settle()
  for (const { value } of others)
    expect(value!.events().filter((one) => one.startsWith('added'))).toEqual(['added web-0', 'added web-1'])
  for (const { value } of others) await value!.feed.stop()
  expect([observation.size, clock.pending()]).toEqual([0, 0])
})

test.each([undefined, 503, 429])(
  'each is rejected when its own time is over, with the last error (%s), and leaves nothing',
  async (status) => {
    const { api, clock, observation, open } = bed()
    const { fail } = failing(api)
    fail(status)
    const beganAt = clock.now()
    const notes = [noted(clock, open())]
    await clock.advance(50_000)
    notes.push(noted(clock, open()))
    await clock.advance(8_000)
    notes.push(noted(clock, open()))
    await clock.advance(70_000)
    const message = `no list: ${status ?? 'refused'}`
    expect(notes).toMatchObject(notes.map(() => ({ is: 'rejected', error: { message } })))
    expect(notes.slice(1).map(({ at }) => at - beganAt)).toEqual([110_000, 118_000])
    expect([observation.size, clock.pending()]).toEqual([0, 0])
  },
)

test('where nobody answers any more, a user whose feed was opened again hears why the one before it failed', async () => {
  const { api, clock, observation, open } = bed()
  failing(api).fail()
  const beganAt = clock.now()
  const { get } = api.client
  let last = ''
  api.client.get = (path, options = {}) => {
    if (clock.now() - beganAt < 60_000) return get(path, options)
    const isLast = last === ''
    last ||= `refused after ${clock.now() - beganAt} ms`
    if (isLast) return Promise.reject(new KubeError(last, { kind: 'definite', method: 'GET', path }))
    return new Promise((_, reject) => options.signal?.addEventListener('abort', () => reject(new Error('stopped'))))
  }
  void noted(clock, open())
  await clock.advance(58_000)
  const second = noted(clock, open())
  await clock.advance(60_000)
  expect(second).toMatchObject({ is: 'rejected', at: beganAt + 118_000, error: { message: last } })
  expect([last, observation.size, clock.pending()]).toEqual([expect.stringContaining('refused after 6'), 0, 0])
})

test('the time for the first list counts for the one that is of now', async () => {
  const { api, clock, open } = bed()
  failing(api).fail()
  const beganAt = clock.now()
  const first = noted(clock, open())
  await clock.advance(10_000)
  const second = noted(clock, open())
  await clock.advance(10_000)
  let lists = 0
  api.faults.before = (method, path) => {
    if (method !== 'LIST' || (lists += 1) === 1) return
    throw new KubeError('no second list', { kind: 'ambiguous', method: 'GET', path })
  }
  await clock.advance(60_000)
  expect([first.is, second]).toMatchObject(['in', { is: 'rejected', at: beganAt + 70_000, error: { message: 'no second list' } }])
})

test.each([401, 403, 404, 422])('control: an answer of %i to a feed that is opened again rejects at once', async (status) => {
  const { api, clock, observation, open } = bed()
  const { fail } = failing(api)
  fail()
  const beganAt = clock.now()
  const first = noted(clock, open())
  await clock.advance(58_000)
  const second = noted(clock, open())
  await clock.advance(1_000)
  fail(status)
  await clock.advance(10_000)
  expect([first, second]).toMatchObject([{ error: { status } }, { error: { status } }])
  expect(second.at - beganAt).toBeLessThan(66_000)
  expect([observation.size, clock.pending()]).toEqual([0, 0])
})

test('a user that leaves by its signal while the feed is opened again leaves nothing', async () => {
  const { api, clock, observation } = bed()
  const { fail } = failing(api)
  fail()
  const user = { onEvent() {}, onError() {} }
  const controller = new AbortController()
  const first = noted(clock, observation.open({ path: PODS, decode: podRecord }, user))
  await clock.advance(58_000)
  const second = noted(clock, observation.open({ path: PODS, decode: podRecord }, { ...user }, controller.signal))
  await clock.advance(10_000)
  expect([first.is, second.is]).toEqual(['rejected', 'open'])
  controller.abort(new Error('enough'))
  await clock.settle()
  expect(second).toMatchObject({ is: 'rejected', error: { message: 'enough' } })
  expect([observation.size, clock.pending()]).toEqual([0, 0])
})

test('a user that waits for a change has a silent watch looked after for all', async () => {
  const { clock, open, calls } = bed()
  let isAwaited = false
  await open()
  await open({ isAwaited: () => isAwaited })
  await clock.settle()
  calls()
  await clock.advance(30_000)
  expect(calls()).toEqual([])
  isAwaited = true
  await clock.advance(30_000)
  expect(calls()).toContain('LIST')
})

test('an object that cannot be read is told to those whose it is', async () => {
  const { api, clock, open } = bed()
  const isMeant = (metadata: unknown): boolean => (metadata as { name: string }).name === 'odd'
  const [all, own, other] = [await open(), await open({ concerns: isMeant }), await open({ concerns: () => false })]
  await clock.settle()
  for (const { taken } of [all, own, other]) taken()
  api.put(`${PODS}/odd`, { metadata: { name: 'odd', namespace: 'shop', uid: 'odd' } })
  await clock.settle()
  const unreadable = expect.stringContaining('an object in the watch cannot be read (uid odd)')
  expect([all.events(), own.events(), other.events()]).toEqual([[unreadable], [unreadable], []])
})
