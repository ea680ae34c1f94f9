import { expect, test } from 'vitest'
import type { EffectCall } from '../contract.ts'
import { createMemoryAdapter, createMemoryBalancer, type MemoryFault } from './memory-adapter.ts'

const servers = [
  { name: 'a', address: '10.0.0.1', port: 80 },
  { name: 'b', address: '10.0.0.2', port: 80, weight: 5 },
]
const targetA = { id: 'pool/a', scope: 'pool' }
const call: EffectCall = { deadlineMs: 1000, assertLive: () => {}, operationIds: new Map([['pool/a', 'op-1']]), fence: 1 }

test('a call that came late is done when it arrives', async () => {
  const balancer = createMemoryBalancer(servers)
  const adapter = createMemoryAdapter(balancer, { fault: () => 'late' })
  await expect(adapter.drain([targetA], call)).rejects.toMatchObject({ kind: 'ambiguous' })
  expect(balancer.servers.get('pool/a')?.state).toBe('ready')
  balancer.deliverLate()
  expect(balancer.servers.get('pool/a')?.state).toBe('drain')
  expect(balancer.changes).toEqual([{ id: 'pool/a', kind: 'drain', operationId: 'op-1' }])
})

test.each<{ fault: MemoryFault; kind: string; state: string; arrived: number }>([
  { fault: 'refused', kind: 'retryable', state: 'ready', arrived: 0 },
  { fault: 'request-lost', kind: 'ambiguous', state: 'ready', arrived: 1 },
  { fault: 'reply-lost', kind: 'ambiguous', state: 'drain', arrived: 1 },
])('$fault: $kind', async ({ fault, kind, state, arrived }) => {
  const balancer = createMemoryBalancer(servers)
  const adapter = createMemoryAdapter(balancer, { fault: () => fault })
  await expect(adapter.drain([targetA], call)).rejects.toMatchObject({ kind })
  expect(balancer.servers.get('pool/a')?.state).toBe(state)
  expect(balancer.calls).toHaveLength(arrived)
})

test('the delay hook holds a call before and after it is done', async () => {
  const balancer = createMemoryBalancer(servers)
  const seen: string[] = []
  const delay = (moment: string) => {
    seen.push(`${moment}: ${balancer.servers.get('pool/a')?.state}`)
    return Promise.resolve()
  }
  await createMemoryAdapter(balancer, { delay }).drain([targetA], call)
  expect(seen).toEqual(['before: ready', 'after: drain'])
})
