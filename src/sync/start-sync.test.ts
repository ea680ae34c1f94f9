import { describe, expect, test } from 'vitest'
import { createBed, LATE_MS } from '../../test/sync/embedded-bed.ts'
import type { SyncSnapshot } from './sync-run.ts'
import { synced } from './testing/copies.ts'

const SLICES = 'endpointslices.discovery.k8s.io'

/** Two sources with two ready endpoints each, and a Service without a selector in the access cluster. */
function given() {
  const bed = createBed()
  for (const at of [bed.access, bed.east, bed.west]) bed.service(at)
  bed.endpoints(bed.east, ['10.1.0.1', '10.1.0.2'])
  bed.endpoints(bed.west, ['10.2.0.1', '10.2.0.2'])
  return bed
}

const ALL = ['east 10.1.0.1', 'east 10.1.0.2', 'west 10.2.0.1', 'west 10.2.0.2']
const WEST = ['west 10.2.0.1', 'west 10.2.0.2']
const EXPIRE = [synced({ away: { is: 'expire', afterMs: 60_000, floor: 1 } })]

describe('copies', () => {
  test('follow their sources; where nothing changes, nothing is written', async () => {
    const bed = given()
    const sync = await bed.start()
    expect(bed.copies()).toEqual(ALL)
    expect(sync.snapshot()).toMatchObject({ isLeader: true, isSettled: true, access: { is: 'current' }, leftBehind: [] })
    const writes = bed.access.writes.length
    expect(writes).toBe(2)
    await bed.clock.advance(3_600_000)
    expect(bed.access.writes).toHaveLength(writes)
    bed.endpoints(bed.east, ['10.1.0.1', '!10.1.0.2', '10.1.0.3'])
    await bed.clock.advance(0)
    expect(bed.copies()).toEqual(['east !10.1.0.2', 'east 10.1.0.1', 'east 10.1.0.3', ...WEST])
    expect(bed.access.writes).toHaveLength(writes + 1)
    expect(sync.problems()).toEqual([])
    await sync.stop()
  })

  test('of a restarted sync are written only where a source has changed, deletions included', async () => {
    const bed = given()
    const first = await bed.start()
    await first.stop()
    const writes = bed.access.writes.length
    const idle = await bed.start()
    expect(bed.access.writes).toHaveLength(writes)
    await idle.stop()
    bed.endpoints(bed.east, ['10.1.0.2'])
    bed.west.store.remove(SLICES, 'shop', 'web-1', 'test')
    const second = await bed.start()
    expect(bed.copies()).toEqual(['east 10.1.0.2'])
    await second.stop()
  })

  test('end in the last state after rapid flips, with as few writes as the rate allows', async () => {
    const bed = given()
    const sync = await bed.start()
    const writes = bed.access.writes.length
    for (let flip = 0; flip < 200; flip += 1) {
      bed.endpoints(bed.east, [flip % 2 === 0 ? '!10.1.0.1' : '10.1.0.1', '10.1.0.2'])
      await bed.clock.advance(10)
    }
    bed.endpoints(bed.east, ['!10.1.0.1', '!10.1.0.2'])
    await bed.clock.advance(500)
    expect(bed.copies()).toEqual(['east !10.1.0.1', 'east !10.1.0.2', ...WEST])
    expect(bed.access.writes.length - writes).toBeLessThan(50)
    const { length } = bed.access.writes
    await bed.clock.advance(60_000)
    expect(bed.copies()).toEqual(['east !10.1.0.1', 'east !10.1.0.2', ...WEST])
    expect(bed.access.writes).toHaveLength(length)
    await sync.stop()
  })

  test('of a pod under upgrade are not ready from the drain intent to the restore intent, and the pod is not removed', async () => {
    const bed = given()
    bed.pod(bed.east, '10.1.0.1')
    bed.endpoints(bed.east, ['10.1.0.1', '10.1.0.2'])
    const sync = await bed.start()
    const out = ['east !10.1.0.1', 'east 10.1.0.2', ...WEST]
    for (const [step, expected] of [
      ['drain', out],
      ['patched', out],
      ['restore', ALL],
      ['closed', ALL],
    ] as const) {
      bed.journal(bed.east, '10.1.0.1', step)
      await bed.clock.advance(0)
      expect(bed.copies()).toEqual(expected)
      const [east] = sync.snapshot().services[0]!.sources
      expect(east!.upgrading).toBe(expected === out ? 1 : 0)
    }
    await sync.stop()
  })

  test('are not made of copies: two clusters may copy from each other', async () => {
    const bed = given()
    bed.east.store.create(
      SLICES,
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: {
          name: 'web-imported',
          namespace: 'shop',
          labels: { 'kubernetes.io/service-name': 'web', 'multicluster.kubernetes.io/source-cluster': 'access' },
        },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['10.9.0.1'] }],
        ports: [{ port: 80 }],
      },
      'test',
    )
    const sync = await bed.start()
    expect(bed.copies()).toEqual(ALL)
    await sync.stop()
  })
})

