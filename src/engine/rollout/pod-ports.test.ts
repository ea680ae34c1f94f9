import { describe, expect, test } from 'vitest'
import type { Reason } from '../../reasons/reason.ts'
import type { StoreAnswer } from '../../../machines/pod-upgrade/ports.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { LedgerEntry, ReadLedger } from '../../journal/ledger.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { ContainerView, Journal, PodView, Term } from '../../pods/glossary.ts'
import { rawPod, testPod } from '../../pods/testing/raw-pod.ts'
import type { AskedFor, Asking } from './asking.ts'
import { createPodPorts, rehearse } from './pod-ports.ts'
import type { PodPortOptions } from './pod-ports.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { readLease } from '../../leases/read-lease.ts'
import type { LedgerStore } from '../ledgers/ledger-store.ts'
import { createLedger, resumeLedger } from '../ledgers/ledger-store.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import { entryOf } from '../testing/ledgers.ts'
import type { Traffic } from '../traffic/traffic.ts'

const journal: Journal = { run: 'run-1', epoch: 4, attempt: 1, step: 'restore', baseline: [], targets: [] }

const UNASKED: Asking = { pod: async () => 'unknown', answered: () => {} }

/** Writes the close of `journal` on a pod with the record `stored`. Returns the answer and the writes. */
async function close(stored: Journal, isOwned = true): Promise<{ answer: StoreAnswer; sent: string[] }> {
  const sent: string[] = []
  const pod = testPod({ containers: [{ name: 'app', image: 'app:v1' }] })
  const observation = { pod, stored: { kind: 'read' as const, journal: stored } }
  const client = { patch: async (path: string) => void sent.push(path) } as unknown as KubeClient
  const ports = createPodPorts({
    client,
    clock: createVirtualClock(),
    namespace: 'default',
    store: { observe: () => observation },
    asking: UNASKED,
    isOwned: () => isOwned,
  } as unknown as PodPortOptions)
  const answer = await ports.store({ ...observation, uid: pod.uid, wanted: [], record: { ...journal, step: 'closed' } })
  return { answer, sent }
}

test('what a later owner has written is not overwritten, though the guard would be made of it', async () => {
  const { answer, sent } = await close({ ...journal, epoch: 5 })
  expect([answer.kind, sent]).toEqual(['rejected', []])
  const other = await close({ ...journal, run: 'run-2' })
  expect([other.answer.kind, other.sent]).toEqual(['rejected', []])
})

test('control: its own record is', async () => {
  const { answer, sent } = await close(journal)
  expect(answer.kind).toBe('stored')
  expect(sent).toHaveLength(1)
})

test('nothing is written to the ledger without the Lease', async () => {
  const written: string[] = []
  const pod = testPod({ containers: [{ name: 'app', image: 'app:v1' }] })
  const settle = (isOwned: boolean): Promise<{ kind: string }> =>
    createPodPorts({
      podOf: () => pod,
      ledger: { ledger: { entries: new Map() }, put: async ({ state }: { state: string }) => void written.push(state) },
      isOwned: () => isOwned,
    } as unknown as PodPortOptions).settle({ uid: pod.uid, targets: [], settlement: 'restore', epoch: 4 })
  expect([(await settle(false)).kind, written]).toEqual(['unknown', []])
  expect([(await settle(true)).kind, written]).toEqual(['stored', ['restore']])
})

test('what is settled is kept with the address that its entries mean, whatever it was enrolled with', async () => {
  const pod = testPod({ ip: '10.0.0.1', containers: [{ name: 'app', image: 'app:v1' }] })
  const written: LedgerEntry[] = []
  const ports = createPodPorts({
    podOf: () => pod,
    ledger: { ledger: { entries: new Map() }, put: async (entry: LedgerEntry) => void written.push(entry) },
    isOwned: () => true,
  } as unknown as PodPortOptions)
  await ports.settle({ uid: pod.uid, targets: [], settlement: 'abandoned', epoch: 4, address: '10.0.0.9' })
  expect(written).toMatchObject([{ state: 'abandoned', address: '10.0.0.9' }])
})

