import type { Clock } from '../../ports/clock.ts'
import { idNamed } from '../../workloads/kinds/testing/id-named.ts'
import { POD } from '../../workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import { reasonWords } from '../../report/words/words.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { LEASE_DURATION_MS, leasePath, leaseRecord } from '../../leases/lease.ts'
import { leaseName } from './lease-name.ts'
import type { Owners } from './owners.ts'
import { withObservation } from '../../observation/testing/with-observation.ts'
import { createScopeQueues } from '../traffic/scope-queues.ts'
import { takeOwners } from './owners.ts'
import type { SeenLease } from './ownership.ts'
import { PAUSE_MS } from '../../leases/lease.ts'
import { seeLeases } from './see-leases.ts'
import { createLeaseServer } from '../testing/lease-server.ts'
import { watchOwner } from './watch-owner.ts'
import type { World } from '../world.ts'
import type { LedgerEntry } from '../../journal/ledger.ts'

const PODS = ['web-0', 'web-1', 'web-2']

/** A run over three bare pods has died. Each pod has a Lease of its own. */
function createBed(kind: 'Pod' | 'StatefulSet' = 'Pod', { isFractional = false } = {}) {
  const clock = createVirtualClock()
  let looks = 0
  // The monotonic clock of a process has fractions of a millisecond.
  const fractional: Clock = { ...clock, now: () => clock.now() + (looks++ % 7) / 16 }
  const refs = PODS.map((name) => ({ ...idNamed(kind, name), namespace: 'shop' }))
  const servers = new Map(refs.map((ref) => [leaseName(ref), createLeaseServer()]))
  for (const server of servers.values()) server.write({ holderIdentity: 'dead', leaseTransitions: 1, renewTime: '0' })
  const serverOf = (path: string) => [...servers].find(([name]) => path.endsWith(`/${name}`))![1]
  const ledgers: unknown[] = []
  const client = {
    get: async (path) =>
      path.includes('/configmaps') ? { metadata: { resourceVersion: '1' }, items: ledgers } : serverOf(path).client.get(path),
    create: (path, body, limits) =>
      serverOf(`${path}/${(body as { metadata: { name: string } }).metadata.name}`).client.create(path, body, limits),
    replace: (path, body, limits) => serverOf(path).client.replace(path, body, limits),
  } as Partial<KubeClient> as KubeClient
  const world = {
    workloads: refs.map((ref) => ({ workload: { ref } })),
    store: { all: () => [] },
    beside: { all: () => [] },
    refresh: async () => {},
  } as unknown as World
  const journaled = (epoch: number, where: 'store' | 'beside' = 'store') => {
    const journals = refs.map(({ name }) => ({ pod: { name }, stored: { kind: 'read', journal: { epoch } } }))
    for (const { workload } of world.workloads) workload.owns = ({ name }) => name === workload.ref.name
    world[where].all = () => journals as unknown as ReturnType<World['beside']['all']>
  }
  const told: string[] = []
  const waits: number[] = []
  const take = (seen: ReadonlyMap<string, SeenLease> = new Map()): Promise<Owners> =>
    takeOwners({
      world,
      ports: withObservation({
        client,
        clock: isFractional ? fractional : clock,
        random: { next: () => 0.5 },
        identity: 'me',
        loadBalancers: [],
        queues: createScopeQueues(clock),
        onEvent() {},
      }),
      namespace: 'shop',
      signal: new AbortController().signal,
      seen,
      tell(event) {
        if (event.type === 'leaseWaiting') waits.push(event.remainingMs)
        told.push(event.type === 'warning' ? reasonWords(event.reason) : event.type)
      },
      onLost: (reason) => told.push(reasonWords(reason)),
      onOrder() {},
    })
  return { clock, refs, servers, client, ledgers, journaled, take, told, waits }
}

describe('what was seen before is outdated where another owner may have acted since', () => {
  function given() {
    const bed = createBed('StatefulSet')
    for (const server of bed.servers.values()) server.write({ leaseTransitions: 1, leaseDurationSeconds: 1 })
    const see = () => seeLeases({ namespace: 'shop', select: { refs: bed.refs } }, bed)
    return { ...bed, see }
  }

  async function outdated(take: Promise<Owners>): Promise<boolean> {
    const owners = await take
    await owners.release()
    return owners.outdated
  }

  test('one of the Leases was taken and given back', async () => {
    const { take, see, servers } = given()
    const seen = await see()
    expect(seen.size).toBe(3)
    servers.get(leaseName({ ...STATEFUL_SET, name: 'web-2' }))!.write({ leaseTransitions: 2, leaseDurationSeconds: 1 })
    expect(await outdated(take(seen))).toBe(true)
  })

  test('nobody has looked at them', async () => {
    expect(await outdated(given().take())).toBe(true)
  })

  test('control: they are as they were', async () => {
    const { take, see } = given()
    expect(await outdated(take(await see()))).toBe(false)
  })

  test('control: there are none yet', async () => {
    const { take, see, servers } = given()
    for (const server of servers.values()) server.write(undefined)
    const seen = await see()
    expect(seen.size).toBe(0)
    expect(await outdated(take(seen))).toBe(false)
  })
})

