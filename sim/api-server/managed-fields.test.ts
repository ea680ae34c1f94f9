import { expect, test } from 'vitest'
import { createVirtualTime } from '../testing/virtual-time.ts'
import { createApiServer } from './api-server.ts'

/** Returns the managers of each field, by the path of the field. */
function ownersOf(object: { metadata: { [field: string]: unknown } } | undefined): Record<string, string[]> {
  const owners: Record<string, string[]> = {}
  const walk = (tree: object, path: string, manager: string): void => {
    for (const [step, below] of Object.entries(tree)) {
      const own = `${path}/${step.replace(/^f:/, '')}`
      if (Object.keys(below as object).length === 0) (owners[own] ??= []).push(manager)
      else walk(below as object, own, manager)
    }
  }
  for (const { manager, fieldsV1 } of (object?.metadata['managedFields'] ?? []) as { manager: string; fieldsV1: object }[])
    walk(fieldsV1, '', manager)
  return owners
}

const POD = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0', namespace: 'default' }, spec: { containers: [] } }

function server(managesFields = true) {
  const clock = createVirtualTime()
  return createApiServer({ clock, random: { next: () => 0.5 }, managesFields })
}

test('each field is of the client that has changed it last, and of nobody once it is gone', () => {
  const { store } = server()
  store.create('pods', { ...POD, metadata: { ...POD.metadata, labels: { app: 'web', old: 'x' } } }, 'statefulset-controller')
  const ready = (status: string) => [{ type: 'Ready', status, lastTransitionTime: `at ${status}` }]
  store.update(
    'pods',
    'default',
    'web-0',
    (now) => ({ ...now, status: { podIP: '10.0.0.1', conditions: ready('True') } }),
    'kubelet',
  )
  const after = store.update(
    'pods',
    'default',
    'web-0',
    (now) => ({
      ...now,
      metadata: { ...now.metadata, labels: { app: 'web' } },
      status: { ...(now['status'] as object), conditions: ready('False') },
    }),
    'node-controller',
  )
  const ofReady = '/status/conditions/k:{"type":"Ready"}'
  expect(ownersOf(after)).toMatchObject({
    '/metadata/labels/app': ['kube-controller-manager'],
    '/status/podIP': ['kubelet'],
    [`${ofReady}/status`]: ['kube-controller-manager'],
    [`${ofReady}/type`]: ['kubelet'],
  })
  expect(ownersOf(after)).not.toHaveProperty(['/metadata/labels/old'])
})

test('a request that leaves them out changes nothing by that, and what a client says of them does not count', () => {
  const apiServer = server()
  const { store } = apiServer
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'own', namespace: 'default' }, data: { key: 'value' } }
  const before = store.create('configmaps', map, 'kubelet')
  const put = (managedFields?: unknown[], data = map.data) =>
    apiServer.handle(
      {
        method: 'PUT',
        path: '/api/v1/namespaces/default/configmaps/own',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...map, data, metadata: { ...map.metadata, ...(managedFields && { managedFields }) } }),
      },
      'kubectl',
    )
  expect(put().status).toBe(200)
  expect(put([{ manager: 'nobody', fieldsV1: { 'f:data': {} } }]).status).toBe(200)
  expect(store.get('configmaps', 'default', 'own')).toEqual(before)
  expect(put(undefined, { key: 'another' }).status).toBe(200)
  expect(ownersOf(store.get('configmaps', 'default', 'own'))).toEqual({ '/data/key': ['kubectl'] })
})

test('control: without the option nobody is named', () => {
  expect(ownersOf(server(false).store.create('pods', POD, 'kubelet'))).toEqual({})
})