describe('a source', () => {
  test('whose first list is not complete loses no copies', async () => {
    const bed = given()
    await (await bed.start()).stop()
    for (const path of ['/services', '/endpointslices']) {
      bed.east.fault = (request) => (request.path.includes(path) && request.method === 'GET' ? 'refused' : undefined)
      if (path !== '/endpointslices') bed.endpoints(bed.east, [])
      const sync = await bed.start()
      await bed.clock.advance(600_000)
      expect(bed.copies()).toEqual(ALL)
      await sync.stop()
    }
    bed.east.fault = undefined
    const sync = await bed.start()
    expect(bed.copies()).toEqual(WEST)
    await sync.stop()
  })

  test('whose pods do not answer is not away: its endpoints are copied, and the pods are named', async () => {
    const bed = given()
    bed.pod(bed.east, '10.1.0.1')
    bed.endpoints(bed.east, ['10.1.0.1', '10.1.0.2'])
    const unanswered = (request: { path: string }): 'lost' | undefined => (request.path.includes('/pods') ? 'lost' : undefined)
    bed.east.fault = unanswered
    const sync = await bed.start()
    expect(bed.copies()).toEqual(ALL)
    const [east] = sync.snapshot().sources
    expect(east).toMatchObject({ is: 'current', problems: [{ code: 'pods-unread' }] })
    bed.endpoints(bed.east, ['10.1.0.1', '!10.1.0.2'])
    await bed.clock.advance(0)
    expect(bed.copies()).toEqual(['east !10.1.0.2', 'east 10.1.0.1', ...WEST])
    bed.journal(bed.east, '10.1.0.1', 'drain')
    await bed.clock.advance(600_000)
    expect(bed.copies()).toEqual(['east !10.1.0.2', 'east 10.1.0.1', ...WEST])
    bed.east.fault = undefined
    await bed.clock.advance(60_000)
    expect(sync.snapshot().sources[0]).toMatchObject({ is: 'current', problems: [] })
    expect(bed.copies()).toEqual(['east !10.1.0.1', 'east !10.1.0.2', ...WEST])
    // A pod that was out stays out for a while after its pods have ceased to answer, and the slices go on meanwhile.
    bed.east.fault = unanswered
    bed.east.cut()
    bed.endpoints(bed.east, ['10.1.0.1', '10.1.0.2'])
    await bed.clock.advance(60_000)
    expect(sync.snapshot().sources[0]).toMatchObject({ is: 'current', problems: [{ code: 'pods-unread' }] })
    expect(bed.copies()).toEqual(['east !10.1.0.1', 'east 10.1.0.2', ...WEST])
    await bed.clock.advance(600_000)
    expect(bed.copies()).toEqual(ALL)
    await sync.stop()
  })

  test('that is away keeps its copies, and has its changes once it is back', async () => {
    const bed = given()
    const sync = await bed.start()
    bed.east.setDown(true)
    await bed.clock.advance(3_600_000)
    expect(bed.copies()).toEqual(ALL)
    expect(sync.problems()).toEqual(['source-away'])
    expect(sync.snapshot().sources[0]).toMatchObject({ name: 'east', is: 'away', because: { is: 'unanswered' } })
    // The other source goes on.
    bed.endpoints(bed.west, ['10.2.0.1'])
    await bed.clock.advance(0)
    expect(bed.copies()).toEqual(ALL.slice(0, 3))
    bed.endpoints(bed.east, ['10.1.0.1'])
    bed.east.setDown(false)
    await bed.clock.advance(60_000)
    expect(bed.copies()).toEqual(['east 10.1.0.1', 'west 10.2.0.1'])
    expect(sync.problems()).toEqual([])
    await sync.stop()
  })

  test('that is away has its copies removed after the time, and not below the floor', async () => {
    const bed = given()
    const sync = await bed.start({ services: EXPIRE })
    bed.endpoints(bed.west, ['!10.2.0.1'])
    await bed.clock.advance(0)
    bed.east.setDown(true)
    await bed.clock.advance(3_600_000)
    expect(bed.copies()).toEqual(['east 10.1.0.1', 'east 10.1.0.2', 'west !10.2.0.1'])
    expect(sync.problems()).toContain('kept-for-floor')
    bed.endpoints(bed.west, ['10.2.0.1'])
    await bed.clock.advance(0)
    expect(bed.copies()).toEqual(['west 10.2.0.1'])
    expect(sync.problems()).toContain('source-expired')
    bed.east.setDown(false)
    await bed.clock.advance(60_000)
    expect(bed.copies()).toEqual(['east 10.1.0.1', 'east 10.1.0.2', 'west 10.2.0.1'])
    await sync.stop()
  })

  test('that is away is waited for anew after a restart of sync', async () => {
    const bed = given()
    const first = await bed.start({ services: EXPIRE })
    bed.east.setDown(true)
    await bed.clock.advance(50_000)
    await first.stop()
    const second = await bed.start({ services: EXPIRE })
    await bed.clock.advance(50_000)
    expect(bed.copies()).toEqual(ALL)
    await bed.clock.advance(20_000)
    expect(bed.copies()).toEqual(WEST)
    await second.stop()
  })

  test('that refuses is away, and its copies stay', async () => {
    const bed = given()
    const sync = await bed.start()
    bed.east.server.authorize((_, { resource, verb }) => resource !== 'endpointslices' || verb === 'get')
    bed.east.server.closeWatches()
    bed.endpoints(bed.east, [])
    await bed.clock.advance(600_000)
    expect(bed.copies()).toEqual(ALL)
    expect(sync.snapshot().sources[0]).toMatchObject({ is: 'away', because: { is: 'refused', what: 'endpointslices' } })
    await sync.stop()
  })

  test('that may not read pods, or its own identity, is copied all the same, and both are named', async () => {
    const bed = given()
    bed.east.server.authorize((_, { resource }) => resource !== 'pods' && resource !== 'namespaces')
    const sync = await bed.start()
    expect(bed.copies()).toEqual(ALL)
    expect(sync.snapshot().sources[0]!.problems.map(({ code }) => code)).toEqual(['pods-unread', 'identity-unread'])
    await sync.stop()
  })

  test('whose cluster is made anew while sync is down loses its copies after a bounded wait', async () => {
    const bed = given()
    await (await bed.start()).stop()
    bed.east.remake()
    const sync = await bed.start()
    await bed.clock.advance(500_000)
    expect(bed.copies()).toEqual(ALL)
    expect(sync.problems()).toEqual(['source-replaced'])
    await bed.clock.advance(120_000)
    expect(bed.copies()).toEqual(WEST)
    expect(sync.problems()).toEqual(['source-without'])
    await sync.stop()
  })

  test('whose cluster is made anew while sync runs keeps its copies for the bounded wait', async () => {
    const bed = given()
    const sync = await bed.start()
    bed.east.remake()
    await bed.clock.advance(500_000)
    expect(bed.copies()).toEqual(ALL)
    expect(sync.problems()).toEqual(['source-replaced'])
    await bed.clock.advance(120_000)
    expect(bed.copies()).toEqual(WEST)
    expect(sync.problems()).toEqual(['source-without'])
    await sync.stop()
  })

  test('whose cluster is made anew while sync runs has only the endpoints of the new cluster, once one is ready', async () => {
    const bed = given()
    const sync = await bed.start()
    bed.east.remake()
    await bed.clock.advance(20_000)
    bed.service(bed.east)
    bed.endpoints(bed.east, ['!10.5.0.1'])
    await bed.clock.advance(10_000)
    expect(bed.copies()).toEqual(ALL)
    bed.endpoints(bed.east, ['10.5.0.1'])
    await bed.clock.advance(0)
    expect(bed.copies()).toEqual(['east 10.5.0.1', ...WEST])
    await sync.stop()
  })

  test('without the Service or the namespace is named', async () => {
    const bed = createBed()
    bed.service(bed.access)
    bed.service(bed.west)
    bed.east.store.remove('namespaces', '', 'shop', 'test')
    const sync = await bed.start()
    expect(sync.snapshot().services[0]!.problems).toEqual([{ code: 'source-without', source: 'east', lacks: 'namespace' }])
    await sync.stop()
  })
})

