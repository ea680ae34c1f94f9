import { expect, onTestFinished, test } from 'vitest'
import type { Adapter, EffectCall, Target } from '../contract.ts'
import { remote } from './index.ts'
import { startPluginServer } from './testing/plugin-server.ts'

const TARGET: Target = { id: 'a@10.0.0.1:80', scope: 'remote edge' }
const LIST = JSON.stringify({ v: 1, entries: [{ name: 'a', address: '10.0.0.1', port: 80, state: 'in' }] })
const call: EffectCall = { deadlineMs: 20_000, assertLive: () => {}, operationIds: new Map([[TARGET.id, 'op-1']]), fence: 1 }

async function adapterOf(onChange: (document: string) => string | Promise<string>): Promise<Adapter> {
  const server = await startPluginServer((document) => (document.includes('"call":"list"') ? LIST : onChange(document)))
  const adapter = remote.create(remote.options.parse({ url: server.url, capabilities: { settle: '0s' } }), { name: 'edge' })
  onTestFinished(async () => {
    await adapter.close()
    server.close()
  })
  return adapter
}

test('a change is posted with its operation and its fence', async () => {
  let sent: unknown
  const adapter = await adapterOf((document) => {
    sent = JSON.parse(document)
    return '{"v":1}'
  })
  expect((await adapter.drain([TARGET], call)).get(TARGET.id)).toEqual({ outcome: 'applied' })
  expect(sent).toMatchObject({ v: 1, call: 'drain', loadBalancer: 'edge', fence: 1, entries: [{ name: 'a', operation: 'op-1' }] })
})

test.each([
  ['garbage', 'its answer is no JSON document'],
  ['{"v":1,"results":[{"name":"b","outcome":"applied"}]}', 'its answer is about b'],
])('an effect that is answered with %s is ambiguous', async (answer, message) => {
  const adapter = await adapterOf(() => answer)
  await expect(adapter.drain([TARGET], call)).rejects.toMatchObject({
    kind: 'ambiguous',
    message: expect.stringMatching(new RegExp(`^remote edge: http://127.*${message}`)),
  })
})

test.each([
  [{ url: 'http://lb.example/' }, 'is plain HTTP to another host'],
  [{ url: 'http://lb.example/', auth: { bearer: { env: 'TOKEN' } } }, 'would send credentials over plain HTTP'],
  [{ url: 'https://user:word@lb.example/' }, 'holds a user or a password'],
  [{ url: 'ftp://lb.example/' }, 'is no http or https URL'],
  [{ url: 'http://127.0.0.1/', tls: { ca: 'ca.pem' } }, 'is for an https url'],
])('%j is refused', (options, message) => {
  const { success, error } = remote.options.safeParse({ capabilities: { settle: '0s' }, ...options })
  expect(success).toBe(false)
  expect(error!.message).toContain(message)
})

test.each(['https://lb.example/', 'http://127.0.0.1:8080/lb', 'http://[::1]/', 'http://localhost/'])('%s is taken', (url) => {
  expect(remote.options.safeParse({ url, capabilities: { settle: '0s' } }).success).toBe(true)
})
