import { expect, test } from 'vitest'
import { checkAccess } from '../../src/kube/access.ts'
import { createKubeClient } from '../../src/kube/kube-client.ts'
import { createReflector } from '../../src/kube/reflector.ts'
import { createVirtualClock } from '../../src/kube/testing/virtual-clock.ts'
import type { Transport } from '../../src/kube/transport.ts'
import { createApiServer } from './api-server.ts'
import type { ApiServer, NewObject } from './server.ts'

/* The client and the reflector of sluice, over a transport that hands each request to the embedded API server at once. */

const PODS = '/api/v1/namespaces/default/pods'

function transportTo(server: ApiServer): Transport {
  return {
    send: (request) => Promise.resolve(server.handle(request, 'sluice')),
    stream: (request, onLine, onOpen) =>
      new Promise((resolve) => {
        const end = () => resolve({ status: 200, headers: {}, text: '' })
        const watching = server.watch(request, { line: onLine, end }, 'sluice')
        if (watching.kind === 'refused') return resolve(watching.answer)
        onOpen?.()
        request.signal?.addEventListener('abort', () => {
          watching.close()
          end()
        })
      }),
    close: () => Promise.resolve(),
  }
}

function pod(name: string, image = 'app:v1'): NewObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels: { app: 'web' } },
    spec: { nodeName: 'node', containers: [{ name: 'app', image }] },
  }
}

function start() {
  const clock = createVirtualClock()
  const random = { next: () => 0.5 }
  let seed = 0
  const server = createApiServer({ clock, random: { next: () => (seed = (seed * 16_807 + 11) % 2_147_483_647) / 2_147_483_647 } })
  const client = createKubeClient({ transport: transportTo(server), clock, random })
  const events: string[] = []
  const errors: string[] = []
  const reflector = createReflector({
    client,
    clock,
    random,
    path: PODS,
    labelSelector: 'app=web',
    decode: (raw) => (raw as { metadata: { uid: string; name: string; namespace: string; resourceVersion: string } }).metadata,
    onEvent: ({ type, record }) => events.push(`${type} ${record.name}`),
    onError: ({ message }) => errors.push(message),
  })
  return { clock, server, client, reflector, events, errors }
}

test('a reflector lists in pages, and then follows the writes of clients and of the kubelet', async () => {
  const { clock, server, client, reflector, events, errors } = start()
  for (let i = 0; i < 1_201; i++) server.store.create('pods', pod(`web-${i}`), 'controller')
  await reflector.start()
  expect(reflector.records().size).toBe(1_201)
  await clock.settle()
  events.length = 0

  await client.patch(`${PODS}/web-0`, [{ op: 'replace', path: '/spec/containers/0/image', value: 'app:v2' }])
  server.store.update('pods', 'default', 'web-1', (now) => ({ ...now, status: { phase: 'Running' } }), 'kubelet')
  await client.patch(`${PODS}/web-2`, [{ op: 'remove', path: '/metadata/labels/app' }])
  await client.delete(`${PODS}/web-3`)
  server.store.remove('pods', 'default', 'web-3', 'kubelet')
  await clock.settle()
  expect(events).toEqual(['modified web-0', 'modified web-1', 'deleted web-2', 'modified web-3', 'deleted web-3'])
  expect(errors).toEqual([])
  await reflector.stop()
})

test('a watch that ends in order goes on where it was; one that fell behind what is forgotten lists again', async () => {
  const { clock, server, reflector, events, errors } = start()
  server.store.create('pods', pod('web-0'), 'controller')
  await reflector.start()
  await clock.settle()

  server.closeWatches()
  server.store.create('pods', pod('web-1'), 'controller')
  await clock.runUntil(() => events.length === 2)
  expect(errors.filter((message) => message.includes('410'))).toEqual([])

  server.closeWatches()
  server.store.remove('pods', 'default', 'web-0', 'controller')
  server.compact()
  await clock.runUntil(() => events.length === 3)
  expect(events).toEqual(['added web-0', 'added web-1', 'deleted web-0'])
  expect(errors.filter((message) => message.includes('410'))).toHaveLength(1)
  await reflector.stop()
})

test('bookmarks keep a quiet watch alive; without them it counts as dead', async () => {
  const { clock, server, reflector, errors } = start()
  await reflector.start()
  await clock.settle()
  for (let minute = 0; minute < 3; minute++) {
    await clock.advance(60_000)
    server.bookmark()
  }
  expect(errors).toEqual([])
  await clock.advance(91_000)
  expect(errors).toEqual([expect.stringContaining('no line of the watch')])
  await reflector.stop()
})

test('rights: a review says what a request gets', async () => {
  const { server, client } = start()
  server.authorize((by, { verb, resource }) => !(by === 'sluice' && verb === 'patch' && resource === 'pods'))
  const patch = { verb: 'patch', resource: 'pods', namespace: 'default' }
  expect(await checkAccess(client, [patch, { ...patch, verb: 'get' }])).toEqual({ denied: [{ check: patch }] })
  server.store.create('pods', pod('web-0'), 'controller')
  await expect(client.patch(`${PODS}/web-0`, [])).rejects.toMatchObject({ status: 403, reason: 'Forbidden' })
})
