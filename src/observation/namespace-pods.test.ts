import { expect, test } from 'vitest'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import type { RawPodOptions } from '../pods/testing/raw-pod.ts'
import { rawPod } from '../pods/testing/raw-pod.ts'
import { createFakeApi, type Raw } from '../workloads/testing/fake-api.ts'
import { createObservation } from './observation.ts'
import { openPodStore } from './pod-store.ts'

/** Two runs of a process in one namespace, each with the pods of its own label. */
async function twoViews({ hasBegun = true } = {}) {
  const api = createFakeApi()
  const clock = createVirtualClock()
  const observation = createObservation({ client: api.client, clock, random: { next: () => 0 }, scope: 'namespace' })
  const path = (name: string): string => `/api/v1/namespaces/shop/pods/${name}`
  const put = (name: string, options: RawPodOptions = {}): unknown =>
    api.put(path(name), rawPod({ name, uid: `uid-${name}`, labels: { app: name.split('-')[0]! }, ...options }))
  const label = (name: string, app?: string): unknown =>
    api.edit(path(name), ({ metadata }: Raw) => (metadata.labels = app === undefined ? {} : { app }))
  for (const name of ['web-0', 'web-1', 'api-0', 'other-0']) put(name)
  async function view(app: string) {
    const told: string[] = []
    const store = await openPodStore({
      observation,
      namespace: 'shop',
      selector: { labelSelector: `app=${app}`, selects: ({ labels }) => labels['app'] === app },
      keepsUnselected: () => hasBegun,
      onUnselected: ({ name }) => told.push(`${name} is unselected`),
      onChange: (uid) => told.push(`${uid} changed`),
      onGone: (uid) => told.push(`${uid} is gone`),
      onSight: () => {},
      onError: (error) => told.push(error.message),
    })
    told.length = 0
    const lastly = async (): Promise<string[]> => {
      await clock.settle()
      return told.splice(0)
    }
    const names = (): string[] => Array.from(store.all(), ({ pod }) => pod.name).toSorted()
    return { store, lastly, names }
  }
  const [web, backend] = [await view('web'), await view('api')]
  return { api, path, put, label, web, backend, observation }
}

test('each sees its own pods of one feed, and hears of no others', async () => {
  const { put, web, backend, observation, api } = await twoViews()
  expect([web.names(), backend.names(), observation.size]).toEqual([['web-0', 'web-1'], ['api-0'], 1])
  expect([web.store.get('uid-api-0'), backend.store.get('uid-web-0')]).toEqual([undefined, undefined])
  put('web-1', { ready: true })
  put('other-0', { ready: true })
  expect([await web.lastly(), await backend.lastly()]).toEqual([['uid-web-1 changed'], []])
  api.remove('/api/v1/namespaces/shop/pods/web-1')
  expect([await web.lastly(), await backend.lastly(), web.names()]).toEqual([['uid-web-1 is gone'], [], ['web-0']])
})

test('a pod that loses its label is kept until it is gone, without a watch of its own', async () => {
  const { api, path, put, label, web, backend } = await twoViews()
  api.calls.length = 0
  label('web-0')
  expect([await web.lastly(), web.names()]).toEqual([
    ['web-0 is unselected', 'uid-web-0 changed'],
    ['web-0', 'web-1'],
  ])
  put('web-0', { labels: {}, ready: true })
  expect([await web.lastly(), web.store.get('uid-web-0')?.pod.ready]).toEqual([['uid-web-0 changed'], true])
  label('web-0', 'web')
  label('web-0')
  expect(await web.lastly()).toEqual(['uid-web-0 changed', 'web-0 is unselected', 'uid-web-0 changed'])
  api.remove(path('web-0'))
  expect([await web.lastly(), web.names(), await backend.lastly()]).toEqual([['uid-web-0 is gone'], ['web-1'], []])
  expect(api.calls).toEqual([])
})

test('a pod with the label of another run is both’s for as long as the one has not let go of it', async () => {
  const { label, web, backend } = await twoViews()
  label('web-0', 'api')
  await web.lastly()
  expect([web.names(), backend.names(), await backend.lastly()]).toEqual([
    ['web-0', 'web-1'],
    ['api-0', 'web-0'],
    ['uid-web-0 changed'],
  ])
})

test.each([
  { name: 'a pod that was going', options: { deleting: true } },
  { name: 'a pod at its end', options: { phase: 'Failed' } },
  { name: 'a pod that is not of a run yet', hasBegun: false },
])('control: $name is gone with its label', async ({ options = {}, hasBegun = true }) => {
  const { put, label, web } = await twoViews({ hasBegun })
  put('web-0', options)
  await web.lastly()
  label('web-0')
  expect([await web.lastly(), web.names()]).toEqual([['uid-web-0 is gone'], ['web-1']])
})

test('an answer is known to both before the watch tells it, and is told by a look alone', async () => {
  const { api, path, web } = await twoViews()
  const ahead = (by: number): Raw => {
    const raw = api.get(path('web-0'))
    raw.metadata.resourceVersion = String(Number(raw.metadata.resourceVersion) + by)
    raw.spec.nodeName = `n${by}`
    return raw
  }
  web.store.observe(ahead(100))
  expect([await web.lastly(), web.store.get('uid-web-0')?.pod.node]).toEqual([[], 'n100'])
  web.store.announce(ahead(200))
  expect([await web.lastly(), web.store.get('uid-web-0')?.pod.node]).toEqual([['uid-web-0 changed'], 'n200'])
  web.store.announce(ahead(150))
  expect([await web.lastly(), web.store.get('uid-web-0')?.pod.node]).toEqual([[], 'n200'])
})
