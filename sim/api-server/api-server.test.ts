import { expect, test } from 'vitest'
import { createVirtualClock } from '../../src/kube/testing/virtual-clock.ts'
import { createApiServer } from './api-server.ts'
import type { ApiAnswer, ApiServer, NewObject, StoredWrite } from './server.ts'

const PODS = '/api/v1/namespaces/default/pods'
const JSON_PATCH = { 'content-type': 'application/json-patch+json' }

function start(options: { watchWindow?: number; expiredWatch?: 'event' | 'answer' } = {}) {
  const clock = createVirtualClock()
  let seed = 7
  const random = { next: () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647 }
  const server = createApiServer({ clock, random, ...options })
  return { clock, server }
}

function pod(name: string): NewObject {
  const spec = { nodeName: 'node', containers: [{ name: 'app', image: 'app:v1' }] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec }
}

function patch(server: ApiServer, name: string, operations: unknown[], query = ''): ApiAnswer {
  const request = {
    method: 'PATCH',
    path: `${PODS}/${name}${query}`,
    headers: JSON_PATCH,
    body: JSON.stringify(operations),
  } as const
  return server.handle(request, 'sluice')
}

const image = (value: string) => ({ op: 'replace', path: '/spec/containers/0/image', value })

function watch(server: ApiServer, query: string) {
  const lines: {
    type: string
    object: { metadata: { name?: string; resourceVersion: string; annotations?: object }; code?: number }
  }[] = []
  const state = { ended: false }
  const sink = { line: (text: string) => void lines.push(JSON.parse(text)), end: () => void (state.ended = true) }
  const opened = server.watch({ method: 'GET', path: `${PODS}?watch=1${query}`, headers: {} }, sink)
  return { lines, state, opened }
}

test('the same seed gives the same objects', () => {
  const once = () => {
    const { server } = start()
    return ['a', 'b'].map((name) => JSON.stringify(server.store.create('pods', pod(name), 'x')))
  }
  const [a, b] = once()
  expect(once()).toEqual([a, b])
  expect(JSON.parse(a!).metadata.uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(JSON.parse(a!).metadata.uid).not.toBe(JSON.parse(b!).metadata.uid)
})

test('the history says who wrote what, and nothing of a dry run, a refusal or a write that changes nothing', () => {
  const { server } = start()
  const writes: string[] = []
  const texts: (StoredWrite['after'] | undefined)[] = []
  server.store.subscribe((resource, { verb, by, before, after }) => {
    writes.push(`${by} ${verb} ${resource} ${(before ?? after)!.metadata.name}`)
    texts.push(after)
  })
  server.store.create('pods', pod('web'), 'controller')
  patch(server, 'web', [image('app:v2')])
  expect(JSON.parse(patch(server, 'web', [image('app:v3')], '?dryRun=All').text).spec.containers[0].image).toBe('app:v3')
  patch(server, 'web', [{ op: 'test', path: '/metadata/uid', value: 'x' }, image('app:v3')])
  patch(server, 'web', [image('app:v2')])
  server.store.update('pods', 'default', 'web', (now) => now, 'kubelet')
  server.store.remove('pods', 'default', 'web', 'kubelet')
  expect(writes).toEqual(['controller create pods web', 'sluice update pods web', 'kubelet delete pods web'])
  expect(texts.at(-1)).toBeUndefined()
})

test('an object is never changed in place: what was given out stays as it was', () => {
  const { server } = start()
  const before = server.store.create('pods', pod('web'), 'x')
  const text = JSON.stringify(before)
  patch(server, 'web', [image('app:v2')])
  server.store.update('pods', 'default', 'web', (now) => ({ ...now, status: { phase: 'Running' } }), 'kubelet')
  expect(JSON.stringify(before)).toBe(text)
  expect(server.store.get('pods', 'default', 'web')).toMatchObject({ metadata: { generation: 2 }, status: { phase: 'Running' } })
})

test('admission refuses, and rewrites, also in a dry run', () => {
  const { server } = start()
  server.store.create('pods', pod('web'), 'x')
  server.admit(({ object, by }) => {
    if (by !== 'sluice') return undefined
    const [app] = (object['spec'] as { containers: { image: string }[] }).containers
    if (app!.image === 'bad:v1') return { refuse: 'admission webhook "images" denied the request: no' }
    return {
      object: { ...object, spec: { ...(object['spec'] as object), containers: [{ ...app, image: `mirror/${app!.image}` }] } },
    }
  })
  const refused = patch(server, 'web', [image('bad:v1')], '?dryRun=All')
  expect(JSON.parse(refused.text)).toMatchObject({ code: 403, reason: 'Forbidden', message: expect.stringContaining('denied') })
  expect(JSON.parse(patch(server, 'web', [image('app:v2')]).text)).toMatchObject({
    metadata: { generation: 2 },
    spec: { containers: [{ image: 'mirror/app:v2' }] },
  })
})

test('a watch ends when its time is up, and hears nothing more', async () => {
  const { clock, server } = start()
  const { lines, state } = watch(server, '&timeoutSeconds=5')
  await clock.advance(4_999)
  server.store.create('pods', pod('a'), 'x')
  expect([state.ended, lines.length]).toEqual([false, 1])
  await clock.advance(1)
  server.store.create('pods', pod('b'), 'x')
  expect([state.ended, lines.length]).toEqual([true, 1])
  expect(clock.pending()).toBe(0)
})

test('a closed watch hears nothing more, and leaves no timer', () => {
  const { clock, server } = start()
  const { lines, state, opened } = watch(server, '&timeoutSeconds=5')
  if (opened.kind === 'watching') opened.close()
  server.store.create('pods', pod('a'), 'x')
  server.closeWatches()
  expect([lines.length, state.ended, clock.pending()]).toEqual([0, false, 0])
})

test('a watch that falls out of the window is told so; one that is inside gets all that it missed, once', () => {
  const { server } = start({ watchWindow: 3 })
  const first = server.store.create('pods', pod('a'), 'x').metadata.resourceVersion
  for (const name of ['b', 'c', 'd']) server.store.create('pods', pod(name), 'x')
  const inside = watch(server, `&resourceVersion=${first}`)
  server.store.create('pods', pod('e'), 'x')
  expect(inside.lines.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
    'ADDED b',
    'ADDED c',
    'ADDED d',
    'ADDED e',
  ])

  const outside = watch(server, `&resourceVersion=${first}`)
  expect(outside.lines).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }])
  expect(outside.state.ended).toBe(true)
})

