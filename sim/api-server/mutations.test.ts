import { expect, test } from 'vitest'
import { createVirtualClock } from '../../src/kube/testing/virtual-clock.ts'
import { createApiServer } from './api-server.ts'
import type { KubeObject, MutatingHook } from './server.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'
const JSON_TYPE = { 'content-type': 'application/json' }

function start(hook: MutatingHook) {
  let seed = 7
  const random = { next: () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647 }
  const server = createApiServer({ clock: createVirtualClock(), random })
  const seen: Omit<Parameters<MutatingHook>[0], 'object' | 'before'>[] = []
  server.mutate(['configmaps'], (write) => {
    const { object: _, before: __, ...rest } = write
    seen.push(rest)
    return hook(write)
  })
  return { server, seen }
}

const configMap = (data: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'default' },
  data,
})
const told: MutatingHook = ({ object }) => ({ ...object, data: { ...(object['data'] as object), told: 'yes' } })
const dataOf = (object: KubeObject | undefined) => object?.['data']

test('requests and direct writes are changed alike, and the hook knows of each what it is', () => {
  const { server, seen } = start(told)
  server.handle(
    { method: 'POST', path: CONFIG_MAPS, headers: JSON_TYPE, body: JSON.stringify(configMap({ by: 'request' })) },
    'a',
  )
  expect(dataOf(server.store.get('configmaps', 'default', 'a'))).toEqual({ by: 'request', told: 'yes' })
  server.store.update('configmaps', 'default', 'a', (now) => ({ ...now, data: { by: 'store' } }), 'b')
  expect(dataOf(server.store.get('configmaps', 'default', 'a'))).toEqual({ by: 'store', told: 'yes' })
  server.store.remove('configmaps', 'default', 'a', 'b')
  server.store.create('configmaps', configMap({}), 'b')
  expect(dataOf(server.store.get('configmaps', 'default', 'a'))).toEqual({ told: 'yes' })
  const of = { resource: 'configmaps', dryRun: false }
  expect(seen).toEqual([
    { ...of, operation: 'CREATE', by: 'a' },
    { ...of, operation: 'UPDATE', by: 'b' },
    { ...of, operation: 'CREATE', by: 'b' },
  ])
})

test('a write that a hook turns into nothing is not stored', () => {
  const { server } = start(({ object, before }) => before ?? object)
  const { metadata } = server.store.create('configmaps', configMap({ a: '1' }), 'a')
  server.store.update('configmaps', 'default', 'a', (now) => ({ ...now, data: { a: '2' } }), 'a')
  const patch = {
    method: 'PATCH',
    path: `${CONFIG_MAPS}/a`,
    headers: { 'content-type': 'application/merge-patch+json' },
  } as const
  expect(server.handle({ ...patch, body: JSON.stringify({ data: { a: '3' } }) }, 'a').status).toBe(200)
  expect(server.store.get('configmaps', 'default', 'a')).toMatchObject({ metadata, data: { a: '1' } })
})

test('a dry run is changed and not stored, and other kinds are left alone', () => {
  const { server, seen } = start(told)
  const answer = server.handle(
    { method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, headers: JSON_TYPE, body: JSON.stringify(configMap({})) },
    'a',
  )
  expect(JSON.parse(answer.text).data).toEqual({ told: 'yes' })
  expect(server.store.get('configmaps', 'default', 'a')).toBeUndefined()
  server.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'b' } }, 'a')
  expect(seen.map(({ dryRun }) => dryRun)).toEqual([true])
})