test.each([
  { who: 'the next owner', epoch: 5, state: 'restore' },
  { who: 'control: the same one', epoch: 4, state: 'closed' },
] as const)('a close that is long on its way, when $who means to restore: $state', async ({ epoch, state }) => {
  const api = createFakeApi()
  const create = async (path: string, body: unknown): Promise<unknown> =>
    api.put(`${path}/${(body as { metadata: { name: string } }).metadata.name}`, body)
  const client: KubeClient = { ...api.client, create }
  const place = { client, namespace: 'default' }
  const entry = entryOf('web-0')
  const { uid, targets } = entry
  const header = { run: 'abc', workloads: [], images: [], startedAt: '2026-01-01T00:00:00Z', chunks: 1 }
  const portsOf = (ledger: LedgerStore, isOwned: () => boolean): ReturnType<typeof createPodPorts> =>
    createPodPorts({ podOf: () => testPod({ name: 'web-0', uid }), ledger, isOwned } as unknown as PodPortOptions)
  const recorded = async (): Promise<ReadLedger & { kind: 'read' }> =>
    (await listLedgers(client, 'default'))[0] as ReadLedger & { kind: 'read' }

  let isFirst = true
  const arrives = Promise.withResolvers<void>()
  const slow: KubeClient = {
    ...client,
    patch: (...call) =>
      (JSON.stringify(call).includes('\\"closed\\"') ? arrives.promise : Promise.resolve()).then(() => client.patch(...call)),
  }
  const store = await createLedger({ header, entries: new Map([[uid, entry]]) }, { ...place, client: slow })
  const first = portsOf(store, () => isFirst)
  await first.settle({ uid, targets, settlement: 'restore', epoch: 4 })
  const closing = first.settle({ uid, targets, settlement: 'closed', epoch: 4 })

  const second = portsOf(resumeLedger(await recorded(), place), () => true)
  expect(await second.settle({ uid, targets, settlement: 'restore', epoch })).toEqual({ kind: 'stored' })
  isFirst = false
  arrives.resolve()
  await closing
  expect((await recorded()).ledger.entries.get(uid)?.state).toBe(state)
})

const TERM = { lease: 'lease-1', epoch: 4 }

test('a pod that comes in the middle of a run is recorded after those before it, and stays there', async () => {
  const pod = testPod({ containers: [{ name: 'app', image: 'app:v1' }] })
  const entries = new Map([['uid-9', {}]])
  const put = async (entry: LedgerEntry): Promise<void> => void entries.set(entry.uid, entry)
  const ports = createPodPorts({
    podOf: () => pod,
    ledger: { ledger: { entries }, put },
    termOf: () => TERM,
    boundOf: () => TERM,
    isOwned: () => true,
  } as unknown as PodPortOptions)
  const enroll = (): unknown => ports.enroll({ uid: pod.uid, pod, stored: { kind: 'none' }, wanted: [], targets: [] })
  await enroll()
  expect(entries.get(pod.uid)).toMatchObject({ order: 1, voidBelow: TERM })
  entries.set('uid-10', {})
  await enroll()
  await ports.settle({ uid: pod.uid, targets: [], settlement: 'restore', epoch: 4 })
  expect(entries.get(pod.uid)).toMatchObject({ state: 'restore', order: 1 })
  await ports.settle({ uid: 'another', targets: [], settlement: 'restore', epoch: 4 })
  expect(entries.get('uid-10')).not.toHaveProperty('order')
})

test.each<[string, { seen?: Term; before?: Partial<LedgerEntry> }, Term | undefined]>([
  ['nothing was open on it', { seen: TERM }, TERM],
  ['that was found by an earlier owner', { before: { voidBelow: { ...TERM, epoch: 2 } } }, undefined],
  ['and the count of the Lease was set back since', { before: { voidBelow: { ...TERM, epoch: 9 } } }, TERM],
  ['it was of another Lease', { before: { voidBelow: { lease: 'lease-2', epoch: 9 } } }, undefined],
  ['nobody knows', {}, undefined],
])('below which epoch drain intents count for nothing, where %s: what is not written stays', async (_, given, written) => {
  const pod = testPod({ containers: [{ name: 'app', image: 'app:v1' }] })
  const entries = new Map([[pod.uid, entryOf('web-0', { uid: pod.uid, ...given.before })]])
  const put: LedgerEntry[] = []
  const ports = createPodPorts({
    podOf: () => pod,
    ledger: { ledger: { entries }, put: async (entry: LedgerEntry) => void put.push(entry) },
    termOf: () => TERM,
    boundOf: () => given.seen,
    isOwned: () => true,
  } as unknown as PodPortOptions)
  await ports.enroll({ uid: pod.uid, pod, stored: { kind: 'none' }, wanted: [], targets: [] })
  expect(put.map(({ voidBelow }) => voidBelow)).toEqual([written])
})