describe('the way of a change is timed', () => {
  const lags = (sync: { events: readonly object[] }) =>
    sync.events.flatMap((event) => ('lag' in event && event.lag !== undefined ? [event.lag] : []))

  test.each([0, 7_200_000, -7_200_000])('with a clock of the source that is ahead by %d ms', async (aheadMs) => {
    const bed = given()
    bed.east.dateAheadMs = aheadMs
    const sync = await bed.start()
    await bed.clock.advance(60_000)
    bed.endpoints(bed.east, ['10.1.0.1'], { triggerAt: bed.clock.wallNow() + aheadMs - 2_000 })
    await bed.clock.advance(0)
    expect(bed.copies()).toEqual(['east 10.1.0.1', ...WEST])
    const [lag] = lags(sync) as { sourceMs: number; decideMs: number }[]
    expect(Math.abs(lag!.sourceMs - 2_000)).toBeLessThan(600)
    expect(lag!.decideMs).toBe(0)
    await sync.stop()
  })

  test('without the first leg where the clock of the source is not known, or is not that of the writer', async () => {
    const bed = given()
    bed.east.dateAheadMs = undefined
    const sync = await bed.start()
    bed.endpoints(bed.east, ['10.1.0.1'], { triggerAt: bed.clock.wallNow() })
    bed.endpoints(bed.west, ['10.2.0.1'], { triggerAt: bed.clock.wallNow() + 3_600_000 })
    await bed.clock.advance(0)
    expect(lags(sync)).toEqual([
      { decideMs: 0, sendMs: 0, acceptMs: 0 },
      { decideMs: 0, sendMs: 0, acceptMs: 0 },
    ])
    expect(bed.copies()).toEqual(['east 10.1.0.1', 'west 10.2.0.1'])
    await sync.stop()
  })
})

