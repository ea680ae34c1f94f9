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
  let nowMs = 0
  const discovery = createDiscovery({ cluster: 'web', read: () => Promise.resolve(text), now: () => nowMs })
  async function ask(taken: string, { id = 'edge-1', names = ['web'], from = '10.0.0.1' } = {}) {
    const body = JSON.stringify({ version_info: taken, node: { id }, resource_names: names })
    const { status, body: said, notice } = await discovery.answer({ method: 'POST', path: DISCOVERY_PATH, body, from })
    const response =
      said?.startsWith('{') === true ? (JSON.parse(said) as { version_info: string; resources: object[] }) : undefined
    return { status, notice, version: response?.version_info ?? '', resources: response?.resources.length }
  }
  async function nodes(): Promise<unknown> {
    const { body } = await discovery.answer({ method: 'GET', path: NODES_PATH, body: '', from: '' })
    return (JSON.parse(body!) as { nodes: unknown }).nodes
  }
  return { ask, nodes, write: (next: string) => (text = next), wait: (ms: number) => (nowMs += ms), discovery }
}

const EDGE = { id: 'edge-1', from: '10.0.0.1' }
const taken = (status: string | null) => [{ ...EDGE, statuses: { '10.0.0.1:8080': status } }]

test('an Envoy goes by a file once it asks with the version of that', async () => {
  const { ask, nodes, write } = bed()
  const first = await ask('')
  expect(first).toMatchObject({ status: 200, resources: 1, notice: undefined })
  expect(await nodes()).toEqual([EDGE])
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
  expect((await ask('')).notice).toBeUndefined()
  expect(await nodes()).toEqual([EDGE])
  expect(await ask('', { id: '' })).toMatchObject({ status: 400 })
})

test('a file that cannot be used is not served', async () => {
  const { ask, write, discovery } = bed()
  write('resources: [')
  await expect(ask('')).rejects.toThrow('line 1')
  write(FILE.replace('cluster_name: web', 'cluster_name: api'))
  await expect(ask('')).rejects.toThrow('it has no cluster web')
  const request = { method: 'POST', path: DISCOVERY_PATH, body: 'no JSON', from: '' }
  expect(await discovery.answer(request)).toMatchObject({ status: 400 })
  expect(await discovery.answer({ ...request, path: '/' })).toMatchObject({ status: 404 })
})

test('two Envoys with one node.id are told apart by their addresses, and that is said', async () => {
  const { ask, nodes, write } = bed()
  const { version } = await ask('')
  await ask(version)
  expect((await ask('', { from: '10.0.0.2' })).notice).toBe(
    '10.0.0.2 and 10.0.0.1 ask as edge-1: give each Envoy a node.id of its own',
  )
  await ask(version, { from: '10.0.0.2' })
  write(DRAINED)
  await ask((await ask(version)).version)
  expect(await nodes()).toEqual([...taken('DRAINING'), { ...taken(null)[0], from: '10.0.0.2' }])
})

test('an Envoy that has not asked for ten minutes is forgotten', async () => {
  const { ask, nodes, wait } = bed()
  await ask((await ask('')).version)
  wait(600_000)
  expect(await nodes()).toEqual(taken(null))
  wait(1)
  expect(await nodes()).toEqual([])
})