describe('an entry that says that nothing is drained for a pod', () => {
  const pod = testPod({ ip: '10.0.0.2' })
  const { targets } = entryOf('web-0', { targets: [{ ...entryOf('web-0').targets[0]!, prior: 'of the record' }] })
  const record: Journal = { ...journal, step: 'drain', targets }
  const observation = { pod, stored: { kind: 'read' as const, journal: { ...record, epoch: 3 } } }

  async function done(
    call: 'claim' | 'drain' | 'restore',
    { isWritten = true, entry = { idle: true } as Partial<LedgerEntry> } = {},
  ) {
    const calls: string[] = []
    const entries = new Map([[pod.uid, entryOf('web-0', { uid: pod.uid, address: '10.0.0.1', order: 4, ...entry })]])
    const put = async (next: LedgerEntry): Promise<void> => {
      calls.push('ledger')
      if (!isWritten) throw new Error('no answer')
      entries.set(next.uid, next)
    }
    const ports = createPodPorts({
      client: { patch: async () => void calls.push('pod') } as unknown as KubeClient,
      clock: createVirtualClock(),
      namespace: 'default',
      store: { observe: () => observation },
      asking: UNASKED,
      traffic: { effect: async () => (calls.push('call'), { kind: 'applied' }) },
      ledger: { ledger: { entries }, put },
      podOf: () => pod,
      isOwned: () => true,
    } as unknown as PodPortOptions)
    const { kind } =
      call === 'claim'
        ? await ports.store({ ...observation, uid: pod.uid, wanted: [], record, restates: true })
        : await ports.effect({ uid: pod.uid, effect: call, record })
    return { kind, calls, entry: entries.get(pod.uid) }
  }

  test('says so no more before the open record of an earlier owner is claimed, nor when a drain is called', async () => {
    const { kind, calls, entry } = await done('claim')
    expect([kind, calls]).toEqual(['stored', ['ledger', 'pod']])
    expect(entry).toMatchObject({ state: 'open', targets, address: '10.0.0.1', order: 4 })
    expect(entry).not.toHaveProperty('idle')
    expect((await done('drain')).calls).toEqual(['ledger', 'call'])
  })

  test('control: it cannot be written, and so nothing else is', async () => {
    expect(await done('claim', { isWritten: false })).toMatchObject({ kind: 'unknown', calls: ['ledger'] })
    expect(await done('drain', { isWritten: false })).toMatchObject({ kind: 'retryable', calls: ['ledger'] })
  })

  test('control: one that does not say so, or is settled, is left as it is', async () => {
    expect((await done('claim', { entry: {} })).calls).toEqual(['pod'])
    expect((await done('claim', { entry: { state: 'closed' } })).calls).toEqual(['pod'])
    expect((await done('restore')).calls).toEqual(['call'])
  })
})

const [APP] = testPod({ containers: [{ name: 'app', image: 'app:v1', status: { id: 'c1' } }] }).containers as [ContainerView]
const READY = { name: 'web-0', uid: 'uid-0', ready: true, resourceVersion: '100' }
const OTHERS = { code: 'has-other-containers', pod: 'web-0' }
const GONE = { code: 'pod-gone' }
const NOT_READY = { code: 'pod-not-ready-any-more', pod: 'web-0' }