describe('the access cluster', () => {
  test('gets the Service on request, once its namespace is there', async () => {
    const bed = given()
    bed.access.store.remove('services', 'shop', 'web', 'test')
    bed.access.store.remove('namespaces', '', 'shop', 'test')
    const sync = await bed.start({ services: [synced({ create: true })] })
    expect(sync.problems()).toContain('namespace-missing')
    bed.access.store.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }, 'test')
    await bed.clock.advance(15_000)
    expect(bed.copies()).toEqual(ALL)
    expect(sync.problems()).toEqual([])
    expect(bed.access.store.get('services', 'shop', 'web')).toMatchObject({
      metadata: { labels: { 'app.kubernetes.io/managed-by': 'sync.sluice.dev' } },
      spec: { ports: [{ name: 'http', port: 80 }] },
    })
    expect(bed.access.store.get('services', 'shop', 'web')!['spec'] as object).not.toHaveProperty('selector')
    await sync.stop()
  })

  test('gets the slices of a Service that is deleted and made again', async () => {
    const bed = given()
    const sync = await bed.start()
    bed.access.store.remove('services', 'shop', 'web', 'test')
    await bed.clock.advance(1_000)
    expect(sync.problems()).toContain('service-missing')
    const { uid } = bed.service(bed.access).metadata
    await bed.clock.advance(1_000)
    expect(bed.copies()).toEqual(ALL)
    for (const { metadata } of bed.slices()) expect(metadata.ownerReferences).toMatchObject([{ uid }])
    // The slices of the former Service go only now, and come back.
    for (const { metadata } of bed.slices()) bed.access.store.remove(SLICES, 'shop', metadata.name, 'garbage-collector')
    await bed.clock.advance(1_000)
    expect(bed.copies()).toEqual(ALL)
    await sync.stop()
  })

  test('has what somebody changes or deletes put right', async () => {
    const bed = given()
    const sync = await bed.start()
    const [first, second] = bed.slices()
    bed.access.store.update(SLICES, 'shop', first!.metadata.name, (now) => ({ ...now, endpoints: [] }), 'somebody')
    bed.access.store.remove(SLICES, 'shop', second!.metadata.name, 'somebody')
    await bed.clock.advance(0)
    expect(bed.copies()).toEqual(ALL)
    expect(
      sync
        .told('put-right')
        .map((event) => 'was' in event && event.was)
        .sort(),
    ).toEqual(['changed', 'deleted'])
    await sync.stop()
  })

  test('has a slice of another writer with the name of a copy: the copy takes another name', async () => {
    const bed = given()
    await (await bed.start()).stop()
    const [first] = bed.slices()
    bed.access.store.update(
      SLICES,
      'shop',
      first!.metadata.name,
      (now) => ({ ...now, endpoints: [], metadata: { ...now.metadata, labels: { owner: 'team' } } }),
      'somebody',
    )
    const sync = await bed.start()
    expect(bed.copies()).toEqual(ALL)
    expect(bed.access.store.get(SLICES, 'shop', first!.metadata.name)!.metadata.labels).toEqual({ owner: 'team' })
    expect(sync.problems()).toEqual(['foreign-slice'])
    await sync.stop()
  })

  test('that alters the copies by admission is not written again and again', async () => {
    const bed = given()
    bed.access.server.admit(({ object }) =>
      object.kind !== 'EndpointSlice'
        ? undefined
        : {
            object: {
              ...object,
              endpoints: (object['endpoints'] as { conditions: object }[]).map((one) => ({
                ...one,
                conditions: { ...one.conditions, ready: false },
              })),
            },
          },
    )
    const sync = await bed.start()
    await bed.clock.advance(60_000)
    expect(bed.access.writes).toHaveLength(2)
    expect(sync.problems()).toEqual(['altered-by-admission'])
    bed.endpoints(bed.east, ['10.1.0.1'])
    await bed.clock.advance(60_000)
    expect(bed.copies()).toEqual(['east !10.1.0.1', 'west !10.2.0.1', 'west !10.2.0.2'])
    expect(bed.access.writes).toHaveLength(3)
    await sync.stop()
  })

  test.each(['lost', 'answer-lost'] as const)('is read anew after a write whose request or answer is lost: %s', async (fault) => {
    const bed = given()
    let count = 0
    bed.access.fault = ({ method }) => (method !== 'GET' && (count += 1) <= 6 ? fault : undefined)
    const sync = await bed.start()
    bed.endpoints(bed.east, ['10.1.0.1'])
    await bed.clock.advance(60_000)
    expect(bed.copies()).toEqual(['east 10.1.0.1', ...WEST])
    expect(sync.problems()).toEqual([])
    expect(sync.snapshot().services[0]!.isPending).toBe(false)
    await sync.stop()
  })

  test('that refuses writes is tried again with pauses, and the refusal is named', async () => {
    const bed = given()
    bed.access.server.admit(({ object }) => (object.kind === 'EndpointSlice' ? { refuse: 'quota' } : undefined))
    const sync = await bed.start()
    await bed.clock.advance(600_000)
    expect(sync.problems()).toEqual(['write-failed'])
    expect(bed.access.writes.length).toBeLessThan(80)
    expect(sync.snapshot().services[0]).toMatchObject({ isPending: true })
    await sync.stop()
  })

  test('keeps slices of Services that the config does not name', async () => {
    const bed = given()
    await (await bed.start()).stop()
    bed.service(bed.access, { name: 'api' })
    const sync = await bed.start({ services: [synced({ name: 'api' })] })
    expect(bed.copies()).toEqual(ALL)
    expect(sync.snapshot().leftBehind).toMatchObject([{ namespace: 'shop', service: 'web' }])
    await sync.stop()
  })
})

