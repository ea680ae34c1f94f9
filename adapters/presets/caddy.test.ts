/* Tests that the version of Caddy's upstreams prevents lost changes, on a real Caddy. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findProduct } from '../../test/products/find-product.ts'
import { describeOn } from '../../test/products/program.ts'
import { type CaddyProcess, HANDLER, startCaddy } from '../conformance/beds/caddy-process.ts'
import { drainOne, inspectOne, restoreOne, snapshotOne } from '../conformance/steps.ts'
import type { Adapter, Endpoint, Target } from '../contract.ts'
import { loadAdapter } from '../registry.ts'
import { type RecordingProxy, sendTo, startRecordingProxy } from './testing/recording-proxy.ts'

const ENDPOINTS: Endpoint[] = [1, 2, 3].map((port) => ({ uid: `u${port}`, pod: `web-${port}`, address: '127.0.0.3', port }))
const [A, B] = ENDPOINTS.map(({ address, port }): Target => ({ id: `${address}:${port}@${address}:${port}`, scope: 'all' })) as [
  Target,
  Target,
]

describeOn(await findProduct('caddy'), (program) => {
  let caddy: CaddyProcess
  let adapter: Adapter
  let proxy: RecordingProxy
  const cleanups: (() => unknown)[] = []

  beforeEach(async () => {
    caddy = await startCaddy(program, ENDPOINTS)
    cleanups.push(() => caddy.stop())
    const preset = await loadAdapter('caddy')
    proxy = await startRecordingProxy(caddy.adminUrl)
    cleanups.unshift(() => proxy.close())
    const options = { url: proxy.url, handler: `id/${HANDLER}`, host: caddy.adminHost }
    adapter = preset.create(preset.options.parse(options), { name: 'edge' })
    cleanups.unshift(() => adapter.close())
  })
  afterEach(async () => {
    for (const clean of cleanups.splice(0)) await clean()
  })
  const dials = async (): Promise<string[]> => (await caddy.upstreams()).map(({ dial }) => dial).sort()

  test.each([
    ['with an operation id for each effect, it is refused', ['1', '2', '3', '4'], 412],
    ['with the same id for all, it is not (control)', ['1', '1', '1', '1'], 200],
  ])('a restore that arrives after the next drain: %s', async (_title, [first, second, third, fourth], status) => {
    const by = (operation: string) => ({ operationIds: new Map([[A.id, operation]]) })
    const { prior } = await snapshotOne(adapter, A)
    expect(await drainOne(adapter, A, by(first!))).toEqual({ outcome: 'applied' })
    expect(await restoreOne(adapter, A, prior, by(second!))).toEqual({ outcome: 'applied' })
    expect(await drainOne(adapter, A, by(third!))).toEqual({ outcome: 'applied' })
    expect(await dials()).toEqual(['127.0.0.3:2', '127.0.0.3:3'])
    expect((await sendTo(caddy.adminUrl, proxy.writes[1]!)).status).toBe(status)
    expect(await dials()).toHaveLength(status === 412 ? 2 : 3)
    if (status !== 412) return
    expect(await restoreOne(adapter, A, prior, by(fourth!))).toEqual({ outcome: 'applied' })
    for (const drain of [proxy.writes[0]!, proxy.writes[2]!]) expect((await sendTo(caddy.adminUrl, drain)).status).toBe(412)
    expect(await dials()).toHaveLength(3)
  })

  test('what somebody changes between the reading and the drain survives it: a conflict, and the next try rests on it', async () => {
    proxy.onWrite = async () => {
      proxy.onWrite = undefined
      await caddy.setUpstreams([...(await caddy.upstreams()), { dial: '127.0.0.3:9' }])
    }
    expect(await drainOne(adapter, A)).toMatchObject({ outcome: 'failed', error: { kind: 'conflict' } })
    expect(await dials()).toEqual(['127.0.0.3:1', '127.0.0.3:2', '127.0.0.3:3', '127.0.0.3:9'])
    expect(await drainOne(adapter, A)).toEqual({ outcome: 'applied' })
    expect(await dials()).toEqual(['127.0.0.3:2', '127.0.0.3:3', '127.0.0.3:9'])
  })

  test('two on one array: of both drains none is lost', async () => {
    proxy.onWrite = async () => {
      proxy.onWrite = undefined
      expect(await drainOne(adapter, B)).toEqual({ outcome: 'applied' })
    }
    expect(await drainOne(adapter, A)).toMatchObject({ outcome: 'failed', error: { kind: 'conflict' } })
    expect(await drainOne(adapter, A)).toEqual({ outcome: 'applied' })
    expect(await dials()).toEqual(['127.0.0.3:3'])
  })

  test('an upstream comes back with all that it had, an @id of its own included', async () => {
    const own = { '@id': 'mine', dial: '127.0.0.3:1', max_requests: 7 }
    await caddy.setUpstreams([own, { dial: '127.0.0.3:2' }])
    const { prior } = await snapshotOne(adapter, A)
    expect(await drainOne(adapter, A)).toEqual({ outcome: 'applied' })
    expect(await restoreOne(adapter, A, prior)).toEqual({ outcome: 'applied' })
    expect((await caddy.upstreams()).find(({ dial }) => dial === own.dial)).toEqual(own)
    expect((await snapshotOne(adapter, B)).prior).toEqual({ dial: '127.0.0.3:2' })
  })

  test.each([
    ['the array is gone', { method: 'DELETE', url: `/id/${HANDLER}/upstreams` }, 'is null, not a list'],
    ['the handler is gone', { method: 'DELETE', url: `/id/${HANDLER}` }, 'unknown object ID'],
  ])('where %s, nothing is taken for drained', async (_title, change, why) => {
    expect((await sendTo(caddy.adminUrl, { ...change, headers: {}, body: '' })).status).toBe(200)
    await expect(inspectOne(adapter, A)).rejects.toThrow(why)
    expect(await drainOne(adapter, A)).toMatchObject({ outcome: 'failed' })
  })
})
