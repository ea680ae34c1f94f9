import { expect, test } from 'vitest'
import { createApiServer } from '../../sim/api-server/api-server.ts'
import type { KubeObject } from '../../sim/api-server/server.ts'
import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { embedWebhook } from './embedded-webhook.ts'

const SLICES = 'endpointslices.discovery.k8s.io'
const OUT = `apiVersion: sluice.dev/v1
kind: EndpointRules
rules:
  - name: out
    when: exists(pod) && pod.metadata.labels[?"out"].orValue("") == "yes"
    effect: notReady
`

function start(namespace = 'demo') {
  const apiServer = createApiServer({ clock: systemClock, random: systemRandom })
  const webhook = embedWebhook(apiServer, 'demo')
  const { store } = apiServer
  store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, 'test')
  const labels = { out: 'yes' }
  const { uid } = store.create(
    'pods',
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web-0', namespace, labels }, spec: { containers: [] } },
    'test',
  ).metadata
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-1', namespace, labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [],
    endpoints: [
      { addresses: ['10.0.0.1'], conditions: { ready: true }, targetRef: { kind: 'Pod', name: 'web-0', namespace, uid } },
    ],
  }
  const isReady = (object: KubeObject) => (object['endpoints'] as typeof slice.endpoints)[0]!.conditions.ready
  return { webhook, store, slice, isReady, namespace }
}

test('the rules decide about writes of controllers, by the pods of that moment, until they are taken away', () => {
  const { webhook, store, slice, isReady, namespace } = start()
  webhook.setRules(OUT)
  expect(isReady(store.create(SLICES, slice, 'controller'))).toBe(false)
  const write = () => store.update(SLICES, namespace, 'web-1', (now) => ({ ...now, endpoints: slice.endpoints }), 'controller')!
  expect(isReady(write())).toBe(false)
  store.update('pods', namespace, 'web-0', (now) => ({ ...now, metadata: { ...now.metadata, labels: {} } }), 'test')
  expect(isReady(write())).toBe(true)
  store.update('pods', namespace, 'web-0', (now) => ({ ...now, metadata: { ...now.metadata, labels: { out: 'yes' } } }), 'test')
  webhook.setRules(undefined)
  expect(isReady(write())).toBe(true)
})

test('other namespaces are left alone', () => {
  const { webhook, store, slice, isReady } = start('other')
  webhook.setRules(OUT)
  expect(isReady(store.create(SLICES, slice, 'controller'))).toBe(true)
})
