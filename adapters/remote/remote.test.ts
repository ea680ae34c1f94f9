import { expect, onTestFinished, test, vi } from 'vitest'
import type { Adapter, EffectCall, Target } from '../contract.ts'
import { remote } from './index.ts'
import { startPluginServer } from './testing/plugin-server.ts'

const TARGET: Target = { id: 'a@10.0.0.1:80', scope: 'remote edge' }
const LIST = JSON.stringify({ v: 1, entries: [{ name: 'a', address: '10.0.0.1', port: 80, state: 'in' }] })
const call: EffectCall = { deadlineMs: 20_000, assertLive: () => {}, operationIds: new Map([[TARGET.id, 'op-1']]), fence: 1 }

async function adapterOf(onChange: (document: string) => string | Promise<string>, more: object = {}): Promise<Adapter> {
  const server = await startPluginServer((document) => (document.includes('"call":"list"') ? LIST : onChange(document)))
  const options = remote.options.parse({ url: server.url, capabilities: { settle: '0s' }, ...more })
  const adapter = remote.create(options, { name: 'edge' })
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
  ['{"v":1,"error":{"kind":"fatal","message":"\\u001b[31mno right for Bearer s3cr3t-token"}}', 'no right for Bearer ***'],
  ['{"v":1,"results":["Bearer s3cr3t-token"]}', '"Bearer ***"'],
])('the token is not seen in the error of %s', async (answer, shown) => {
  vi.stubEnv('EDGE_TOKEN', 's3cr3t-token')
  const adapter = await adapterOf(() => answer, { auth: { bearer: { env: 'EDGE_TOKEN' } } })
  const { message } = await adapter.drain([TARGET], call).then(
    () => new Error('it was drained'),
    (error: Error) => error,
  )
  expect(message).toContain(shown)
  expect(message).not.toMatch(/s3cr3t|\p{C}/u)
})

test.each([
  [{ url: 'http://lb.example/' }, 'is plain HTTP to lb.example'],
  [{ url: 'http://lb.example/', auth: { bearer: { env: 'TOKEN' } } }, 'would send credentials over plain HTTP to lb.example'],
  [{ url: 'https://user:word@lb.example/' }, 'holds a user or a password'],
  [{ url: 'ftp://lb.example/' }, 'is no http or https URL'],
  [{ url: 'http://127.0.0.1/', tls: { ca: 'ca.pem' } }, 'is for an https url'],
])('%j is refused', (options, message) => {
  const { success, error } = remote.options.safeParse({ capabilities: { settle: '0s' }, ...options })
  expect(success).toBe(false)
  expect(error!.message).toContain(message)
})

test('plain HTTP to another host, where the config allows it, with credentials too', () => {
  const options = { url: 'http://lb.example/', auth: { bearer: { env: 'TOKEN' } }, capabilities: { settle: '0s' } }
  expect(remote.options.safeParse({ ...options, allowPlainHttp: true }).success).toBe(true)
})

test.each(['https://lb.example/', 'http://127.0.0.1:8080/lb', 'http://[::1]/', 'http://localhost/'])('%s is taken', (url) => {
  expect(remote.options.safeParse({ url, capabilities: { settle: '0s' } }).success).toBe(true)
})
