import { describe, expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../../adapters/conformance/memory-adapter.ts'
import type {
  MemoryAdapterOptions,
  MemoryBalancer,
  MemoryCall,
  MemoryFault,
} from '../../../adapters/conformance/memory-adapter.ts'
import { type Adapter, AdapterError } from '../../../adapters/contract.ts'
import type { Journal, JournalTarget } from '../../pods/glossary.ts'
import { rawPod, testPod } from '../../pods/testing/raw-pod.ts'
import { podView } from '../../pods/view.ts'
import type { RunEventBody } from '../events.ts'
import type { Traffic } from './traffic.ts'
import type { VirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createScopeQueues } from './scope-queues.ts'
import { createTraffic } from './traffic.ts'

type Told = Extract<RunEventBody, { type: 'effect' }>

interface Bed {
  clock: VirtualClock
  edge: MemoryBalancer
  inner: MemoryBalancer
  traffic: Traffic
  told: Told[]
  outcomes(): string[]
}

interface BedOptions {
  edge?: MemoryAdapterOptions
  inner?: MemoryAdapterOptions
  allowUnbalanced?: boolean
  assertOwned?: () => void
  /** The turns of `edge` and `inner`. */
  turns?: [number, number]
}

/** Two load balancers: `edge` at port 80, and `inner` at the port with the name admin. */
function createBed(options: BedOptions = {}): Bed {
  const server = (name: string, index: number, port: number) => ({ name, address: `10.0.0.${index}`, port })
  const edge = createMemoryBalancer([server('web-0', 1, 80), server('web-1', 2, 80)], 'edge')
  const inner = createMemoryBalancer([server('web-0', 1, 81)], 'inner')
  const told: Told[] = []
  const clock = createVirtualClock()
  const traffic = createTraffic({
    clock,
    queues: createScopeQueues(clock),
    loadBalancers: [
      {
        name: 'edge',
        adapterName: 'memory',
        adapter: createMemoryAdapter(edge, options.edge),
        port: 80,
        drainTurn: options.turns?.[0] ?? 0,
      },
      {
        name: 'inner',
        adapterName: 'memory',
        adapter: createMemoryAdapter(inner, options.inner),
        port: 'admin',
        drainTurn: options.turns?.[1] ?? 0,
      },
    ],
    allowUnbalanced: options.allowUnbalanced ?? false,
    assertOwned: options.assertOwned ?? (() => {}),
    tell: (event) => event.type === 'effect' && told.push(event),
  })
  return {
    clock,
    edge,
    inner,
    traffic,
    told,
    outcomes: () => told.map(({ loadBalancer, effect, outcome }) => `${loadBalancer} ${effect} ${outcome}`),
  }
}

const podAt = (ip: string | undefined, name = 'web-0') =>
  testPod({
    name,
    uid: `uid-${name}`,
    ...(ip === undefined ? {} : { ip }),
    containers: [
      {
        name: 'app',
        image: 'app:v1',
        ports: [
          { name: 'http', containerPort: 80 },
          { name: 'admin', containerPort: 81 },
        ],
      },
    ],
  })
const web0 = podAt('10.0.0.1')
const EDGE: JournalTarget = {
  loadBalancer: 'edge',
  target: 'edge/web-0',
  scope: 'edge',
  prior: { state: 'ready', weight: 1 },
  untouched: false,
}
const INNER: JournalTarget = { ...EDGE, loadBalancer: 'inner', target: 'inner/web-0', scope: 'inner' }
const recordOf = (targets: JournalTarget[]): Journal => ({
  run: 'run-1',
  epoch: 3,
  attempt: 1,
  step: 'drain',
  baseline: [],
  targets,
})
const request = (effect: 'drain' | 'restore', targets = [EDGE, INNER]) => ({
  pod: 'web-0',
  uid: 'uid-0',
  effect,
  record: recordOf(targets),
})

describe('find', () => {
  test('a pod is where all load balancers have it, each by its own port', async () => {
    const { traffic } = createBed()
    expect(await traffic.find([web0])).toEqual([
      {
        found: true,
        targets: [
          { loadBalancer: 'edge', target: { id: 'edge/web-0', scope: 'edge' } },
          { loadBalancer: 'inner', target: { id: 'inner/web-0', scope: 'inner' } },
        ],
      },
    ])
  })

  test('a port may be that of a native sidecar, as a Service has it too', async () => {
    const raw = rawPod({ ip: '10.0.0.1' })
    raw.spec.initContainers = [{ name: 'proxy', restartPolicy: 'Always', ports: [{ name: 'admin', containerPort: 81 }] }]
    const [found] = await createBed().traffic.find([podView(raw)])
    expect(found).toMatchObject({ found: true, targets: [{ target: { id: 'edge/web-0' } }, { target: { id: 'inner/web-0' } }] })
    // Control: an init container that runs to its end and is gone.
    delete raw.spec.initContainers[0].restartPolicy
    expect(await createBed().traffic.find([podView(raw)])).toMatchObject([{ found: false }])
  })

  test('a dual-stack pod is in the entries of both its addresses: it is out when both are', async () => {
    const { edge, traffic } = createBed({ allowUnbalanced: true })
    edge.servers.set('edge/web-0-v6', { ...edge.servers.get('edge/web-0')!, address: 'fd00::1' })
    const found = await traffic.snapshot({ ...web0, otherIps: ['fd00::1'] })
    const targets = found.kind === 'taken' ? found.targets.map(({ target }) => target) : []
    expect(targets).toEqual(['edge/web-0', 'edge/web-0-v6', 'inner/web-0'])
  })

  describe('a pod with a host port', () => {
    const NODE = '192.168.0.5'
    const pod = (port: object) =>
      testPod({
        ip: '10.0.0.9',
        hostIps: [NODE, 'fd00::5'],
        containers: [{ name: 'app', image: 'app:v1', ports: [{ containerPort: 80, ...port }] }],
      })
    /** The entries among those of `edge` in which the pod is found, at the port that the config names. */
    async function foundAt(entries: readonly string[], port: object, configured: number | string = 80): Promise<unknown> {
      const servers = entries.map((entry, index) => {
        const at = entry.lastIndexOf(':')
        return { name: `s${index}`, address: entry.slice(0, at), port: Number(entry.slice(at + 1)) }
      })
      const adapter = createMemoryAdapter(createMemoryBalancer(servers, 'edge'))
      const traffic = createTraffic({
        clock: createVirtualClock(),
        queues: createScopeQueues(createVirtualClock()),
        loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: configured }],
        allowUnbalanced: false,
        assertOwned: () => {},
        tell: () => {},
      })
      const [found] = await traffic.find([pod(port)])
      return found!.found ? found!.targets.map(({ target }) => target.id) : found!.reason
    }

    test('is in the entries of its node too, of each family, and of its own address beside them', async () => {
      const host = { hostPort: 30_080 }
      expect(await foundAt([`${NODE}:30080`], host)).toEqual(['edge/s0'])
      expect(await foundAt(['fd00::5:30080', '10.0.0.9:80'], host)).toEqual(['edge/s0', 'edge/s1'])
      expect(await foundAt([`${NODE}:30080`], { ...host, name: 'http' }, 'http')).toEqual(['edge/s0'])
      // The config names the port at which the load balancer reaches the node.
      expect(await foundAt([`${NODE}:30080`], host, 30_080)).toEqual(['edge/s0'])
      expect(await foundAt(['192.168.9.9:30080', `${NODE}:30080`], { ...host, hostIP: '192.168.9.9' })).toEqual(['edge/s0'])
    })

    test('control: another port or node is another’s; so is another protocol, or a port that is none of the node’s', async () => {
      const missing = {
        code: 'not-found',
        loadBalancer: 'edge',
        said: `10.0.0.9:80 or ${NODE}:30080 or fd00::5:30080 is none of the 1 servers of edge`,
      }
      expect(await foundAt([`${NODE}:30081`], { hostPort: 30_080 })).toEqual(missing)
      expect(await foundAt(['192.168.0.6:30080'], { hostPort: 30_080 })).toEqual(missing)
      expect(await foundAt([`${NODE}:30080`], { hostPort: 30_080, protocol: 'UDP' })).toMatchObject({ code: 'not-found' })
      expect(await foundAt([`${NODE}:80`], {})).toMatchObject({ code: 'not-found' })
    })
  })

  test('on the host’s network each address of the node is its own', async () => {
    const { edge, traffic } = createBed({ allowUnbalanced: true })
    edge.servers.set('edge/web-0-v6', { ...edge.servers.get('edge/web-0')!, address: 'fd00::1' })
    const [found] = await traffic.find([{ ...web0, hostNetwork: true, hostIps: ['10.0.0.1', 'fd00::1'] }])
    expect(found!.found && found!.targets.map(({ target }) => target.id)).toContain('edge/web-0-v6')
  })

  test('one that is let through says what was looked for, and where', async () => {
    const [found] = await createBed({ allowUnbalanced: true }).traffic.find([podAt('10.0.0.9')])
    expect(found).toEqual({
      found: true,
      targets: [],
      lookedFor: [
        { code: 'no-entry-at', loadBalancer: 'edge', addresses: ['10.0.0.9:80'] },
        { code: 'no-entry-at', loadBalancer: 'inner', addresses: ['10.0.0.9:81'] },
      ],
    })
  })

  const strangers: { name: string; pod: ReturnType<typeof podAt>; reason: object; left: string[] }[] = [
    {
      name: 'in one of two',
      pod: podAt('10.0.0.2', 'web-1'),
      reason: { code: 'not-found', loadBalancer: 'inner', said: '10.0.0.2:81 is none of the 1 servers of inner' },
      left: ['edge/web-1'],
    },
    {
      name: 'in none',
      pod: podAt('10.0.0.9'),
      reason: { code: 'not-found', said: expect.stringContaining('is none of the') as string },
      left: [],
    },
    { name: 'without an address', pod: podAt(undefined), reason: { code: 'pod-without-address', pod: 'web-0' }, left: [] },
    {
      name: 'without the port',
      pod: testPod({ ip: '10.0.0.1' }),
      reason: { code: 'no-port', pod: 'web-0', port: 'admin' },
      left: ['edge/web-0'],
    },
  ]

  test.each(strangers)('$name: not found, with the reason', async ({ pod, reason }) => {
    const [found] = await createBed().traffic.find([pod])
    expect(found).toMatchObject({ found: false, reason })
  })

  test.each(strangers)('$name, and let through: what the others have of it is drained all the same', async ({ pod, left }) => {
    const [found] = await createBed({ allowUnbalanced: true }).traffic.find([pod])
    expect(found!.found && found!.targets.map(({ target }) => target.id)).toEqual(left)
  })

  test('one whose entries cannot be used is served all the same: it is not let through', async () => {
    const adapter: Adapter = {
      ...createMemoryAdapter(createMemoryBalancer([], 'edge')),
      resolve: () => Promise.resolve([{ found: false, reason: 'two entries have its address', isThere: true }]),
    }
    const traffic = createTraffic({
      clock: createVirtualClock(),
      queues: createScopeQueues(createVirtualClock()),
      loadBalancers: [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }],
      allowUnbalanced: true,
      assertOwned: () => {},
      tell: () => {},
    })
    const reason = { code: 'not-found', loadBalancer: 'edge', said: 'two entries have its address' }
    expect(await traffic.find([web0])).toEqual([{ found: false, reason, isThere: true }])
    expect(await traffic.snapshot(web0)).toEqual({ kind: 'absent', reason })
  })

  test('each of many pods gets its own answer', async () => {
    const found = await createBed({ allowUnbalanced: true }).traffic.find([
      podAt(undefined, 'new'),
      podAt('10.0.0.2', 'web-1'),
      web0,
    ])
    expect(found.map((one) => (one.found ? one.targets.map(({ target }) => target.id) : []))).toEqual([
      [],
      ['edge/web-1'],
      ['edge/web-0', 'inner/web-0'],
    ])
  })
})