test.each([
  { toServe: 'it is ready', change: {}, objection: undefined },
  { toServe: 'not any more', change: { ready: false }, objection: NOT_READY },
  // Another writer has patched the pod meanwhile.
  { toServe: 'other images are asked for', change: { containers: [{ ...APP, image: 'app:v9' }] }, objection: OTHERS },
  { toServe: 'another container runs', change: { containers: [{ ...APP, containerId: 'c2' }] }, objection: OTHERS },
  { toServe: 'the kubelet has not seen its spec', change: { generation: 3, observedGeneration: 2 }, objection: OTHERS },
])('a restore leaves only for a pod that is ready as it leaves: $toServe', async ({ change, objection }) => {
  expect(await objections(change)).toEqual([objection, undefined])
})

test('while the pods cannot be watched, a restore leaves for a pod itself, and not for another in its place', async () => {
  const unknown = { code: 'readiness-unknown', pod: 'web-0' }
  expect(await objections({}, { isCurrent: false })).toEqual([undefined, undefined])
  expect(await objections({}, { isCurrent: false, uid: 'gone' })).toEqual([unknown, undefined])
  expect(await objections({}, { uid: 'gone' })).toEqual([undefined, undefined])
})

function asksFor(answer: AskedFor) {
  const pod = testPod(READY)
  const clock = createVirtualClock()
  const done: string[] = []
  const ports = createPodPorts({
    clock,
    asking: { pod: async ({ name }: PodView) => (done.push(`ask for ${name}`), answer) },
    refresh: async () => void done.push('refresh'),
    traffic: { effect: async ({ effect }: Parameters<Traffic['effect']>[0]) => void done.push(effect) },
    podOf: () => pod,
    ledger: { ledger: { entries: new Map() } },
  } as unknown as PodPortOptions)
  const heir = { ...pod, uid: 'uid-9', name: 'heir' }
  const call = async (effect: 'drain' | 'restore'): Promise<string[]> => {
    const toServe = effect === 'restore' ? { toServe: heir } : {}
    await ports.effect({ uid: pod.uid, ...toServe, effect, record: journal })
    return done.splice(0)
  }
  return { call, clock }
}

test.each([
  { answer: 'known', wanted: ['restore'] },
  { answer: 'news', wanted: ['refresh', 'restore'] },
  { answer: 'gone', wanted: ['refresh'] },
  { answer: 'silent', wanted: ['restore'] },
  { answer: 'unknown', wanted: ['restore'] },
] as const)('a restore asks for who is to get requests by it first: $answer', async ({ answer, wanted }) => {
  const { call } = asksFor(answer)
  expect(await call('restore')).toEqual(['ask for heir', ...wanted])
  expect(await call('drain')).toEqual(['drain'])
})

test('who is put off asks once more, a second later', async () => {
  const { call, clock } = asksFor('putOff')
  let done: string[] | undefined
  void call('restore').then((all) => (done = all))
  await clock.advance(999)
  expect(done).toBeUndefined()
  await clock.advance(1)
  expect(done).toEqual(['ask for heir', 'ask for heir', 'restore'])
})

test('where nobody answers, the next tries do not wait for that', async () => {
  const { call, clock } = asksFor('silent')
  await call('restore')
  await clock.advance(9_999)
  expect(await call('restore')).toEqual(['restore'])
  await clock.advance(1)
  expect(await call('restore')).toEqual(['ask for heir', 'restore'])
})

test('control: an API server that does not tell is asked each time', async () => {
  const { call } = asksFor('unknown')
  for (let times = 0; times < 2; times++) expect(await call('restore')).toEqual(['ask for heir', 'restore'])
})

test.each(['write', 'read'])('what it was answered in a %s need not be asked for', async (by) => {
  const answered: string[] = []
  const pod = testPod(READY)
  const ports = createPodPorts({
    client: { patch: async () => rawPod(READY), get: async () => rawPod(READY) } as unknown as KubeClient,
    clock: createVirtualClock(),
    namespace: 'default',
    store: { observe: () => ({ pod }) },
    asking: { answered: (uid: string) => void answered.push(uid) },
    podOf: () => pod,
    isOwned: () => true,
  } as unknown as PodPortOptions)
  if (by === 'read') await ports.read({ uid: pod.uid })
  else await ports.store({ uid: pod.uid, pod, stored: { kind: 'none' }, wanted: [], record: journal })
  expect(answered).toEqual([pod.uid])
})

