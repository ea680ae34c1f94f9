import { expect, test } from 'vitest'
import { createDiscovery, DISCOVERY_PATH, NODES_PATH } from './discovery.ts'

const FILE = `resources:
  - "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
    cluster_name: web
    endpoints:
      - lb_endpoints:
          - {endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 8080}}}}
  - {cluster_name: other, endpoints: []}
`
const DRAINED = FILE.replace('- {endpoint', '- {health_status: DRAINING, endpoint')

function bed() {
  let text = FILE
  const discovery = createDiscovery({ cluster: 'web', read: () => Promise.resolve(text) })
  const { signal } = new AbortController()
  async function ask(taken: string, { id = 'edge-1', names = ['web'] }: { id?: string; names?: string[] } = {}) {
    const body = JSON.stringify({ version_info: taken, node: { id }, resource_names: names })
    const { status, body: said, notice } = await discovery.answer({ method: 'POST', path: DISCOVERY_PATH, body }, { signal })
    const response =
      said?.startsWith('{') === true ? (JSON.parse(said) as { version_info: string; resources: object[] }) : undefined
    return { status, notice, version: response?.version_info ?? '', resources: response?.resources.length }
  }
  async function nodes(): Promise<unknown> {
    const { body } = await discovery.answer({ method: 'GET', path: NODES_PATH, body: '' }, { signal })
    return (JSON.parse(body!) as { nodes: unknown }).nodes
  }
  return { ask, nodes, write: (next: string) => (text = next), discovery, signal }
}

const taken = (status: string | null) => [{ id: 'edge-1', statuses: { '10.0.0.1:8080': status } }]

test('an Envoy goes by a file once it asks with the version of that', async () => {
  const { ask, nodes, write } = bed()
  const first = await ask('')
  expect(first).toMatchObject({ status: 200, resources: 1, notice: undefined })
  expect(await nodes()).toEqual([])
  expect(await ask(first.version)).toMatchObject({ status: 304, notice: `edge-1 has taken ${first.version}` })
  expect(await ask(first.version)).toMatchObject({ status: 304, notice: undefined })
  expect(await nodes()).toEqual(taken(null))
  write(DRAINED)
  const second = await ask(first.version)
  expect([second.status, second.version === first.version]).toEqual([200, false])
  expect(await nodes()).toEqual(taken(null))
  await ask(second.version)
  expect(await nodes()).toEqual(taken('DRAINING'))
})

test('an Envoy that refuses a file is told once, and goes by the former one', async () => {
  const { ask, nodes, write } = bed()
  const { version } = await ask('')
  await ask(version)
  write(DRAINED)
  expect((await ask(version)).notice).toBeUndefined()
  expect((await ask(version)).notice).toContain('edge-1 has not taken')
  expect((await ask(version)).notice).toBeUndefined()
  expect(await nodes()).toEqual(taken(null))
})

test('what it asks for another cluster tells nothing of this one', async () => {
  const { ask, nodes, write } = bed()
  const { version } = await ask('')
  await ask(version)
  write(DRAINED)
  const other = await ask(version, { names: ['other'] })
  expect(other).toMatchObject({ status: 200, resources: 1 })
  expect(await ask(other.version, { names: ['other'] })).toMatchObject({ status: 304 })
  expect(await nodes()).toEqual(taken(null))
})

test('an Envoy that was started anew has taken nothing, and one without a node.id is refused', async () => {
  const { ask, nodes } = bed()
  const { version } = await ask('')
  await ask(version)
  await ask('')
  expect(await nodes()).toEqual([])
  expect(await ask('', { id: '' })).toMatchObject({ status: 400 })
})

test('a file that cannot be used is not served', async () => {
  const { ask, write, discovery, signal } = bed()
  write('resources: [')
  await expect(ask('')).rejects.toThrow('line 1')
  write(FILE.replace('cluster_name: web', 'cluster_name: api'))
  await expect(ask('')).rejects.toThrow('it has no cluster web')
  const request = { method: 'POST', path: DISCOVERY_PATH, body: 'no JSON' }
  expect(await discovery.answer(request, { signal })).toMatchObject({ status: 400 })
  expect(await discovery.answer({ ...request, path: '/' }, { signal })).toMatchObject({ status: 404 })
})