describe('of two syncs with a Service in common', () => {
  test('each writes its own slices and leaves those of the other alone, which it names', async () => {
    const bed = given()
    const one = await bed.start({ by: 'one', lease: 'one', services: [synced({ sources: ['east'] })] })
    await bed.clock.advance(60_000)
    const other = await bed.start({ by: 'other', lease: 'other', services: [synced({ sources: ['west'] })] })
    await bed.clock.advance(600_000)
    expect(bed.copies()).toEqual(ALL)
    expect(
      bed.access.writes.filter(({ path }) => path.includes('endpointslices')).map(({ by, method }) => `${by} ${method}`),
    ).toEqual(['one POST', 'other POST'])
    expect(
      bed
        .slices()
        .map(({ metadata }) => metadata.annotations?.['sync.sluice.dev/instance'])
        .sort(),
    ).toEqual(['shop/one', 'shop/other'])
    const [problem] = one.snapshot().services[0]!.problems
    expect(problem).toMatchObject({ code: 'other-sync', instance: 'shop/other' })
    expect(other.problems()).toEqual(['other-sync'])
    // Without the annotation, the slice belongs to the sync that writes it first, which has no use for it.
    await other.stop()
    for (const { metadata } of bed.slices())
      bed.access.store.update(
        SLICES,
        'shop',
        metadata.name,
        (now) => ({ ...now, metadata: { ...now.metadata, annotations: {} } }),
        'test',
      )
    await bed.clock.advance(1_000)
    expect(bed.copies()).toEqual(ALL.slice(0, 2))
    expect(one.problems()).toEqual([])
    await one.stop()
  })

  test('with the same source, each has slices with names of its own', async () => {
    const bed = given()
    const services = [synced({ sources: ['east'] })]
    const one = await bed.start({ by: 'one', lease: 'one', services })
    await bed.clock.advance(60_000)
    const other = await bed.start({ by: 'other', lease: 'other', services })
    await bed.clock.advance(600_000)
    bed.endpoints(bed.east, ['10.1.0.1'])
    await bed.clock.advance(1_000)
    expect(bed.copies()).toEqual(['east 10.1.0.1', 'east 10.1.0.1'])
    expect(bed.access.writes.filter(({ path }) => path.includes('endpointslices'))).toHaveLength(4)
    await one.stop()
    await other.stop()
  })
})