test('the Leases of a run that died are waited out all at once', async () => {
  const { clock, take } = createBed()
  const beganAt = clock.now()
  let owners: Owners | undefined
  void take().then((result) => (owners = result))
  await clock.runUntil(() => owners !== undefined)
  expect(clock.now() - beganAt).toBeLessThan(2 * LEASE_DURATION_MS)
  await owners!.release()
})

test('how long a Lease is waited for is told in whole milliseconds', async () => {
  const { clock, take, waits } = createBed('Pod', { isFractional: true })
  let owners: Owners | undefined
  void take().then((result) => (owners = result))
  await clock.runUntil(() => owners !== undefined)
  expect(waits.length).toBeGreaterThan(1)
  expect(waits.filter((ms) => !Number.isInteger(ms))).toEqual([])
  await owners!.release()
})

test.each(['store', 'beside'] as const)('Leases that were all deleted are waited out at once too (%s)', async (where) => {
  const { clock, journaled, servers, take, told } = createBed()
  journaled(7, where)
  for (const server of servers.values()) server.write(undefined)
  const beganAt = clock.now()
  let owners: Owners | undefined
  void take().then((result) => (owners = result))
  await clock.runUntil(() => owners !== undefined)
  expect([clock.now() - beganAt, owners!.epoch, owners!.outdated]).toEqual([LEASE_DURATION_MS + PAUSE_MS, 8, true])
  expect(new Set(told)).toEqual(new Set(['leaseWaiting']))
  await owners!.release()
})

/** A ledger as it is on the cluster, where its run is not finished. */
function ledgerOf(name: string, over: Partial<LedgerEntry> = {}): unknown {
  const workloads = [{ ...POD, name, uid: `uid-${name}` }]
  const header = { v: 1, run: 'theirs', workloads, images: [], startedAt: '2026-01-01T00:00:00.000Z', chunks: 1 }
  const entry = { pod: name, address: '10.0.0.1', node: 'node-0', targets: [], state: 'open', ...over }
  const data = { header: JSON.stringify(header), [`uid-${name}`]: JSON.stringify(entry) }
  const labels = { 'sluice.dev/run': 'theirs' }
  return { metadata: { name: 'sluice-run-theirs', uid: 'uid', resourceVersion: '2', labels }, data }
}

/** The milliseconds until all Leases are taken. */
async function tookMs({ clock, take }: ReturnType<typeof createBed>): Promise<number> {
  const beganAt = clock.now()
  let owners: Owners | undefined
  void take().then((result) => (owners = result))
  await clock.runUntil(() => owners !== undefined)
  const ms = clock.now() - beganAt
  await owners!.release()
  return ms
}

test.each([
  { ledger: 'web-1', waits: true },
  { ledger: 'shop-0', waits: false },
])('a Lease that was deleted, and a record ($ledger) of a run that has begun nothing: waited out $waits', async (given) => {
  const bed = createBed()
  for (const server of bed.servers.values()) server.write(undefined)
  bed.ledgers.push(ledgerOf(given.ledger, { idle: true }))
  expect(await tookMs(bed)).toBe(given.waits ? LEASE_DURATION_MS + PAUSE_MS : 0)
})

test.each([
  { when: 'before', ms: LEASE_DURATION_MS + PAUSE_MS },
  { when: 'meanwhile', ms: 2 * (LEASE_DURATION_MS + PAUSE_MS) },
])('while one is waited out, another is known to be gone: its owner had come $when', async ({ when, ms }) => {
  const bed = createBed()
  const come = (): void => void bed.ledgers.push(ledgerOf('web-1'))
  for (const name of ['web-1', 'web-2']) bed.servers.get(leaseName({ ...POD, name }))!.write(undefined)
  if (when === 'before') come()
  else bed.clock.setTimeout(come, 5_000)
  expect(await tookMs(bed)).toBe(ms)
})