test('one in the place of another may be none that was asked for; of a pod itself those that were asked for tell', async () => {
  expect(await objections({}, { isAskedFor: false, uid: 'gone' })).toEqual([undefined, GONE])
  expect(await objections({ ready: false }, { isAskedFor: false, uid: 'gone' })).toMatchObject([NOT_READY, {}])
  expect(await objections({}, { isAskedFor: false })).toEqual([GONE, GONE])
})

test.each([
  { is: 'being deleted', change: { deleting: true }, objection: { code: 'pod-going', pod: 'web-0' } },
  { is: 'evicted', change: { finished: true }, objection: { code: 'pod-going', pod: 'web-0' } },
  { is: 'gone', change: undefined, objection: GONE },
  { is: 'elsewhere', change: { ip: '10.0.0.9' }, objection: { code: 'pod-moved', pod: 'web-0' } },
])('no call leaves for the place of a pod that is $is', async ({ change, objection }) => {
  expect(await objections(change)).toEqual([objection, objection])
})

/** The objections to a restore and a drain of a pod that has changed this way while they waited. */
async function objections(
  change: Partial<PodView> | undefined,
  { isCurrent = true, isAskedFor = true, uid = 'uid-0' } = {},
): Promise<(Reason | undefined)[]> {
  const pod = { ...testPod({ ip: '10.0.0.1' }), containers: [APP], name: 'web-0', ready: true }
  const target = { loadBalancer: 'edge', target: 'web/web-0@10.0.0.1', scope: 'web', prior: 'ready', untouched: false }
  const record = { ...journal, targets: [target] }
  let now: PodView | undefined = pod
  const seen = () => now && { pod: now, stored: { kind: 'none' } }
  const asked: Parameters<Traffic['effect']>[0][] = []
  const ports = createPodPorts({
    clock: createVirtualClock(),
    asking: UNASKED,
    store: { get: () => (isAskedFor ? seen() : undefined), isCurrent: () => isCurrent },
    candidates: { isCurrent: () => isCurrent, all: () => [seen() ?? []].flat() },
    traffic: { effect: async (request: (typeof asked)[0]) => void asked.push(request) },
    ledger: { ledger: { entries: new Map() } },
    podOf: () => pod,
  } as unknown as PodPortOptions)
  await ports.effect({ uid, address: '10.0.0.1', toServe: pod, effect: 'restore', record })
  await ports.effect({ uid: pod.uid, address: '10.0.0.1', effect: 'drain', record: { ...record, step: 'drain' } })
  now = change && { ...pod, ...change }
  return asked.map((request) => request.objection?.())
}

test('nothing is sent without the Lease', async () => {
  const { answer, sent } = await close(journal, false)
  expect([answer.kind, sent]).toEqual(['unknown', []])
})

test.each([
  {
    name: 'another pod has its name',
    status: 422,
    message: 'Invalid: the server rejected our request due to an error in our request',
  },
  { name: 'it is gone', status: 404, message: 'NotFound: pods "web-0" not found' },
  { name: 'it was written at the same moment', status: 409, message: 'Conflict: the object has been modified' },
  { name: 'it never arrived', status: undefined, message: 'connect ECONNREFUSED 127.0.0.1:6443 (nothing was sent)' },
  { name: 'the server that has just started knows nobody yet', status: 401, message: 'Unauthorized' },
  {
    name: 'the server that has just started does not know yet what anybody may do',
    status: 403,
    message: 'pods "web-0" is forbidden: User "ci" cannot patch resource "pods" in API group "" in the namespace "shop"',
  },
])('a dry run that says nothing of the images refuses nothing: $name', async ({ status, message }) => {
  expect((await rehearsed(status, message)).kind).toBe('unknown')
})

test('control: a policy refuses them, with the same status', async () => {
  const denied = await rehearsed(422, 'Invalid: ValidatingAdmissionPolicy "images" denied request: not from our registry')
  expect(denied).toMatchObject({
    kind: 'refused',
    reason: { code: 'api-error', said: expect.stringContaining('not from our registry') as string },
  })
})