describe('what is told', () => {
  test('a Lease that may not be read is told once, and how long it is waited for', async () => {
    const bed = given()
    bed.access.fault = ({ path }) => (path.includes('/leases') ? 'refused' : undefined)
    const sync = await bed.start({ lease: true })
    await bed.clock.advance(300_000)
    expect(sync.told('lease-awaited')).toEqual([{ type: 'lease-awaited', lease: 'shop/sluice-sync', afterMs: 16_000 }])
    expect(sync.told('lease-failed')).toMatchObject([{ lease: 'shop/sluice-sync' }])
    expect([sync.snapshot().isLeader, bed.access.writes]).toEqual([false, []])
    bed.access.fault = undefined
    await bed.clock.advance(60_000)
    expect(sync.told('leader')).toEqual([{ type: 'leader', isLeader: true }])
    await sync.stop()
  })

  test('the end of a watch, which comes every few minutes, is no news, and ends no problem', async () => {
    const bed = given()
    bed.service(bed.west, { name: 'api', port: 90 })
    bed.service(bed.access, { name: 'api' })
    bed.service(bed.east, { name: 'api' })
    const sync = await bed.start({ services: [synced({ name: 'api' }), synced()] })
    expect(sync.problems()).toEqual(['ports-differ'])
    const { length } = sync.events
    for (const at of [bed.west, bed.east, bed.access]) {
      at.cut()
      await bed.clock.advance(0)
      expect(sync.problems()).toEqual(['ports-differ'])
      await bed.clock.advance(3_000)
    }
    expect(sync.events.slice(length)).toEqual([])
    // Control: an absence that lasts is told.
    bed.west.setDown(true)
    await bed.clock.advance(30_000)
    bed.west.setDown(false)
    await bed.clock.advance(60_000)
    expect(sync.events.slice(length).flatMap((event) => (event.type === 'source' ? [event.is] : []))).toEqual(['away', 'current'])
    await sync.stop()
  })
})

