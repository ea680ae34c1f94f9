import { expect, test } from 'vitest'
import { writeJournal } from '../journal/journal.ts'
import { realisticJournal } from '../journal/testing/journals.ts'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import type { RawPodOptions } from '../pods/testing/raw-pod.ts'
import { rawPod } from '../pods/testing/raw-pod.ts'
import { JOURNAL_KEY } from '../pods/view.ts'
import { createFakeApi, type Raw } from '../workloads/testing/fake-api.ts'
import type { PodStore } from './pod-store.ts'
import { openPodStore } from './pod-store.ts'
import { withObservation } from './testing/with-observation.ts'

const journal = (attempt: number): string => writeJournal({ ...realisticJournal, attempt })

async function open(): Promise<{ store: PodStore; see(version: number, options: RawPodOptions): unknown }> {
  const store = await openPodStore({
    ...withObservation({ client: createFakeApi().client, clock: createVirtualClock(), random: { next: () => 0 } }),
    namespace: 'shop',
    selector: { labelSelector: 'app=web' },
    onChange() {},
    onGone() {},
    onSight() {},
    onError(error) {
      throw error
    },
  })
  return { store, see: (version, options) => store.observe(rawPod({ ...options, resourceVersion: String(version) })).stored }
}

test('a journal is read once, however many versions of the pod have it', async () => {
  const { store, see } = await open()
  const annotations = { [JOURNAL_KEY]: journal(1) }
  const first = see(10, { annotations, ready: true })
  expect(see(11, { annotations, ready: false })).toBe(first)
  expect(store.get('uid-0')?.pod.ready).toBe(false)
  await store.stop()
})

test.each([
  {
    name: 'annotation',
    before: { annotations: { [JOURNAL_KEY]: journal(1) } },
    now: { annotations: { [JOURNAL_KEY]: journal(2) } },
  },
  { name: 'condition', before: { journalCondition: journal(1) }, now: { journalCondition: journal(2) } },
])('another in the $name is read anew', async ({ before, now }) => {
  const { store, see } = await open()
  expect(see(10, before)).toMatchObject({ kind: 'read', journal: { attempt: 1 } })
  expect(see(11, now)).toMatchObject({ kind: 'read', journal: { attempt: 2 } })
  expect(see(12, {})).toEqual({ kind: 'none' })
  await store.stop()
})

test('a condition that somebody has emptied of its message is none that never was', async () => {
  const { store, see } = await open()
  const emptied = rawPod({ resourceVersion: '11', journalCondition: '' })
  delete emptied.status.conditions[0].message
  expect(see(10, {})).toEqual({ kind: 'none' })
  expect(store.observe(emptied).stored).toMatchObject({ kind: 'unreadable' })
  await store.stop()
})

const WEB = '/api/v1/namespaces/shop/pods/web-0'

/** A pod with the label, in the view of a run that has begun. */
async function openRun({ hasBegun = true } = {}) {
  const api = createFakeApi()
  const clock = createVirtualClock()
  const told: string[] = []
  const put = (options: RawPodOptions = {}): unknown => api.put(WEB, rawPod({ labels: { app: 'web' }, ...options }))
  put()
  const streams: ((line: string) => void)[] = []
  const client: KubeClient = {
    ...api.client,
    watch(path, watching) {
      streams.push(watching.onLine)
      return api.client.watch(path, watching)
    },
  }
  const store = await openPodStore({
    ...withObservation({ client, clock, random: { next: () => 0 } }),
    namespace: 'shop',
    selector: { labelSelector: 'app=web' },
    keepsUnselected: () => hasBegun,
    onUnselected: ({ name }) => told.push(`${name} is unselected`),
    onChange: () => told.push('changed'),
    onGone: () => told.push('gone'),
    onSight: () => told.push('sight'),
    onError: (error) => told.push(error.message),
  })
  told.length = 0
  const edit = (change: (pod: Raw) => void): unknown => api.edit(WEB, change)
  const label = (app?: string): unknown => edit(({ metadata }) => (metadata.labels = app === undefined ? {} : { app }))
  /** The deletion event of a watch by labels: the pod as it was in the selection, with the version of the change that removed it. */
  const leave = ({ metadata, ...rest }: Raw, { metadata: { resourceVersion } }: Raw = api.get(WEB)): void =>
    streams[0]!(JSON.stringify({ type: 'DELETED', object: { ...rest, metadata: { ...metadata, resourceVersion } } }))
  const calls = (): string[] => api.calls.splice(0).map(({ method }) => method)
  const lastly = async (): Promise<string[]> => {
    await clock.settle()
    return told.splice(0)
  }
  /** The events of a list, in the form of watch events. */
  async function relist(): Promise<string[]> {
    await store.refresh()
    return (await lastly()).filter((one) => one !== 'sight')
  }
  const isThere = (): boolean => store.get('uid-0') !== undefined && Array.from(store.all()).length === 1
  return { api, clock, store, put, edit, label, leave, calls, lastly, relist, isThere }
}

