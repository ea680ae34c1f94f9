import { expect, test } from 'vitest'
import { createVirtualClock } from '../../src/kube/testing/virtual-clock.ts'
import type { BalancerChange, LoadBalancerOptions } from './balancer.ts'
import { createLoadBalancer } from './balancer.ts'
import type { Level, Write, WriteResult } from './write.ts'

const servers = ['a', 'b'].map((name, index) => ({ name, address: `10.0.0.${index + 1}`, port: 80, weight: 5 }))
const PRIOR = { admin: 'ready', weight: 5 } as const

function bed(level: Level, over: Partial<LoadBalancerOptions> = {}) {
  const clock = createVirtualClock()
  const changes: BalancerChange[] = []
  let seed = 12345
  const random = { next: () => (seed = (seed * 16807) % 2147483647) / 2147483647 }
  const balancer = createLoadBalancer({
    name: 'edge',
    level,
    servers,
    clock,
    random,
    onChange: (change) => change.by !== 'setup' && changes.push(change),
    ...over,
  })
  const version = () => {
    const read = balancer.read(['a'])
    return 'entries' in read ? read.entries.get('a')!.version : 0
  }
  /** Prepares a write of entry a that leaves now. The write arrives when the returned function is called. */
  function prepare(kind: Write['kind'], operation: string, fence = 1): () => WriteResult {
    const resting = level === 'G3' ? { version: version() } : {}
    const entry = { ...servers[0]!, operation, ...(kind === 'restore' ? { prior: PRIOR } : {}), ...resting }
    const leftAt = clock.now()
    return () => (balancer.write({ by: 'one', kind, fence, leftAt, entries: [entry] }) as Map<string, WriteResult>).get('a')!
  }
  const effective = () =>
    changes.flatMap((change) => (change.type === 'effect' && change.before !== change.after ? [change.effect] : []))
  return { clock, balancer, changes, prepare, effective, admin: () => balancer.state('a')!.admin }
}

test.each<{ level: Level; admin: string; effective: string[] }>([
  { level: 'G0', admin: 'drain', effective: ['drain', 'restore', 'drain'] },
  { level: 'G1', admin: 'drain', effective: ['drain', 'restore', 'drain'] },
  { level: 'G2', admin: 'ready', effective: ['drain', 'restore'] },
  { level: 'G3', admin: 'ready', effective: ['drain', 'restore'] },
])('$level: a drain that arrives again after its restore leaves the target $admin', (told) => {
  const { prepare, effective, admin } = bed(told.level)
  const late = prepare('drain', 'op-1')
  prepare('drain', 'op-1')()
  prepare('restore', 'op-2')()
  late()
  expect(effective()).toEqual(told.effective)
  expect(admin()).toBe(told.admin)
})

test('G3: a late drain is refused also where the restore that overtook it had nothing to change', () => {
  const { prepare, changes, admin } = bed('G3')
  const late = prepare('drain', 'op-1')
  expect(prepare('restore', 'op-2')()).toEqual({ outcome: 'applied' })
  expect(late()).toMatchObject({ outcome: 'refused', why: 'version' })
  expect(admin()).toBe('ready')
  expect(changes.at(-1)).toMatchObject({ effect: 'drain', accepted: false })
})

test('G3: a lower fence is refused', () => {
  const { prepare, admin } = bed('G3')
  prepare('drain', 'op-1', 2)()
  expect(prepare('restore', 'op-2', 1)()).toMatchObject({ outcome: 'refused', why: 'fence' })
  expect(admin()).toBe('drain')
})

test('G2 remembers an operation for so long, and tells a repetition from the first', async () => {
  const { prepare, clock, effective, changes, admin } = bed('G2', { memoryMs: 1_000 })
  prepare('drain', 'op-1')()
  prepare('restore', 'op-2')()
  await clock.advance(1_000)
  expect(prepare('drain', 'op-1')()).toEqual({ outcome: 'applied' })
  expect(changes.at(-1)).toMatchObject({ effect: 'drain', accepted: false })
  expect(admin()).toBe('ready')
  await clock.advance(1)
  prepare('drain', 'op-1')()
  expect(effective()).toEqual(['drain', 'restore', 'drain'])
})

test('G0 cannot be read, and ends an operator’s maintenance; the others refuse', () => {
  for (const level of ['G0', 'G1', 'G2', 'G3'] as const) {
    const { balancer, prepare, admin } = bed(level)
    balancer.operator.set('a', { admin: 'maint' })
    prepare('drain', 'op-1')()
    expect(admin()).toBe(level === 'G0' ? 'drain' : 'maint')
  }
  expect(() => bed('G0').balancer.read(['a'])).toThrow('cannot be read')
})

