/** Effects that are accepted at once and carried out later. */
import { expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import type { Adapter, EffectResult } from '../../../adapters/contract.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { JournalTarget } from '../../pods/glossary.ts'
import { createScopeQueues } from './scope-queues.ts'
import { createTraffic } from './traffic.ts'

const LONGEST_JOB_MS = 10_000

function bed({ areJobs = true } = {}) {
  const names = ['web-0', 'web-1']
  const balancer = createMemoryBalancer(names.map((name, index) => ({ name, address: `10.0.0.${index}`, port: 80 })))
  const memory = createMemoryAdapter(balancer, { capabilities: areJobs ? { longestJobMs: LONGEST_JOB_MS } : {} })
  const sent: string[] = []
  const accept = (effect: string, ids: string[]): Promise<Map<string, EffectResult>> => {
    sent.push(...ids.map((id) => `${effect} ${id}`))
    return Promise.resolve(new Map(ids.map((id) => [id, { outcome: 'pending', job: 'job-1' }])))
  }
  const adapter: Adapter = {
    ...memory,
    drain: (targets) =>
      accept(
        'drain',
        targets.map(({ id }) => id),
      ),
    restore: (targets) =>
      accept(
        'restore',
        targets.map(({ target: { id } }) => id),
      ),
  }
  const clock = createVirtualClock()
  const told: string[] = []
  const durations: (number | undefined)[] = []
  const traffic = createTraffic({
    clock,
    queues: createScopeQueues(clock),
    loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
    allowUnbalanced: false,
    assertOwned: () => {},
    tell(event) {
      if (event.type !== 'effect') return
      told.push(`${event.effect} ${event.outcome}`)
      durations.push(event.durationMs)
    },
  })
  const targetOf = (name: string): JournalTarget => {
    const prior = { state: 'ready', weight: 1 }
    return { loadBalancer: 'edge', target: `pool/${name}`, scope: 'pool', prior, untouched: false }
  }
  const ask = (effect: 'drain' | 'restore', { name = 'web-0', isInherited = false } = {}) => {
    const record = { run: 'run-1', epoch: 3, attempt: 1, step: effect, baseline: [], targets: [targetOf(name)] }
    return traffic.effect({ pod: name, uid: `uid-${name}`, effect, record, isInherited })
  }
  const inspect = (name = 'web-0') => traffic.inspect(`uid-${name}`, [targetOf(name)])
  const done = (state: 'ready' | 'drain', name = 'web-0') => (balancer.servers.get(`pool/${name}`)!.state = state)
  return { traffic, clock, sent, told, durations, ask, inspect, done }
}

const ACCEPTED = { code: 'job-accepted', loadBalancer: 'edge', effect: 'drain' }

test('what was accepted is not sent again before it is seen to be done', async () => {
  const { clock, sent, told, ask, inspect, done } = bed()
  expect(await ask('drain')).toEqual({ kind: 'unknown', reason: { ...ACCEPTED, job: 'job-1' } })
  await clock.advance(LONGEST_JOB_MS - 1)
  expect(await inspect()).toMatchObject({ state: 'in', pending: true })
  expect(await ask('drain')).toEqual({ kind: 'unknown', reason: ACCEPTED })
  done('drain')
  expect(await inspect()).toMatchObject({ state: 'out' })
  expect([sent, told]).toEqual([['drain pool/web-0'], ['drain pending', 'drain confirmed']])
  // Control: the entry was put back since, and is drained anew.
  done('ready')
  await ask('drain')
  expect(sent).toHaveLength(2)
})

test('after the time that a job may take nobody knows: it is sent again, and the one before may still arrive', async () => {
  const { traffic, clock, sent, told, ask } = bed()
  await ask('drain')
  await clock.advance(LONGEST_JOB_MS)
  expect(await ask('drain')).toMatchObject({ kind: 'unknown', lateCall: true })
  expect([sent.length, told]).toEqual([2, ['drain pending', 'drain ambiguous', 'drain pending']])
  expect(traffic.hasOvertaken('uid-web-0')).toBe(true)
  expect(await traffic.quiet()).toBe(false)
})

test('each outcome has the time since the call was asked for, whoever sees it; what another has asked for has none', async () => {
  const { clock, durations, ask, inspect, done } = bed()
  await ask('drain')
  await clock.advance(700)
  done('drain')
  await inspect()
  expect(durations.splice(0)).toEqual([0, 700])
  await ask('restore', { isInherited: true })
  await clock.advance(LONGEST_JOB_MS)
  // The job of the other process is overdue. This process then asks for the effect itself, and that job is overdue too.
  await ask('restore', { isInherited: true })
  await clock.advance(LONGEST_JOB_MS + 50)
  await ask('restore', { isInherited: true })
  expect(durations).toEqual([undefined, 0, LONGEST_JOB_MS + 50, 0])
})

test('a restore waits for a drain that is under way: that would take out what was put back', async () => {
  const { sent, ask, inspect, done } = bed()
  await ask('drain')
  expect(await ask('restore')).toEqual({
    kind: 'retryable',
    reason: ACCEPTED,
    lateCall: true,
  })
  done('drain')
  await inspect()
  await ask('restore')
  expect(sent).toEqual(['drain pool/web-0', 'restore pool/web-0'])
})

test('another change of the same scope waits for its turn', async () => {
  const { sent, ask, inspect, done } = bed()
  await ask('drain')
  const held = await ask('drain', { name: 'web-1' })
  expect(held).toEqual({ kind: 'retryable', reason: { code: 'other-job', loadBalancer: 'edge', scope: 'pool' } })
  done('drain')
  await inspect()
  await ask('drain', { name: 'web-1' })
  expect(sent).toEqual(['drain pool/web-0', 'drain pool/web-1'])
})

test('what an earlier process was to send is taken for accepted, for as long as a job may take', async () => {
  const { clock, sent, told, ask, inspect, done } = bed()
  expect(await ask('drain', { isInherited: true })).toMatchObject({ kind: 'unknown' })
  done('drain')
  await inspect()
  expect([sent, told]).toEqual([[], ['drain confirmed']])
  // The restore had not left. It is sent once that time is over.
  expect(await ask('restore', { isInherited: true })).toMatchObject({ kind: 'unknown' })
  await clock.advance(LONGEST_JOB_MS)
  await ask('restore', { isInherited: true })
  expect(sent).toEqual(['restore pool/web-0'])
})

test('control: where changes are no jobs, what an earlier process was to send is sent at once', async () => {
  const { sent, ask } = bed({ areJobs: false })
  await ask('drain', { isInherited: true })
  expect(sent).toEqual(['drain pool/web-0'])
})