describe('snapshot', () => {
  test('the prior state of each target, and which of them an operator has out', async () => {
    const { traffic, inner } = createBed()
    inner.servers.get('inner/web-0')!.state = 'maint'
    expect(await traffic.snapshot(web0)).toEqual({
      kind: 'taken',
      address: '10.0.0.1',
      targets: [EDGE, { ...INNER, prior: { state: 'maint', weight: 1 }, untouched: true }],
    })
  })

  test.each<{ fault: MemoryFault; kind: string }>([
    { fault: 'refused', kind: 'unknown' },
    { fault: 'reply-lost', kind: 'unknown' },
    { fault: new AdapterError('memory', 'fatal', 'no permission'), kind: 'absent' },
  ])('$fault: $kind', async ({ fault, kind }) => {
    const { traffic } = createBed({ edge: { fault: ({ method }) => (method === 'snapshot' ? fault : undefined) } })
    expect((await traffic.snapshot(web0)).kind).toBe(kind)
  })
})

test('a pod that has no address yet is not known to be in no load balancer', async () => {
  const { traffic } = createBed()
  expect(await traffic.snapshot(podAt(undefined))).toEqual({
    kind: 'unknown',
    reason: { code: 'pod-without-address', pod: 'web-0' },
  })
})

describe('effect', () => {
  test('drains and restores all targets, and tells each', async () => {
    const { traffic, edge, inner, outcomes, told } = createBed()
    expect(await traffic.effect(request('drain'))).toEqual({ kind: 'applied' })
    expect([edge, inner].map(({ servers }) => [...servers.values()][0]!.state)).toEqual(['drain', 'drain'])
    expect(await traffic.effect(request('restore'))).toEqual({ kind: 'applied' })
    expect(outcomes()).toEqual(['edge drain applied', 'inner drain applied', 'edge restore applied', 'inner restore applied'])
    expect(new Set(told.map(({ operation }) => operation)).size).toBe(4)
    expect(edge.calls.map(({ fence }) => fence)).toEqual([3, 3])
    expect(edge.calls[0]!.operationIds).toEqual([told[0]!.operation])
  })

  test('in turns: each load balancer is drained once those before it have confirmed, and restored in reverse', async () => {
    let edgeIsDone = (): void => {}
    const late = new Promise<void>((resolve) => (edgeIsDone = resolve))
    const isDrain = ({ method }: { method: string }): boolean => method === 'drain'
    const { traffic, inner, outcomes } = createBed({
      turns: [0, 1],
      edge: { delay: (moment, call) => (moment === 'after' && isDrain(call) ? late : undefined) },
    })
    const drained = traffic.effect(request('drain'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(inner.calls).toEqual([])
    edgeIsDone()
    expect(await drained).toEqual({ kind: 'applied' })
    await traffic.effect(request('restore'))
    expect(outcomes()).toEqual(['edge drain applied', 'inner drain applied', 'inner restore applied', 'edge restore applied'])
  })

  test('in turns: where a drain fails, no later one is sent', async () => {
    const refused = new AdapterError('memory', 'fatal', 'no right')
    const { traffic, inner, outcomes } = createBed({ turns: [0, 1], edge: { fault: () => refused } })
    expect(await traffic.effect(request('drain'))).toMatchObject({ kind: 'refused' })
    expect([inner.calls, outcomes()]).toEqual([[], ['edge drain failed']])
  })

  test('an operator’s maintenance is left exactly so', async () => {
    const { traffic, inner } = createBed()
    inner.servers.get('inner/web-0')!.state = 'maint'
    const targets = [EDGE, { ...INNER, untouched: true }]
    for (const effect of ['drain', 'restore'] as const) {
      expect(await traffic.effect(request(effect, targets))).toEqual({ kind: 'applied' })
    }
    expect(inner.calls).toEqual([])
    expect(inner.servers.get('inner/web-0')!.state).toBe('maint')
    expect(await traffic.inspect('uid-0', targets)).toMatchObject({ state: 'in' })
    expect(await traffic.compare(targets)).toEqual({ kind: 'equal' })
  })

  test('one that an operator has put back is told beside the state, to who asks for all', async () => {
    const { traffic, edge, inner } = createBed()
    const targets = [EDGE, { ...INNER, untouched: true }]
    const all = { wasOut: false, all: true } as const
    edge.servers.get('edge/web-0')!.state = 'maint'
    inner.servers.get('inner/web-0')!.state = 'maint'
    expect(await traffic.inspect('uid-0', targets, all)).not.toHaveProperty('reclaimed')
    inner.servers.get('inner/web-0')!.state = 'ready'
    expect(await traffic.inspect('uid-0', targets, all)).toMatchObject({
      state: 'out',
      reclaimed: { loadBalancer: 'inner', target: 'inner/web-0', admin: 'in' },
    })
    expect(await traffic.inspect('uid-0', targets)).not.toHaveProperty('reclaimed')
  })

  test.each<{ fault: MemoryFault; kind: string; outcome: string }>([
    { fault: 'refused', kind: 'retryable', outcome: 'failed' },
    { fault: 'reply-lost', kind: 'unknown', outcome: 'ambiguous' },
    { fault: 'request-lost', kind: 'unknown', outcome: 'ambiguous' },
    { fault: new AdapterError('memory', 'throttled', 'slow down'), kind: 'retryable', outcome: 'failed' },
    { fault: new AdapterError('memory', 'conflict', 'changed'), kind: 'retryable', outcome: 'failed' },
    { fault: new AdapterError('memory', 'not-found', 'no server'), kind: 'refused', outcome: 'failed' },
    { fault: new AdapterError('memory', 'fatal', 'no permission'), kind: 'refused', outcome: 'failed' },
  ])('$fault: $kind', async ({ fault, kind, outcome }) => {
    const { traffic, outcomes } = createBed({ edge: { fault: ({ method }) => (method === 'drain' ? fault : undefined) } })
    expect((await traffic.effect(request('drain'))).kind).toBe(kind)
    expect(outcomes().toSorted()).toEqual([`edge drain ${outcome}`, 'inner drain applied'])
  })

  test('an error that is no adapter’s may have happened at any moment: unknown', async () => {
    const { traffic } = createBed({ edge: { delay: () => Promise.reject(new TypeError('a bug')) } })
    expect(await traffic.effect(request('drain', [EDGE]))).toEqual({
      kind: 'unknown',
      reason: { code: 'error', said: 'a bug' },
    })
  })

  test('a doubt about one target outweighs a refusal of another, and that everything else', async () => {
    const lost = { fault: () => 'reply-lost' as const }
    const no = { fault: () => new AdapterError('memory', 'fatal', 'no') }
    const later = { fault: () => 'refused' as const }
    expect((await createBed({ edge: no, inner: lost }).traffic.effect(request('drain'))).kind).toBe('unknown')
    expect((await createBed({ edge: later, inner: no }).traffic.effect(request('drain'))).kind).toBe('refused')
    expect((await createBed({ edge: later }).traffic.effect(request('drain'))).kind).toBe('retryable')
  })

  test('without the right nothing is sent, and it can be tried again', async () => {
    const assertOwned = (): never => {
      throw new AdapterError('engine', 'retryable', 'the Lease is not held at this moment')
    }
    const { traffic, edge } = createBed({ assertOwned })
    expect((await traffic.effect(request('drain', [EDGE]))).kind).toBe('retryable')
    expect(edge.calls).toEqual([])
  })

  test('what is meant no more when its turn comes is not sent', async () => {
    let release: () => void = () => {}
    let isMeant = true
    const held = new Promise<void>((resolve) => (release = resolve))
    const { traffic, edge } = createBed({
      edge: { delay: (moment, { method }) => (moment === 'after' && method === 'inspect' ? held : undefined) },
    })
    const reading = traffic.inspect('uid-0', [EDGE])
    const drained = traffic.effect({
      ...request('drain', [EDGE]),
      objection: () => (isMeant ? undefined : ({ code: 'no-longer-to-stay-out' } as const)),
    })
    await new Promise((resolve) => setImmediate(resolve))
    isMeant = false
    release()
    expect((await drained).kind).toBe('retryable')
    await reading
    expect(edge.calls.map(({ method }) => method)).toEqual(['inspect'])
  })

  test('a load balancer that the config does not have is refused, and asked for nothing', async () => {
    const { traffic } = createBed()
    const targets = [{ ...EDGE, loadBalancer: 'gone' }]
    expect(await traffic.effect(request('drain', targets))).toMatchObject({
      kind: 'refused',
      reason: { code: 'load-balancer-error', said: expect.stringContaining('no load balancer "gone"') as string },
    })
    expect(await traffic.inspect('uid-0', targets)).toMatchObject({ state: 'unknown' })
    expect(traffic.settleMs(targets)).toBe(0)
    expect(traffic.isVolatile(targets)).toBe(false)
  })

  test('no targets: nothing to do', async () => {
    const { traffic } = createBed()
    expect(await traffic.effect(request('drain', []))).toEqual({ kind: 'applied' })
    expect(await traffic.inspect('uid-0', [])).toEqual({ state: 'out', inFlight: 0, detail: { code: 'in-no-load-balancer' } })
  })
})

test('what one load balancer said long before another has answered is asked for once more', async () => {
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const { clock, traffic, edge } = createBed({
    inner: { delay: (moment, { method }) => (moment === 'before' && method === 'inspect' ? held : undefined) },
  })
  await traffic.effect(request('drain'))
  const reading = traffic.inspect('uid-0', [EDGE, INNER])
  await clock.advance(0)
  edge.restart()
  await clock.advance(9_000)
  release()
  expect((await reading).state).toBe('mixed')
})

test('so is what it said long before that was heard', async () => {
  const heard = Promise.withResolvers<void>()
  const { clock, traffic, edge } = createBed({
    edge: { delay: (moment, { method }) => (moment === 'after' && method === 'inspect' ? heard.promise : undefined) },
  })
  await traffic.effect(request('drain', [EDGE]))
  const reading = traffic.inspect('uid-0', [EDGE])
  await clock.advance(0)
  edge.restart()
  await clock.advance(5_000)
  heard.resolve()
  expect((await reading).state).toBe('in')
})

test('nor does it count for one that an operator had out, and has put back meanwhile', async () => {
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  const { clock, traffic, edge } = createBed({
    inner: { delay: (moment, { method }) => (moment === 'before' && method === 'inspect' ? held : undefined) },
  })
  await traffic.effect(request('drain'))
  const reading = traffic.inspect('uid-0', [{ ...EDGE, untouched: true }, INNER], { wasOut: false, all: true })
  await clock.advance(0)
  edge.restart()
  await clock.advance(9_000)
  release()
  expect(await reading).toMatchObject({ state: 'out', reclaimed: { loadBalancer: 'edge', target: 'edge/web-0', admin: 'in' } })
})

/** Inspects, and lets the time for a second look at missing entries pass. */
async function inspected({ traffic, clock }: Bed, targets: JournalTarget[]): ReturnType<Traffic['inspect']> {
  const reading = traffic.inspect('uid-0', targets)
  await clock.advance(2_000)
  return reading
}

describe('an entry that is not there', () => {
  const lost = { fault: ({ method }: MemoryCall) => (method === 'drain' ? ('request-lost' as const) : undefined) }

  test('is no proof of a drain that nobody has answered: there is nothing to put back, and it is not out', async () => {
    const bed = createBed({ edge: lost })
    const server = bed.edge.servers.get('edge/web-0')!
    await bed.traffic.effect(request('drain', [EDGE]))
    bed.edge.servers.delete('edge/web-0')
    for (let looks = 0; looks < 2; looks++) {
      await bed.clock.advance(30_000)
      expect(await inspected(bed, [EDGE])).toMatchObject({ state: 'mixed', removed: true })
      expect(await inspected(bed, [EDGE, INNER])).toMatchObject({ state: 'mixed' })
    }
    expect(bed.outcomes()).toEqual(['edge drain ambiguous'])
    bed.edge.servers.set('edge/web-0', server)
    expect(await bed.traffic.inspect('uid-0', [EDGE])).toMatchObject({ state: 'in' })
    server.state = 'drain'
    expect(await bed.traffic.inspect('uid-0', [EDGE])).toMatchObject({ state: 'out' })
    expect(bed.outcomes()).toEqual(['edge drain ambiguous', 'edge drain confirmed'])
  })

  test('nor of one that another process may have made; where the pod was patched since, it was', async () => {
    const bed = createBed()
    bed.edge.servers.delete('edge/web-0')
    expect(await inspected(bed, [EDGE])).toMatchObject({ state: 'mixed', removed: true })
    expect(await bed.traffic.inspect('uid-0', [EDGE], { wasOut: true })).toMatchObject({ state: 'out', removed: true })
  })

  test('is no proof of a restore either', async () => {
    const bed = createBed({ edge: { fault: ({ method }) => (method === 'restore' ? 'request-lost' : undefined) } })
    await bed.traffic.effect(request('drain', [EDGE]))
    await bed.traffic.effect(request('restore', [EDGE]))
    bed.edge.servers.delete('edge/web-0')
    await inspected(bed, [EDGE])
    expect(bed.outcomes().at(-1)).toBe('edge restore ambiguous')
  })

  test('for a moment is still there', async () => {
    const bed = createBed()
    const server = bed.edge.servers.get('edge/web-0')!
    await bed.traffic.effect(request('drain', [EDGE]))
    bed.edge.servers.delete('edge/web-0')
    const reading = bed.traffic.inspect('uid-0', [EDGE])
    await bed.clock.advance(1_000)
    bed.edge.servers.set('edge/web-0', server)
    await bed.clock.advance(1_000)
    expect(await reading).toEqual({
      state: 'out',
      inFlight: 0,
      detail: {
        code: 'entries-read',
        entries: [{ loadBalancer: 'edge', target: 'edge/web-0', admin: 'draining', inFlight: 0 }],
      },
    })
  })

  test('is waited for once, and again where it was back in between', async () => {
    const bed = createBed()
    const server = bed.edge.servers.get('edge/web-0')!
    bed.edge.servers.delete('edge/web-0')
    await inspected(bed, [EDGE])
    await bed.traffic.inspect('uid-0', [EDGE])
    bed.edge.servers.set('edge/web-0', server)
    await bed.traffic.inspect('uid-0', [EDGE])
    bed.edge.servers.delete('edge/web-0')
    const reading = bed.traffic.inspect('uid-0', [EDGE])
    await bed.clock.settle()
    expect(bed.clock.pending()).toBe(1)
    await bed.clock.advance(2_000)
    await reading
  })

  test('ends a drain, and not a restore', async () => {
    const { traffic, edge } = createBed()
    edge.servers.delete('edge/web-0')
    expect(await traffic.effect(request('drain', [EDGE]))).toMatchObject({ kind: 'refused' })
    expect(await traffic.effect(request('restore', [EDGE]))).toMatchObject({ kind: 'retryable' })
  })
})

describe('a read-back after a doubt', () => {
  test.each(['drain', 'restore'] as const)('%s: confirmed once, when it is seen to be done', async (effect) => {
    let fault: MemoryFault | undefined
    const { traffic, outcomes } = createBed({ edge: { fault: ({ method }) => (method === effect ? fault : undefined) } })
    if (effect === 'restore') await traffic.effect(request('drain', [EDGE]))
    fault = 'request-lost'
    await traffic.effect(request(effect, [EDGE]))
    await traffic.inspect('uid-0', [EDGE])
    expect(outcomes().at(-1)).toBe(`edge ${effect} ambiguous`)
    fault = 'reply-lost'
    await traffic.effect(request(effect, [EDGE]))
    await traffic.inspect('uid-0', [EDGE])
    await traffic.inspect('uid-0', [EDGE])
    expect(outcomes().slice(-2)).toEqual([`edge ${effect} ambiguous`, `edge ${effect} confirmed`])
  })

  test('tells the time since the call was asked for', async () => {
    const { clock, traffic, told } = createBed({
      edge: { fault: ({ method }) => (method === 'drain' ? 'reply-lost' : undefined) },
    })
    await traffic.effect(request('drain', [EDGE]))
    await clock.advance(1_200)
    await traffic.inspect('uid-0', [EDGE])
    expect(told.map(({ outcome, durationMs }) => [outcome, durationMs])).toEqual([
      ['ambiguous', 0],
      ['confirmed', 1_200],
    ])
  })

  test.each([
    { state: 'maint', confirmed: false },
    { state: 'drain', confirmed: true },
  ] as const)('a drain is confirmed by what reads as $state: $confirmed', async ({ state, confirmed }) => {
    const { traffic, edge, outcomes } = createBed({ edge: { fault: ({ method }) => (method === 'drain' ? 'late' : undefined) } })
    await traffic.effect(request('drain', [EDGE]))
    edge.servers.get('edge/web-0')!.state = state
    expect(await traffic.inspect('uid-0', [EDGE])).toMatchObject({ state: 'out' })
    expect(outcomes()).toEqual(['edge drain ambiguous', ...(confirmed ? ['edge drain confirmed'] : [])])
    expect(traffic.hasOvertaken('uid-0')).toBe(!confirmed)
  })

  test('of one that cannot be read, an answer that was overtaken by a drain says nothing', async () => {
    let release: () => void = () => {}
    let isFirst = true
    const { traffic, edge } = createBed({
      allowUnbalanced: true,
      edge: {
        capabilities: { inspect: 'none' },
        delay(moment, { method }) {
          if (moment !== 'after' || method !== 'resolve' || !isFirst) return undefined
          isFirst = false
          return new Promise((resolve) => (release = resolve))
        },
      },
    })
    const overtaken = traffic.snapshot(web0)
    await new Promise((resolve) => setImmediate(resolve))
    expect(isFirst).toBe(false)
    await traffic.effect(request('drain', [EDGE]))
    // The answer shows the state before the drain.
    edge.set('edge/web-0', { state: 'ready' }, { kind: 'restore', operationId: '' })
    release()
    expect(await overtaken).toMatchObject({ targets: [{ loadBalancer: 'edge', untouched: false }, { loadBalancer: 'inner' }] })
    expect(await traffic.inspect('uid-0', [EDGE])).toMatchObject({ state: 'out' })
  })

  test('a call that repeats what was done may still arrive, whatever is read', async () => {
    let fault: MemoryFault | undefined
    const { traffic } = createBed({ edge: { fault: ({ method }) => (method === 'drain' ? fault : undefined) } })
    await traffic.effect(request('drain', [EDGE]))
    fault = 'request-lost'
    expect(await traffic.effect(request('drain', [EDGE]))).toMatchObject({ kind: 'unknown', lateCall: true })
    expect(await traffic.inspect('uid-0', [EDGE])).toMatchObject({ state: 'out' })
    expect(traffic.lateMs('uid-0')).toBeGreaterThan(0)
  })

  test('a call that repeats what another one of unknown fate was seen to have done may still arrive', async () => {
    const faults: { edge?: MemoryFault; inner?: MemoryFault } = { edge: 'reply-lost', inner: 'refused' }
    const faultOf = (name: 'edge' | 'inner'): MemoryAdapterOptions => ({
      fault: ({ method }) => (method === 'drain' ? faults[name] : undefined),
    })
    const { traffic } = createBed({ edge: faultOf('edge'), inner: faultOf('inner') })
    await traffic.effect(request('drain', [EDGE, INNER]))
    expect(await traffic.inspect('uid-0', [EDGE, INNER])).toMatchObject({ state: 'mixed' })
    faults.edge = 'late'
    delete faults.inner
    expect(await traffic.effect(request('drain', [EDGE, INNER]))).toMatchObject({ lateCall: true })
    expect([traffic.hasOvertaken('uid-0'), traffic.hasOvertaken('uid-1')]).toEqual([true, false])
  })

  test('so may one that repeats what an earlier owner has done', async () => {
    const { traffic, edge } = createBed({ edge: { fault: ({ method }) => (method === 'drain' ? 'late' : undefined) } })
    edge.servers.get('edge/web-0')!.state = 'drain'
    await traffic.inspect('uid-0', [EDGE, INNER])
    expect(await traffic.effect(request('drain', [EDGE, INNER]))).toMatchObject({ lateCall: true })
  })

  test('a reading says where a call may still change it', async () => {
    let fault: MemoryFault | undefined = 'request-lost'
    const { traffic } = createBed({ edge: { fault: ({ method }) => (method === 'drain' ? fault : undefined) } })
    expect(await traffic.inspect('uid-0', [EDGE])).not.toHaveProperty('pending')
    await traffic.effect(request('drain', [EDGE]))
    expect(await traffic.inspect('uid-0', [EDGE])).toMatchObject({ state: 'in', pending: true })
    expect(await traffic.inspect('uid-1', [EDGE])).not.toHaveProperty('pending')
    fault = undefined
    await traffic.effect(request('drain', [EDGE]))
    expect(await traffic.inspect('uid-0', [EDGE])).not.toHaveProperty('pending')
  })

  test.each([
    { name: 'forgets a drain by itself', volatileOnReload: true, isRead: true, late: true },
    { name: 'keeps what it is told', volatileOnReload: false, isRead: true, late: false },
    // The answer to the drain may have been wrong.
    { name: 'was not read in between', volatileOnReload: false, isRead: false, late: true },
  ])('a restore without an answer may still arrive, though it reads as in, where the load balancer $name', async (edge) => {
    const { volatileOnReload, isRead, late } = edge
    const fault = ({ method }: MemoryCall): MemoryFault | undefined => (method === 'restore' ? 'late' : undefined)
    const bed = createBed({ edge: { capabilities: { volatileOnReload }, fault } })
    await bed.traffic.effect(request('drain', [EDGE]))
    if (isRead) await bed.traffic.inspect('uid-0', [EDGE])
    const answer = await bed.traffic.effect(request('restore', [EDGE]))
    expect(answer).toMatchObject({ kind: 'unknown', ...(late ? { lateCall: true } : {}) })
    expect('lateCall' in answer).toBe(late)
  })

  test('what a person says is out, of one that cannot be read, is not drained', async () => {
    const { traffic, edge } = createBed({ edge: { capabilities: { inspect: 'none' } } })
    expect(await traffic.effect(request('drain', [{ ...EDGE, said: 'out' }]))).toEqual({ kind: 'applied' })
    expect(edge.calls).toEqual([])
    expect(await traffic.effect(request('restore', [{ ...EDGE, said: 'out' }]))).toEqual({ kind: 'applied' })
    expect(edge.calls.map(({ method }) => method)).toEqual(['restore'])
  })

  test.each([
    { reads: 'none', calls: 1 },
    { reads: 'strong', calls: 2 },
  ] as const)('a restore without an answer, where reads are $reads, is sent so many times: $calls', async ({ reads, calls }) => {
    const { traffic, edge, inner } = createBed({
      edge: { capabilities: { inspect: reads }, fault: ({ method }) => (method === 'restore' ? 'reply-lost' : undefined) },
    })
    for (let times = 0; times < 2; times++)
      expect(await traffic.effect(request('restore', [EDGE, INNER]))).toMatchObject({ kind: 'unknown' })
    const restores = [edge, inner].map((one) => one.calls.filter(({ method }) => method === 'restore').length)
    expect(restores).toEqual([calls, 2])
    // A drain after it is another call.
    expect(await traffic.effect(request('drain', [EDGE]))).toMatchObject({ kind: 'applied' })
  })

  test('what is taken for done, and reads otherwise all the same, is done under another id, and only that', async () => {
    let fault: MemoryFault | undefined
    const { traffic, edge } = createBed({ edge: { fault: ({ method }) => (method === 'drain' ? fault : undefined) } })
    const drain = async (): Promise<void> => void (await traffic.effect(request('drain', [EDGE])))
    const operations = (): number[] => {
      const ids = edge.calls.flatMap(({ operationIds = [] }) => operationIds)
      return ids.map((id) => ids.indexOf(id))
    }
    await drain()
    edge.restart()
    await traffic.inspect('uid-0', [EDGE])
    fault = 'false-success'
    await drain()
    expect(operations()).toEqual([0, 0])
    edge.restart()
    await traffic.inspect('uid-0', [EDGE])
    fault = 'request-lost'
    await drain()
    await traffic.inspect('uid-0', [EDGE])
    fault = undefined
    await drain()
    expect(operations()).toEqual([0, 0, 2, 2])
  })

  test('the same for a restore, which is read back by comparing alone', async () => {
    let fault: MemoryFault | undefined
    const { traffic, edge } = createBed({ edge: { fault: ({ method }) => (method === 'restore' ? fault : undefined) } })
    await traffic.effect(request('drain', [EDGE]))
    fault = 'false-success'
    const restores: string[] = []
    for (let tries = 0; tries < 3; tries++) {
      await traffic.effect(request('restore', [EDGE]))
      restores.push(...edge.calls.at(-1)!.operationIds!)
      expect(await traffic.compare([EDGE])).toMatchObject({ kind: 'different', drained: true })
    }
    expect(restores.map((id) => restores.indexOf(id))).toEqual([0, 0, 2])
  })

  test('is none where it was asked for before the call, and another load balancer took its time', async () => {
    const answered = Promise.withResolvers<void>()
    const { traffic, edge } = createBed({
      edge: { fault: ({ method }) => (method === 'drain' ? 'late' : undefined) },
      inner: { delay: (moment, { method }) => (moment === 'before' && method === 'inspect' ? answered.promise : undefined) },
    })
    edge.servers.get('edge/web-0')!.state = 'drain'
    const reading = traffic.inspect('uid-0', [EDGE, INNER])
    await new Promise(setImmediate)
    edge.restart()
    await traffic.inspect('uid-0', [EDGE])
    expect(await traffic.effect(request('drain', [EDGE]))).toMatchObject({ kind: 'unknown' })
    answered.resolve()
    await reading
    expect(traffic.lateMs('uid-0')).toBeGreaterThan(0)
    edge.deliverLate()
    await traffic.inspect('uid-0', [EDGE])
    expect(traffic.lateMs('uid-0')).toBe(0)
  })

  test('another try that is applied needs no confirmation', async () => {
    let fault: MemoryFault | undefined = 'reply-lost'
    const { traffic, outcomes } = createBed({ edge: { fault: ({ method }) => (method === 'drain' ? fault : undefined) } })
    await traffic.effect(request('drain', [EDGE]))
    fault = undefined
    await traffic.effect(request('drain', [EDGE]))
    await traffic.inspect('uid-0', [EDGE])
    expect(outcomes()).toEqual(['edge drain ambiguous', 'edge drain applied'])
  })

  test('so does one that was asked for while the earlier was under way', async () => {
    const cut = Promise.withResolvers<void>()
    const { traffic, edge } = createBed({
      edge: {
        fault: ({ method }) => (method === 'drain' ? 'late' : undefined),
        delay: (moment, { method }) => (moment === 'before' && method === 'drain' ? cut.promise : undefined),
      },
    })
    edge.servers.get('edge/web-0')!.state = 'drain'
    await traffic.inspect('uid-0', [EDGE])
    edge.servers.get('edge/web-0')!.state = 'ready'
    await traffic.inspect('uid-0', [EDGE])
    const drained = traffic.effect(request('drain', [EDGE]))
    const restored = traffic.effect(request('restore', [EDGE]))
    await new Promise(setImmediate)
    cut.resolve()
    expect(await drained).toMatchObject({ kind: 'unknown' })
    expect(await restored).toEqual({ kind: 'applied', lateCall: true })
    expect(traffic.hasOvertaken('uid-0')).toBe(true)
  })

  test('a call after one of unknown fate says that the earlier may still arrive; after a confirmed one it does not', async () => {
    let fault: MemoryFault | undefined = 'request-lost'
    const { traffic } = createBed({ edge: { fault: ({ method }) => (method === 'drain' ? fault : undefined) } })
    expect(await traffic.effect(request('drain', [EDGE]))).not.toHaveProperty('lateCall')
    await traffic.inspect('uid-0', [EDGE])
    fault = undefined
    expect(await traffic.effect(request('drain', [EDGE]))).toEqual({ kind: 'applied', lateCall: true })
    fault = 'reply-lost'
    await traffic.effect(request('drain', [EDGE]))
    await traffic.inspect('uid-0', [EDGE])
    expect(await traffic.effect(request('restore', [EDGE]))).toEqual({ kind: 'applied' })
  })
})

describe('what a person has said', () => {
  const said: JournalTarget = { ...EDGE, said: 'out' }

  test('counts where the load balancer cannot be read, with nothing known of what is in flight', async () => {
    const { traffic } = createBed({ edge: { fault: () => 'refused' } })
    expect(await traffic.inspect('uid-0', [EDGE])).toMatchObject({ state: 'unknown' })
    const detail = {
      code: 'entries-read',
      entries: [{ loadBalancer: 'edge', target: 'edge/web-0', admin: 'out', inFlight: null, by: { code: 'said-by-person' } }],
    }
    expect(await traffic.inspect('uid-0', [said])).toMatchObject({ state: 'out', inFlight: null, detail })
  })

  test('of one says nothing of another', async () => {
    const { traffic } = createBed({ edge: { fault: () => 'refused' } })
    expect(await traffic.inspect('uid-0', [said, INNER])).toMatchObject({ state: 'mixed' })
  })

  test('never against what it says itself', async () => {
    const { traffic } = createBed()
    expect(await traffic.inspect('uid-0', [said])).toMatchObject({ state: 'in' })
  })

  test.each(['none', 'strong'] as const)(
    'in, in the middle of a restore (reads: %s): it is not out, and stays as it is',
    async (reads) => {
      const { traffic, edge, inner } = createBed({ edge: { capabilities: { inspect: reads } } })
      const targets: JournalTarget[] = [{ ...EDGE, said: 'in', prior: { state: 'ready', weight: 7 } }, INNER]
      await traffic.effect(request('drain', [INNER]))
      expect(await traffic.inspect('uid-0', targets)).toMatchObject({ state: 'mixed' })
      await traffic.effect(request('restore', targets))
      const changes = ({ calls }: typeof edge): string[] =>
        calls.map(({ method }) => method).filter((one) => /drain|restore/.test(one))
      expect([changes(edge), changes(inner)]).toEqual([[], ['drain', 'restore']])
      expect(await traffic.inspect('uid-0', targets)).toMatchObject({ state: 'in' })
      expect(await traffic.compare(targets)).toEqual({ kind: 'equal' })
      expect(await traffic.compare([{ ...targets[0]!, said: 'out' }])).not.toEqual({ kind: 'equal' })
    },
  )

  test('of a load balancer that is in the config no more: the others are drained all the same', async () => {
    const { traffic, outcomes } = createBed()
    const answer = await traffic.effect(request('drain', [{ ...said, loadBalancer: 'former' }, INNER]))
    expect(answer).toMatchObject({
      kind: 'refused',
      reason: { said: expect.stringContaining('no load balancer "former"') as string },
    })
    expect(outcomes().toSorted()).toEqual(['former drain failed', 'inner drain applied'])
  })
})

describe('inspect and compare', () => {
  const states: { name: string; edge: string; inner: string; state: string }[] = [
    { name: 'both in', edge: 'ready', inner: 'ready', state: 'in' },
    { name: 'both drained', edge: 'drain', inner: 'drain', state: 'out' },
    { name: 'maintenance is out too', edge: 'maint', inner: 'drain', state: 'out' },
    { name: 'one of two', edge: 'ready', inner: 'drain', state: 'mixed' },
  ]
  test.each(states)('$name: $state', async ({ edge, inner, state }) => {
    const bed = createBed()
    bed.edge.servers.get('edge/web-0')!.state = edge as never
    bed.inner.servers.get('inner/web-0')!.state = inner as never
    bed.edge.servers.get('edge/web-0')!.inFlight = 2
    bed.inner.servers.get('inner/web-0')!.inFlight = 3
    expect(await bed.traffic.inspect('uid-0', [EDGE, INNER])).toMatchObject({ state, inFlight: 5 })
  })

  test('an entry that is gone is out, and what it has in flight cannot be known', async () => {
    const bed = createBed()
    await bed.traffic.effect(request('drain', [EDGE]))
    bed.edge.servers.delete('edge/web-0')
    expect(await inspected(bed, [EDGE])).toMatchObject({ state: 'out', inFlight: null, removed: true })
  })

  test('what a load balancer waits for itself is not empty, whatever another counts', async () => {
    const bed = createBed()
    await bed.traffic.effect(request('drain', [EDGE, INNER]))
    expect(await inspected(bed, [EDGE, INNER]), 'control').not.toHaveProperty('emptying')
    bed.edge.servers.get('edge/web-0')!.emptying = true
    expect(await inspected(bed, [EDGE, INNER])).toMatchObject({ state: 'out', inFlight: 0, emptying: true })
  })

  test('requests that one has counted are not hidden by another that cannot count', async () => {
    const bed = createBed()
    await bed.traffic.effect(request('drain', [EDGE, INNER]))
    bed.edge.servers.delete('edge/web-0')
    bed.inner.servers.get('inner/web-0')!.inFlight = 5
    expect(await inspected(bed, [EDGE, INNER])).toMatchObject({ state: 'out', inFlight: 5 })
    bed.inner.servers.get('inner/web-0')!.inFlight = 0
    expect(await bed.traffic.inspect('uid-0', [EDGE, INNER])).toMatchObject({ state: 'out', inFlight: null })
  })

  test('requests under way on what an operator has out are counted, for who asks for all', async () => {
    const bed = createBed()
    const untouched = { ...EDGE, untouched: true }
    bed.edge.servers.get('edge/web-0')!.state = 'maint'
    bed.edge.servers.get('edge/web-0')!.inFlight = 4
    bed.inner.servers.get('inner/web-0')!.state = 'drain'
    const read = (targets: JournalTarget[], all?: true) =>
      bed.traffic.inspect('uid-0', targets, { wasOut: false, ...(all ? { all } : {}) })
    expect(await read([untouched, INNER], true)).toMatchObject({ state: 'out', inFlight: 4 })
    expect(await read([untouched], true)).toMatchObject({ state: 'out', inFlight: 4 })
    expect(await read([untouched, INNER])).toMatchObject({ state: 'out', inFlight: 0 })
  })

  test('one that cannot be asked at this moment does not hide that another never can', async () => {
    const faults: { edge?: MemoryFault; inner?: MemoryFault } = { edge: 'reply-lost' }
    const bed = createBed({
      edge: { capabilities: { guarantee: 'G0', inspect: 'none' }, fault: () => faults.edge },
      inner: { fault: ({ method }) => (method === 'inspect' ? faults.inner : undefined) },
    })
    await bed.traffic.effect(request('drain', [EDGE, INNER]))
    expect(await bed.traffic.inspect('uid-0', [EDGE, INNER])).toMatchObject({ state: 'unknown', hidden: true })
    faults.inner = 'refused'
    expect(await bed.traffic.inspect('uid-0', [EDGE, INNER])).toMatchObject({ state: 'unknown', hidden: true })
    expect(await bed.traffic.inspect('uid-0', [INNER])).not.toHaveProperty('hidden')
  })

  test('one that cannot be read makes all unknown', async () => {
    const bed = createBed({ inner: { fault: () => 'refused' } })
    expect(await bed.traffic.inspect('uid-0', [EDGE, INNER])).toMatchObject({ state: 'unknown', inFlight: null })
  })

  test('compares whole prior states, whatever the order of their keys', async () => {
    const { traffic, edge } = createBed()
    expect(await traffic.compare([{ ...EDGE, prior: { weight: 1, state: 'ready' } }, INNER])).toEqual({ kind: 'equal' })
    edge.servers.get('edge/web-0')!.weight = 5
    expect(await traffic.compare([EDGE, INNER])).toEqual({
      kind: 'different',
      reason: {
        code: 'entry-differs',
        loadBalancer: 'edge',
        target: 'edge/web-0',
        now: '{"state":"ready","weight":5}',
        before: '{"state":"ready","weight":1}',
      },
    })
    edge.servers.delete('edge/web-0')
    expect((await traffic.compare([EDGE])).kind).toBe('unknown')
  })

  test.each<{ name: string; server: object; drained?: true }>([
    { name: 'as the drain has left it', server: { state: 'drain' }, drained: true },
    { name: 'in maintenance', server: { state: 'maint' } },
    { name: 'in rotation with another weight', server: { weight: 5 } },
  ])('what differs is told from one that is drained still: $name', async ({ server, drained }) => {
    const { traffic, edge } = createBed()
    Object.assign(edge.servers.get('edge/web-0')!, server)
    const answer = await traffic.compare([EDGE])
    const reason = expect.objectContaining({ code: 'entry-differs', target: 'edge/web-0' }) as unknown
    expect(answer).toEqual({ kind: 'different', reason, ...(drained ? { drained } : {}) })
  })

  test('one that carries its restore out later may show that after its settle time alone', async () => {
    const { traffic, clock, edge } = createBed({ edge: { capabilities: { settleMs: 500 }, fault: () => 'false-success' } })
    edge.servers.get('edge/web-0')!.state = 'drain'
    await traffic.effect(request('restore', [EDGE]))
    const reason = { code: 'restore-may-not-show', loadBalancer: 'edge', target: 'edge/web-0' }
    expect(await traffic.compare([EDGE])).toEqual({ kind: 'unknown', reason })
    await clock.advance(499)
    expect(await traffic.compare([EDGE])).toEqual({ kind: 'unknown', reason })
    await clock.advance(1)
    expect(await traffic.compare([EDGE])).toMatchObject({ kind: 'different', drained: true })
    edge.servers.get('edge/web-0')!.state = 'ready'
    expect(await traffic.compare([EDGE])).toEqual({ kind: 'equal' })
  })

  test('one that cannot be read differs where it is known to be out, and nobody knows after a restore without an answer', async () => {
    let fault: MemoryFault | undefined
    const { traffic } = createBed({
      edge: { capabilities: { inspect: 'none' }, fault: ({ method }) => (method === 'restore' ? fault : undefined) },
    })
    const compared = async (): Promise<string> => (await traffic.compare([EDGE])).kind
    expect(await compared()).toBe('unknown')
    await traffic.effect(request('drain', [EDGE]))
    fault = 'refused'
    await traffic.effect(request('restore', [EDGE]))
    expect(await compared()).toBe('different')
    fault = 'reply-lost'
    await traffic.effect(request('restore', [EDGE]))
    expect(await compared()).toBe('unknown')
  })

  test('one that the load balancer takes for unhealthy is not home: it gets no requests', async () => {
    const { edge, traffic } = createBed()
    edge.servers.get('edge/web-0')!.healthy = false
    expect(await traffic.compare([EDGE])).toEqual({
      kind: 'unknown',
      reason: {
        code: 'gets-no-requests',
        entry: { loadBalancer: 'edge', target: 'edge/web-0', admin: 'in', inFlight: 0 },
      },
    })
    edge.servers.get('edge/web-0')!.healthy = true
    expect(await traffic.compare([EDGE])).toEqual({ kind: 'equal' })
  })

  test('the slowest settles last, and what an operator has out does not count', () => {
    const { traffic } = createBed({
      edge: { capabilities: { settleMs: 500, volatileOnReload: false } },
      inner: { capabilities: { settleMs: 2_000 } },
    })
    expect(traffic.settleMs([EDGE, INNER])).toBe(2_000)
    expect(traffic.settleMs([EDGE, { ...INNER, untouched: true }])).toBe(500)
    expect(traffic.settleMs([])).toBe(0)
    expect(traffic.isVolatile([EDGE, INNER])).toBe(true)
    expect(traffic.isVolatile([EDGE, { ...INNER, untouched: true }])).toBe(false)
  })
})