test('a stale read answers with what was so at most so long ago', async () => {
  const { balancer, prepare, clock } = bed('G1', { staleMs: 1_000 })
  await clock.advance(5_000)
  prepare('drain', 'op-1')()
  const seen = () => {
    const read = balancer.read(['a'])
    return 'entries' in read ? read.entries.get('a')!.admin : 'throttled'
  }
  await clock.advance(500)
  expect(new Set(Array.from({ length: 50 }, seen))).toEqual(new Set(['ready', 'drain']))
  await clock.advance(501)
  expect(new Set(Array.from({ length: 50 }, seen))).toEqual(new Set(['drain']))
})

test('jobs are done one after another, after they were taken', async () => {
  const { balancer, prepare, clock, admin } = bed('G1', { jobMs: 1_000 })
  const taken = prepare('drain', 'op-1')()
  prepare('restore', 'op-2')()
  prepare('drain', 'op-3')()
  expect(taken).toEqual({ outcome: 'pending', job: 'job-1' })
  expect([admin(), balancer.poll('job-1')]).toEqual(['ready', new Map([['a', taken]])])
  await clock.advance(3_000)
  expect([admin(), balancer.poll('job-1')]).toEqual(['drain', new Map([['a', { outcome: 'applied' }]])])
})

test('requests under way end after the drain, those that arrive within the lag among them', async () => {
  const { balancer, prepare, clock } = bed('G1', { traffic: { concurrent: 20, longestMs: 1_000, lagMs: 500 } })
  expect(balancer.state('a')).toMatchObject({ routable: true, emptyAt: null })
  const before = balancer.state('a')!.inFlight
  expect(before).toBeGreaterThan(0)
  prepare('drain', 'op-1')()
  const { inFlight, emptyAt } = balancer.state('a')!
  expect(inFlight).toBe(before)
  expect(emptyAt! - clock.now()).toBeLessThanOrEqual(1_500)
  await clock.advance(emptyAt! - clock.now())
  expect(balancer.state('a')!.inFlight).toBe(0)
})

test('a volatile balancer forgets with a reload', () => {
  const { balancer, prepare, changes, admin } = bed('G1', { volatile: true })
  prepare('drain', 'op-1')()
  balancer.reload()
  expect(admin()).toBe('ready')
  expect(changes.at(-1)).toMatchObject({ type: 'target', by: 'reload', target: 'a', before: { admin: 'drain' } })
})

test('an operator removes, adds and points elsewhere; a write for the former address finds nothing', () => {
  const { balancer, prepare, changes } = bed('G1')
  balancer.operator.set('a', { address: '10.0.0.9' })
  expect(prepare('drain', 'op-1')()).toMatchObject({ outcome: 'refused', why: 'absent' })
  balancer.operator.remove('a')
  expect(prepare('drain', 'op-1')()).toMatchObject({ outcome: 'refused', why: 'absent' })
  balancer.operator.add(servers[0]!)
  expect(
    changes.flatMap((change) => (change.type === 'target' ? [[change.before !== null, change.after !== null]] : [])),
  ).toEqual([
    [true, true],
    [true, false],
    [false, true],
  ])
})

test('what is said to be done, and is not, is known by its id like what is done', () => {
  for (const level of ['G1', 'G2'] as const) {
    let fault: 'false-success' | undefined = 'false-success'
    const { prepare, admin } = bed(level, { fault: () => fault })
    expect(prepare('drain', 'op-1')()).toMatchObject({ outcome: 'applied' })
    fault = undefined
    expect(prepare('drain', 'op-1')()).toMatchObject({ outcome: 'applied' })
    expect(admin(), level).toBe(level === 'G2' ? 'ready' : 'drain')
    expect(prepare('drain', 'op-2')()).toMatchObject({ outcome: 'applied' })
    expect(admin(), level).toBe('drain')
  }
})

test('what a hook refuses, and what is throttled, changes nothing, and is told', () => {
  const faults = ['busy', 'forbidden', 'false-success'] as const
  const left = [...faults]
  const { prepare, changes, admin } = bed('G1', { fault: () => left.shift() })
  expect(faults.map(() => prepare('drain', 'op-1')().outcome)).toEqual(['refused', 'refused', 'applied'])
  expect(admin()).toBe('ready')
  expect(changes.map((change) => change.type === 'effect' && change.accepted)).toEqual([false, false, false])
  const throttled = bed('G1', { throttle: () => 100 })
  expect(throttled.balancer.list()).toEqual({ throttledMs: 100 })
  const entries = [{ ...servers[0]!, operation: 'op-1' }]
  expect(throttled.balancer.write({ by: 'one', kind: 'drain', fence: 1, leftAt: 0, entries })).toEqual({ throttledMs: 100 })
  expect(throttled.admin()).toBe('ready')
  expect(throttled.changes).toMatchObject([{ effect: 'drain', operation: 'op-1', accepted: false }])
})