test.each([
  { lost: 3, isGivenBack: false },
  { lost: 0, isGivenBack: true },
])('one that was long in the making ($lost tries lost) is left, not given back, until somebody has looked', async (given) => {
  const bed = createBed()
  const servers = [...bed.servers.values()]
  for (const server of servers) server.write(undefined)
  let lost = 0
  servers[0]!.fault = ({ method }) => (method === 'POST' && ++lost <= given.lost ? 'lost' : undefined)
  await tookMs(bed)
  const givenBack = servers.map((server) => server.lease()!.spec.holderIdentity === '')
  expect(givenBack).toEqual([given.isGivenBack, true, true])
})

describe('another owner has come while the Leases were being made', () => {
  async function taken() {
    const bed = createBed()
    for (const server of bed.servers.values()) server.write(undefined)
    const owners = await bed.take()
    expect(owners.epoch).toBe(1)
    return { ...bed, owners }
  }

  test.each([
    { what: 'its journals say so', epoch: 1, ledger: undefined },
    { what: 'its ledger says so, with no journal yet', epoch: undefined, ledger: 'web-1' },
  ])('$what: a conflict, and the next owner waits until both are known to be over', async ({ epoch, ledger }) => {
    const { owners, journaled, ledgers, servers } = await taken()
    if (epoch !== undefined) journaled(epoch)
    if (ledger !== undefined) ledgers.push(ledgerOf(ledger))
    await expect(owners.assertAlone()).rejects.toMatchObject({
      kind: 'conflict',
      reason: { code: 'lease-contested', leases: expect.arrayContaining(['sluice-pod-web-0']) as string[] },
    })
    await owners.release()
    expect(Array.from(servers.values(), (server) => server.lease()!.spec.holderIdentity)).not.toContain('')
  })

  test.each([
    { what: 'nothing was written', ledger: undefined },
    { what: 'of other pods alone', ledger: 'shop-0' },
  ])('control: $what', async ({ ledger }) => {
    const { owners, ledgers, servers } = await taken()
    if (ledger !== undefined) ledgers.push(ledgerOf(ledger))
    await expect(owners.assertAlone()).resolves.toBeUndefined()
    await owners.release()
    expect(Array.from(servers.values(), (server) => server.lease()!.spec.holderIdentity)).toEqual(['', '', ''])
  })

  test('control: journals and ledgers that were there before', async () => {
    const { clock, take, journaled, ledgers, servers } = createBed()
    for (const server of servers.values()) server.write(undefined)
    journaled(7)
    ledgers.push(ledgerOf('web-1'))
    let owners: Owners | undefined
    void take().then((result) => (owners = result))
    await clock.runUntil(() => owners !== undefined)
    await expect(owners!.assertAlone()).resolves.toBeUndefined()
    await owners!.release()
  })
})

test('a journal whose epoch no Lease can count: named, and no Lease is asked for', async () => {
  const { journaled, servers, take } = createBed()
  journaled(Number.MAX_SAFE_INTEGER)
  await expect(take()).rejects.toMatchObject({
    kind: 'preflight',
    reason: { code: 'epoch-too-large', pod: 'web-0', epoch: Number.MAX_SAFE_INTEGER },
  })
  expect(Array.from(servers.values(), ({ calls }) => calls)).toEqual([[], [], []])
})

test('control: one that somebody renews meanwhile is not taken', async () => {
  const { clock, servers, take } = createBed()
  let failure: unknown
  void take().catch((error: unknown) => (failure = error))
  const server = servers.get(leaseName({ ...POD, name: 'web-2' }))!
  for (let time = 1; time < 20; time += 1) {
    server.write({ holderIdentity: 'alive', leaseTransitions: 2, renewTime: String(time) })
    await clock.advance(4_000)
  }
  expect(failure).toMatchObject({ kind: 'conflict', reason: { code: 'lease-held', holder: 'alive' } })
})

test('an abort that looks at them before waits no longer than for one of them', async () => {
  const { clock, servers, client } = createBed()
  const leases = [...servers].map(([name, server]) => ({ ...leaseRecord(server.lease()), name }))
  expect(leasePath('shop', leases[2]!.name)).toMatch(/web-2$/)
  const beganAt = clock.now()
  let dead: Map<string, unknown> | undefined
  void watchOwner({ client, clock, namespace: 'shop', leases, onLook() {} }).then((result) => (dead = result))
  await clock.runUntil(() => dead !== undefined)
  expect(dead!.size).toBe(3)
  expect(clock.now() - beganAt).toBeLessThanOrEqual(LEASE_DURATION_MS + PAUSE_MS)
})