test('control: a webhook refuses them, with the status of a right that is missing', async () => {
  expect((await rehearsed(403, 'Forbidden: admission webhook "images" denied the request: not signed')).kind).toBe('refused')
})

test('images that come back as others are refused, with what came back', async () => {
  const stored = rawPod({ containers: [{ name: 'app', image: 'mirror/app:v2' }] })
  const client = { patch: () => Promise.resolve(stored) } as unknown as KubeClient
  const pod = testPod({ containers: [{ name: 'app', image: 'app:v1' }] })
  expect(await rehearse(client, 'shop', pod, [{ container: 'app', image: 'app:v2' }], [])).toEqual({
    kind: 'refused',
    reason: { code: 'dry-run-differs', images: [{ container: 'app', image: 'mirror/app:v2' }] },
  })
})

function rehearsed(status: number | undefined, message: string): ReturnType<typeof rehearse> {
  const kind = status === 409 ? 'conflict' : 'definite'
  const error = new KubeError(message, { kind, method: 'PATCH', path: '', ...(status === undefined ? {} : { status }) })
  const client = { patch: () => Promise.reject(error) } as unknown as KubeClient
  const pod = testPod({ containers: [{ name: 'app', image: 'app:v1' }] })
  return rehearse(client, 'shop', pod, [{ container: 'app', image: 'app:v2' }], [])
}

test('a write that is throttled is sent once, and is in doubt only when that time is over', async () => {
  const clock = createVirtualClock()
  const sent: unknown[] = []
  const throttled = new KubeError('429', { kind: 'throttled', method: 'PATCH', path: '', status: 429, retryAfterMs: 3_000 })
  const pod = testPod({ containers: [{ name: 'app', image: 'app:v1' }] })
  const ports = createPodPorts({
    client: {
      patch: async (_path: string, _operations: unknown, options: unknown) => {
        sent.push(options)
        throw throttled
      },
    } as unknown as KubeClient,
    clock,
    namespace: 'shop',
    isOwned: () => true,
  } as unknown as PodPortOptions)
  let answer: StoreAnswer | undefined
  const stored = { kind: 'none' as const }
  void ports.store({ uid: pod.uid, pod, stored, record: journal, wanted: [] }).then((one) => (answer = one))
  await clock.advance(2_900)
  expect([answer, sent]).toEqual([undefined, [expect.objectContaining({ once: true })]])
  await clock.advance(200)
  expect([answer?.kind, sent.length]).toEqual(['unknown', 1])
})

test.each([
  { name: 'a gateway that has lost its API server says so', reason: undefined, kind: 'unknown' },
  { name: 'control: the API server does', reason: 'NotFound', kind: 'gone' },
])('a pod is gone where the API server says that it is: $name', async ({ reason, kind }) => {
  const path = '/api/v1/namespaces/shop/pods/web-0'
  const fields = { kind: 'definite', method: 'GET', path, status: 404, ...(reason === undefined ? {} : { reason }) } as const
  const client = { get: () => Promise.reject(new KubeError('404', fields)) } as unknown as KubeClient
  const pod = testPod({ containers: [{ name: 'app', image: 'app:v1' }] })
  const clock = createVirtualClock()
  const ports = createPodPorts({ client, clock, namespace: 'shop', podOf: () => pod } as unknown as PodPortOptions)
  expect((await ports.read({ uid: pod.uid })).kind).toBe(kind)
  const lease = readLease(client, 'shop', 'sluice-statefulset-web')
  expect(await lease.catch((error: KubeError) => error.status)).toBe(reason === undefined ? 404 : undefined)
})