describe('a reader', () => {
  async function twoSyncs() {
    const bed = given()
    bed.service(bed.access, { name: 'api' })
    bed.service(bed.east, { name: 'api' })
    bed.endpoints(bed.east, ['10.1.1.1'], { slice: 'api-1', service: 'api' })
    const east = ['east']
    const both = [synced({ sources: east }), synced({ name: 'api', sources: east })]
    const one = await bed.start({ by: 'one', lease: 'one', services: both })
    const other = await bed.start({ by: 'other', lease: 'other', services: [synced({ sources: east })] })
    await bed.clock.advance(60_000)
    for (const sync of [one, other]) await sync.stop()
    return { bed, services: both }
  }
  const namedBy = (snapshot: SyncSnapshot): string[] =>
    snapshot.services.flatMap(({ problems }) =>
      problems.map((one) => `${one.code} ${'instance' in one ? one.instance : ''}`.trim()),
    )

  test('takes itself for the sync with the most slices, and names the others', async () => {
    const { bed, services } = await twoSyncs()
    const reader = await bed.start({ isReader: true, by: 'reader', services })
    expect(namedBy(reader.snapshot())).toEqual(['other-sync shop/other'])
    expect(reader.snapshot().services.map(({ sources, isPending }) => [sources[0]!.endpoints, isPending])).toEqual([
      [2, false],
      [1, false],
    ])
    await reader.stop()
  })

  test('with the name of a sync names the others, and what the sync lacks is pending', async () => {
    const { bed, services } = await twoSyncs()
    const reader = await bed.start({ isReader: true, by: 'reader', instance: 'shop/other', services })
    expect(namedBy(reader.snapshot())).toEqual(['other-sync shop/one', 'other-sync shop/one'])
    expect(reader.snapshot().services.map(({ isPending }) => isPending)).toEqual([false, true])
    await reader.stop()
    expect(bed.access.writes.filter(({ by }) => by === 'reader')).toEqual([])
  })

  test.each(['access', 'east'] as const)('has not settled before %s has said that its namespace is missing', async (name) => {
    const bed = given()
    for (const kind of ['services', SLICES])
      for (const { metadata } of bed[name].store.list(kind, 'shop')) bed[name].store.remove(kind, 'shop', metadata.name, 'test')
    bed[name].store.remove('namespaces', '', 'shop', 'test')
    bed[name].fault = ({ path }) => (path === '/api/v1/namespaces/shop' ? 'late' : undefined)
    const reader = await bed.start({ isReader: true })
    expect(reader.snapshot().isSettled).toBe(false)
    await bed.clock.advance(LATE_MS)
    expect(reader.snapshot().isSettled).toBe(true)
    const problem =
      name === 'access' ? { code: 'namespace-missing' } : { code: 'source-without', source: 'east', lacks: 'namespace' }
    expect(reader.snapshot().services[0]!.problems).toContainEqual(problem)
    await reader.stop()
  })
})

