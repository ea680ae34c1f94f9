import { expect, test } from 'vitest'
import type { KubeClient } from './client.ts'
import { KubeError } from './errors.ts'
import { createVirtualClock } from './testing/virtual-clock.ts'
import { timedClient, type TimedCall } from './timed-client.ts'

const PATH = '/api/v1/namespaces/shop/pods/web-0'

function fake(answer: (verb: string) => Promise<unknown>): KubeClient {
  return {
    get: () => answer('get'),
    create: () => answer('create'),
    replace: () => answer('replace'),
    patch: () => answer('patch'),
    delete: () => answer('delete'),
    watch: async () => {},
  }
}

test('each call is told with its verb, its path without the query, its outcome and its duration', async () => {
  const clock = createVirtualClock()
  const calls: TimedCall[] = []
  const client = timedClient(
    fake(async (verb) => {
      await clock.advance(40)
      if (verb === 'patch') throw new KubeError('gone', { kind: 'definite', method: 'PATCH', path: PATH, status: 404 })
      if (verb === 'create') throw new KubeError('reset', { kind: 'ambiguous', method: 'POST', path: PATH })
      return { verb }
    }),
    clock,
    (call) => calls.push(call),
  )
  expect(await client.get(`${PATH}?fieldSelector=x`)).toEqual({ verb: 'get' })
  await client.replace(PATH, {})
  await client.delete(PATH)
  await expect(client.patch(PATH, [])).rejects.toThrow('gone')
  await expect(client.create(PATH, {})).rejects.toThrow('reset')
  await client.watch(PATH, { signal: AbortSignal.abort(), onLine() {} })
  const base = { path: PATH, durationMs: 40 }
  expect(calls).toEqual([
    { verb: 'get', outcome: 'ok', ...base },
    { verb: 'replace', outcome: 'ok', ...base },
    { verb: 'delete', outcome: 'ok', ...base },
    { verb: 'patch', outcome: 'definite', status: 404, ...base },
    { verb: 'create', outcome: 'ambiguous', ...base },
  ])
})

test('what is thrown before a call is sent again is no call', async () => {
  const calls: TimedCall[] = []
  const lost = fake(async () => {
    throw new Error('the Lease is lost')
  })
  await expect(timedClient(lost, createVirtualClock(), (call) => calls.push(call)).replace(PATH, {})).rejects.toThrow('Lease')
  expect(calls).toEqual([])
})