describe('the Events of a kubelet that reports no generation', () => {
  /** Answers each request for Events with the next of these. */
  function asking(...answers: unknown[]) {
    const asked: string[] = []
    const get = async (path: string): Promise<unknown> => {
      asked.push(path)
      const answer = answers[asked.length - 1]
      if (answer instanceof Error) throw answer
      return answer
    }
    const ports = createPodPorts({ client: { get } as unknown as KubeClient, namespace: 'shop' } as unknown as PodPortOptions)
    return { asked, pulls: () => ports.pulls({ uid: 'uid-0' }) }
  }
  const EVENT = {
    reason: 'Pulled',
    message: 'Container image "app:v2" already present on machine',
    involvedObject: { uid: 'uid-0', fieldPath: 'spec.containers{app}' },
    lastTimestamp: '2026-01-01T00:00:20Z',
  }
  const FORBIDDEN = new KubeError('events is forbidden', { kind: 'definite', method: 'GET', path: '', status: 403 })
  const SILENT = new KubeError('no answer', { kind: 'ambiguous', method: 'GET', path: '' })

  test('are asked for of this pod alone', async () => {
    const { asked, pulls } = asking({ items: [EVENT] })
    expect(await pulls()).toEqual({ kind: 'read', pulls: [{ container: 'app', image: 'app:v2', at: '2026-01-01T00:00:20Z' }] })
    expect(asked).toEqual([
      `/api/v1/namespaces/shop/events?fieldSelector=${encodeURIComponent('involvedObject.uid=uid-0,reason=Pulled')}`,
    ])
  })

  test('are not asked for again where the run may not list them, and are where nobody answered', async () => {
    const forbidden = asking(FORBIDDEN)
    expect([(await forbidden.pulls()).kind, (await forbidden.pulls()).kind]).toEqual(['unknown', 'unknown'])
    expect(forbidden.asked).toHaveLength(1)
    const silent = asking(SILENT, { items: [EVENT] })
    expect([(await silent.pulls()).kind, (await silent.pulls()).kind]).toEqual(['unknown', 'read'])
  })
})

describe('a container that needs no drain', () => {
  const pod = testPod({
    ip: '10.0.0.1',
    containers: [
      { name: 'app', image: 'app:v1' },
      { name: 'log-agent', image: 'agent:v1' },
    ],
  })
  const [app, agent] = [
    { container: 'app', image: 'app:v2' },
    { container: 'log-agent', image: 'agent:v2' },
  ]

  function createPorts(notFor?: string[]) {
    const asked: string[] = []
    const ports = createPodPorts({
      client: { patch: async () => void asked.push('patch') } as unknown as KubeClient,
      clock: createVirtualClock(),
      namespace: 'default',
      store: { observe: () => ({ pod, stored: { kind: 'none' } }) },
      asking: UNASKED,
      traffic: {
        async snapshot() {
          asked.push('snapshot')
          return { kind: 'taken', targets: [], address: '10.0.0.1' }
        },
      },
      notFor,
      podOperations: () => [],
      isOwned: () => true,
    } as unknown as PodPortOptions)
    return { ports, asked }
  }

  test('no load balancer is asked about a pod of which it alone changes', async () => {
    const { ports, asked } = createPorts(['log-agent'])
    const given = { uid: pod.uid, pod, stored: { kind: 'none' } } as const
    const taken = { kind: 'taken', targets: [], undrained: ['log-agent'], address: '10.0.0.1' }
    expect([await ports.snapshot({ ...given, wanted: [agent] }), asked]).toEqual([taken, []])
    expect(await ports.snapshot({ ...given, wanted: [app, agent] })).not.toHaveProperty('undrained')
    expect(asked, 'control: both change').toEqual(['snapshot'])
  })

  test('nothing else is patched over a record of it, nor that which the config does not name any more', async () => {
    const record: Journal = { ...journal, step: 'patched', undrained: ['log-agent'] }
    const write = async (wanted: (typeof app)[], notFor?: string[]) => {
      const { ports, asked } = createPorts(notFor)
      return [await ports.store({ uid: pod.uid, pod, stored: { kind: 'none' }, wanted, record }), asked] as const
    }
    const refused = (...containers: string[]) => [
      { kind: 'rejected', reason: { code: 'needs-drain', pod: pod.name, containers } },
      [],
    ]
    expect(await write([app, agent], ['log-agent'])).toEqual(refused('app'))
    expect(await write([agent])).toEqual(refused('log-agent'))
    expect(await write([agent], ['log-agent']), 'control').toMatchObject([{ kind: 'stored' }, ['patch']])
  })
})