describe('of two replicas', () => {
  const by = (bed: ReturnType<typeof given>) => [...new Set(bed.access.writes.map((write) => write.by))]

  async function two() {
    const bed = given()
    const first = await bed.start({ by: 'first', lease: true })
    await bed.clock.advance(60_000)
    const second = await bed.start({ by: 'second', lease: true })
    await bed.clock.advance(60_000)
    expect([first.snapshot().isLeader, second.snapshot().isLeader]).toEqual([true, false])
    expect(bed.copies()).toEqual(ALL)
    return { bed, first, second }
  }

  test('one writes; the other goes on when it is killed, and writes nothing where nothing has changed', async () => {
    const { bed, first, second } = await two()
    const { length } = bed.access.writes
    first.kill()
    await bed.clock.advance(120_000)
    expect(second.snapshot().isLeader).toBe(true)
    expect(bed.access.writes).toHaveLength(length)
    bed.endpoints(bed.east, ['10.1.0.1'])
    await bed.clock.advance(0)
    expect(bed.copies()).toEqual(['east 10.1.0.1', ...WEST])
    expect(by(bed)).toEqual(['first', 'second'])
    await second.stop()
  })

  test('a deletion that neither has written is written by the next leader', async () => {
    const { bed, first, second } = await two()
    first.kill()
    bed.endpoints(bed.east, [])
    await bed.clock.advance(120_000)
    expect(bed.copies()).toEqual(WEST)
    await second.stop()
  })

  test('a leader that is cut off from the access cluster leads no longer, and writes nothing when it is back', async () => {
    const { bed, first, second } = await two()
    bed.access.setDown(true, 'first')
    bed.endpoints(bed.east, ['!10.1.0.1', '10.1.0.2'])
    await bed.clock.advance(120_000)
    expect([first.snapshot().isLeader, second.snapshot().isLeader]).toEqual([false, true])
    expect(bed.copies()).toEqual(['east !10.1.0.1', 'east 10.1.0.2', ...WEST])
    bed.access.writes.length = 0
    bed.access.setDown(false, 'first')
    await bed.clock.advance(60_000)
    bed.endpoints(bed.east, ['10.1.0.1'])
    await bed.clock.advance(1_000)
    expect(bed.copies()).toEqual(['east 10.1.0.1', ...WEST])
    expect(by(bed)).toEqual(['second'])
    await first.stop()
    await second.stop()
  })

  test.each(['DELETE', 'PUT'])('a leader that is stopped before the bytes of a %s leave sends nothing', async (method) => {
    const bed = given()
    let stoppedForMs = 0
    const ownClock = { ...bed.clock, now: () => bed.clock.now() + stoppedForMs }
    const sync = await bed.start({ lease: true, ownClock })
    await bed.clock.advance(60_000)
    expect(bed.copies()).toEqual(ALL)
    bed.access.writes.length = 0
    bed.access.fault = (request) => {
      if (request.method === method) stoppedForMs = 120_000
      return undefined
    }
    bed.endpoints(bed.east, method === 'DELETE' ? [] : ['10.1.0.1'])
    await bed.clock.advance(0)
    expect(stoppedForMs).toBe(120_000)
    expect([bed.copies(), bed.access.writes]).toEqual([ALL, []])
    await sync.stop()
  })

  test('a new leader lists its sources anew before it writes about them', async () => {
    const { bed, first, second } = await two()
    // The watches of the second are silent: it does not see what the first has written.
    const before = bed.east.store.get(SLICES, 'shop', 'web-1')!
    expect(before).toBeDefined()
    bed.east.setDown(true, 'second')
    bed.endpoints(bed.east, ['!10.1.0.1', '10.1.0.2'])
    await bed.clock.advance(1_000)
    expect(bed.copies()[0]).toBe('east !10.1.0.1')
    first.kill()
    await bed.clock.advance(120_000)
    expect(second.snapshot().isLeader).toBe(true)
    expect(bed.copies()[0]).toBe('east !10.1.0.1')
    await second.stop()
  })
})