// A pod that loses its label during its restart must not be taken for gone, because a reload of the load balancer may forget its drain.
test('a pod that loses its label is followed by its name until it is gone', async () => {
  const { api, store, edit, label, lastly, relist, isThere, calls } = await openRun()
  label()
  expect([await relist(), isThere(), store.isCurrent()]).toEqual([['web-0 is unselected', 'changed'], true, true])
  edit(({ metadata }) => (metadata.annotations = { [JOURNAL_KEY]: journal(2) }))
  expect([await lastly(), store.get('uid-0')?.stored]).toMatchObject([['changed'], { kind: 'read', journal: { attempt: 2 } }])
  const answer = api.get(WEB)
  answer.metadata.resourceVersion = String(Number(answer.metadata.resourceVersion) + 1)
  expect(store.observe(answer)).toBe(store.get('uid-0'))
  calls()
  api.remove(WEB)
  expect([await lastly(), isThere(), store.isCurrent(), calls()]).toEqual([['gone'], false, true, []])
  // A late answer.
  store.observe(answer)
  expect([isThere(), await relist(), store.isCurrent()]).toEqual([false, [], true])
  await store.stop()
})

test('what is changed together with its label is seen, though the watch shows it as it was before', async () => {
  const { api, store, edit, leave } = await openRun()
  const before = api.get(WEB)
  edit(({ metadata }) => Object.assign(metadata, { labels: {}, annotations: { [JOURNAL_KEY]: journal(2) } }))
  leave(before)
  expect(store.get('uid-0')?.stored).toEqual({ kind: 'none' })
  await store.refresh()
  expect(store.get('uid-0')?.stored).toMatchObject({ kind: 'read', journal: { attempt: 2 } })
  await store.stop()
})

test('what an answer has said of it since is not forgotten until it is asked for', async () => {
  const { api, store, edit, label, leave } = await openRun()
  const before = api.get(WEB)
  label()
  const left = api.get(WEB)
  edit(({ metadata }) => (metadata.annotations = { [JOURNAL_KEY]: journal(2) }))
  store.observe(api.get(WEB))
  leave(before, left)
  expect(store.get('uid-0')?.stored).toMatchObject({ kind: 'read', journal: { attempt: 2 } })
  await store.stop()
})

test('until there is an answer it is as it was, and nothing is known of now', async () => {
  const { api, clock, store, label, lastly, isThere } = await openRun()
  label()
  let isDown = true
  let lists = 0
  api.faults.before = (method) => {
    lists += method === 'LIST' ? 1 : 0
    if (method === 'LIST' && lists > 1 && isDown) throw new KubeError('down', { kind: 'ambiguous', method, path: WEB })
  }
  let isRefreshed = false
  const refreshed = store.refresh().then(() => (isRefreshed = true))
  // Longer than the time limit of a first list.
  await clock.advance(70_000)
  const told = new Set(await lastly())
  expect([told, isThere(), store.isCurrent(), isRefreshed]).toEqual([new Set(['sight', 'down']), true, false, false])
  isDown = false
  await clock.advance(10_000)
  await refreshed
  expect([await lastly(), isThere(), store.isCurrent()]).toMatchObject([['web-0 is unselected', 'changed', 'sight'], true, true])
  await store.stop()
})

test('one that has its label again is told of once, and not as it was before', async () => {
  const { api, store, label, lastly, relist, isThere, calls } = await openRun()
  label()
  await relist()
  const newest = api.get(WEB)
  newest.metadata.resourceVersion = String(Number(newest.metadata.resourceVersion) + 2)
  store.observe(newest)
  label('web')
  expect([await lastly(), store.get('uid-0')?.pod.resourceVersion, isThere()]).toEqual([
    [],
    newest.metadata.resourceVersion,
    true,
  ])
  label('web')
  label('web')
  await lastly()
  label('web')
  expect([await lastly(), isThere()]).toEqual([['changed'], true])
  calls()
  api.remove(WEB)
  await lastly()
  expect([isThere(), calls()]).toEqual([false, ['LIST']])
  await store.stop()
})

test.each([
  { name: 'it is deleted without notice', replace: false },
  { name: 'another has its name by now', replace: true },
])('gone is what is not there any more: $name', async ({ replace }) => {
  const { api, store, put, relist, isThere } = await openRun()
  api.remove(WEB)
  if (replace) put({ uid: 'uid-1', labels: {} })
  expect([await relist(), isThere(), store.isCurrent()]).toEqual([['gone'], false, true])
  await store.stop()
})

test.each([
  { name: 'one that was going', options: { deleting: true } },
  { name: 'one at its end', options: { phase: 'Failed' } },
  { name: 'one that is not of a run yet', hasBegun: false },
])('control: $name is gone with its label, and is not asked for', async ({ options = {}, hasBegun = true }) => {
  const { store, put, label, lastly, relist, isThere, calls } = await openRun({ hasBegun })
  put(options)
  await lastly()
  label()
  calls()
  expect([await relist(), isThere(), calls()]).toEqual([['gone'], false, ['LIST', 'WATCH']])
  await store.stop()
})