test('a watch that is opened while a write is told hears of that write once', () => {
  const { server } = start()
  const opened: ReturnType<typeof watch>[] = []
  server.store.subscribe(() => {
    if (opened.length === 0) opened.push(watch(server, ''))
  })
  server.store.create('pods', pod('a'), 'x')
  expect(opened[0]!.lines.map(({ type }) => type)).toEqual(['ADDED'])
})

test('bookmarks go to those who asked, with the version to go on from; the initial events end with one', () => {
  const { server } = start()
  server.store.create('pods', pod('a'), 'x')
  const newest = server.store.create('pods', pod('b'), 'x').metadata.resourceVersion
  const asked = watch(server, '&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan')
  const others = watch(server, `&resourceVersion=${newest}`)
  expect(asked.lines.map(({ type }) => type)).toEqual(['ADDED', 'ADDED', 'BOOKMARK'])
  expect(asked.lines.at(-1)!.object.metadata).toMatchObject({
    resourceVersion: newest,
    annotations: { 'k8s.io/initial-events-end': 'true' },
  })
  server.bookmark()
  expect(asked.lines.at(-1)).toMatchObject({ type: 'BOOKMARK', object: { metadata: { resourceVersion: newest } } })
  expect(others.lines).toEqual([])
})

test('the rights of a user end with what the authorizer says', () => {
  const { server } = start()
  server.authorize((by, { verb, subresource }) => by === 'kubelet' || (verb === 'patch' && subresource === ''))
  server.store.create('pods', pod('web'), 'x')
  expect(patch(server, 'web', [image('app:v2')]).status).toBe(200)
  expect(patch(server, 'web/status', []).status).toBe(403)
  const get = { method: 'GET', path: `${PODS}/web`, headers: {} } as const
  expect([server.handle(get, 'sluice').status, server.handle(get, 'kubelet').status]).toEqual([403, 200])
  expect(watch(server, '').opened).toMatchObject({ kind: 'refused', answer: { status: 403 } })
})

test('a server without a watch cache answers at once that the version is forgotten', () => {
  const { server } = start({ expiredWatch: 'answer' })
  const { resourceVersion } = server.store.create('pods', pod('a'), 'x').metadata
  server.store.create('pods', pod('b'), 'x')
  server.compact()
  const { opened, lines } = watch(server, `&resourceVersion=${resourceVersion}`)
  expect(opened).toMatchObject({ kind: 'refused', answer: { status: 410 } })
  expect(lines).toEqual([])
})

test('a watch that is sent as a request is a mistake of whoever carries it', () => {
  const { server } = start()
  expect(() => server.handle({ method: 'GET', path: `${PODS}?watch=1`, headers: {} }, 'sluice')).toThrow('watch()')
})
