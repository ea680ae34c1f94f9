import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { runCommand } from '../cluster/run-command.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { describeOn } from './program.ts'
import { findKubernetes } from './kubernetes.ts'
import type { Json } from './endpoints/control-plane.ts'
import { type Churn, seeded, startChurn } from './sync/churn.ts'
import { closeJournal, openJournal } from './sync/journal.ts'
import { type Deviation, judge, type Outage } from './sync/judge.ts'
import { SLUICE, type Source, startSyncBed, type SyncBed } from './sync/sync-bed.ts'
import type { SyncProcess } from './sync/sync-process.ts'
import { at, NAMESPACE } from './sync/workload.ts'

/*
 * `sluice sync` between real control planes. The clock of west is off by an hour, and all pods of both have old times. The counts are
 * higher on request: SLUICE_SYNC_KILLS, SLUICE_SYNC_PARTITIONS and SLUICE_SYNC_WIPES; SLUICE_SEED is the seed of the changes. Each test begins
 * with one sync that runs and has copied all. The test that wipes a source is the last one.
 */

const KILLS = Number(process.env['SLUICE_SYNC_KILLS'] ?? 5)
const PARTITIONS = Number(process.env['SLUICE_SYNC_PARTITIONS'] ?? 3)
const WIPES = Number(process.env['SLUICE_SYNC_WIPES'] ?? 1)
const SEED = Number(process.env['SLUICE_SEED'] ?? 1)
const SETTLES_WITHIN_MS = 60_000
const HOUR_MS = 3_600_000
const [WEB, API, JOBS] = ['web', 'api', 'jobs']
/** More than one slice. */
const PODS = { [WEB]: 130, [API]: 12, [JOBS]: 3 }
const CHURN = [WEB, API]
const CHANGE_EVERY_MS = 60
const QUIET_MS = 6_000
/** How far a lag may exceed the longest one of the undisturbed phase of the same run, beside the time of a start. */
const LAG_FACTOR = 3
/** A connection is tried again after pauses that grow with the length of an outage. */
const RECOVERY_FACTOR = 1
/** A machine with other work stops each process now and then. A change that is lost waits for the next one of its Service, or lasts. */
const STALL_MS = 5_000

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let bed: SyncBed
  let east: Source
  let west: Source
  let sync: SyncProcess
  let config: string
  /** Measured in the undisturbed phase. */
  let undisturbed: Deviation[] = []
  let undisturbedChanges = 0
  let startMs = 0
  /** The time after an outage that belongs to it. */
  let recoveryMs = 0
  /** The changes that are under way. */
  const churns = new Set<Churn>()
  const random = seeded(SEED)
  const between = (least: number, most: number): number => least + random() * (most - least)
  const until = (is: () => boolean | Promise<boolean>): Promise<unknown> =>
    vi.waitUntil(is, { timeout: SETTLES_WITHIN_MS, interval: 20 })

  beforeAll(async () => {
    bed = await startSyncBed(programs, { clocks: { west: HOUR_MS } })
    ;[east, west] = bed.sources as [Source, Source]
    const { ask } = bed.access.plane
    await ask('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } })
    // Sync makes the other Services.
    await ask('POST', at('services'), { metadata: { name: WEB }, spec: { ports: [{ name: 'http', port: 80 }] } })
    for (const { workload } of bed.sources) {
      await workload.makeServices(Object.keys(PODS))
      for (const [name, count] of Object.entries(PODS)) await workload.makePods(name, count)
    }
    config = bed.writeConfig([
      ...Object.keys(PODS).map((name) => ({ namespace: NAMESPACE, name })),
      { namespace: 'nowhere', name: 'ghost' },
    ])
    await measure()
  }, 240_000)
  afterAll(() => bed?.stop(), 180_000)
  beforeEach(restore, 180_000)

  const start = (...more: string[]): SyncProcess => bed.startSluice(['sync', '--config', config, '--no-lease', ...more])

  /** Measures a start, and the lags without a disturbance. */
  async function measure(): Promise<void> {
    const startedAt = bed.now()
    sync = start()
    await until(isCopied)
    startMs = bed.now() - startedAt
    const since = bed.now()
    undisturbedChanges = await changeFor(QUIET_MS)
    await until(isCopied)
    undisturbed = judge(bed.evidence([], since))
    tell(`${QUIET_MS} ms of changes without a disturbance`, undisturbed)
    const longestLagMs = Math.max(0, ...undisturbed.map(({ ms }) => ms))
    recoveryMs = longestLagMs * LAG_FACTOR
    console.log(`start: ${Math.round(startMs)} ms; longest lag: ${Math.round(longestLagMs)} ms`)
  }

  /** Makes the world anew that a test begins with, whatever the former one has left. */
  async function restore(): Promise<void> {
    await Promise.all([...churns].map((one) => one.stop()))
    for (const { network } of [bed.access, ...bed.sources]) network.mend()
    await bed.killAllBut(sync)
    for (const { addresses, workload } of bed.sources) {
      await until(() => addresses.isCurrent())
      await workload.makeServices(Object.keys(PODS))
      for (const name of Object.keys(PODS)) if (workload.pods(name).size === 0) await workload.makePods(name, 3)
    }
    if (!sync.isAlive()) sync = start()
    await until(isCopied)
  }

  /** Whether the access cluster has the ready addresses of all sources, apart from those of pods under upgrade. */
  function isCopied(held: readonly string[] = []): boolean {
    const wanted = bed.sources.flatMap(({ addresses }) => [...addresses.ready()]).filter((key) => !held.includes(key))
    const got = bed.access.addresses.ready()
    return got.size === wanted.length && wanted.every((key) => got.has(key))
  }

  /** Makes the Service `ghost` in east until the end of the test, in a namespace of its own, with an endpoint that no controller makes. */
  async function makeGhost(): Promise<void> {
    const { ask } = east.plane
    await ask('POST', '/api/v1/namespaces', { metadata: { name: 'nowhere' } })
    const spec = { ports: [{ name: 'http', port: 80 }] }
    await ask('POST', '/api/v1/namespaces/nowhere/services', { metadata: { name: 'ghost' }, spec })
    await ask('POST', '/apis/discovery.k8s.io/v1/namespaces/nowhere/endpointslices', {
      metadata: { name: 'ghost-1', labels: { 'kubernetes.io/service-name': 'ghost' } },
      addressType: 'IPv4',
      ports: [{ name: 'http', port: 80 }],
      endpoints: [{ addresses: ['10.100.99.1'], conditions: { ready: true } }],
    })
    onTestFinished(async () => {
      await ask('DELETE', '/api/v1/namespaces/nowhere/services/ghost')
      await ask('DELETE', '/apis/discovery.k8s.io/v1/namespaces/nowhere/endpointslices/ghost-1')
    })
  }

  /** What is wrong at the end: nothing may last. */
  function lasting(outages: readonly Outage[] = [], since = 0): Deviation[] {
    return judge(bed.evidence(outages, since)).filter(({ isLasting }) => isLasting)
  }

  /** Returns the count of changes, as `stopAll` does. */
  async function changeFor(ms: number): Promise<number> {
    const own = startChurns()
    await sleep(ms)
    return stopAll(own)
  }

  async function stopAll(own: readonly Churn[]): Promise<number> {
    await Promise.all(own.map((one) => one.stop()))
    for (const one of own) churns.delete(one)
    return own.reduce((sum, one) => sum + one.changes(), 0)
  }

  function startChurns(): Churn[] {
    return bed.sources.map(({ workload }) => {
      const churn = startChurn({ workload, services: CHURN, everyMs: CHANGE_EVERY_MS, random })
      churns.add(churn)
      return churn
    })
  }

  /** An outage for the addresses of some sources, and the time to recover from it. */
  function outage(from: number, to: number, of: readonly Source[], more = 0): Outage {
    const networks = of.map((source) => `/10.${100 + bed.sources.indexOf(source)}.`)
    return { from, to: to + recoveryMs + more, concerns: (key) => networks.some((part) => key.includes(part)) }
  }

  function tell(what: string, deviations: readonly Deviation[]): void {
    const worst = (of: Deviation['what']): string => {
      const own = deviations.filter((one) => one.what === of).map(({ ms }) => ms)
      return `${own.length} ${of}, longest ${Math.round(Math.max(0, ...own))} ms`
    }
    console.log(`${what}: ${(['stale', 'late', 'dropped', 'added'] as const).map(worst).join('; ')}`)
  }

  /** Waits until a process has listed all clusters. */
  async function follows({ until: said }: SyncProcess): Promise<void> {
    for (const member of ['source east', 'source west', 'the access cluster']) await said(new RegExp(`${member} is followed`))
  }

  async function status(...more: string[]): Promise<{ code: number; document: Json }> {
    const args = [SLUICE, 'sync', 'status', '--config', config, '-o', 'json', ...more]
    const { code, stdout } = await runCommand(process.execPath, args, { allowFailure: true })
    return { code, document: JSON.parse(stdout) }
  }

  test('all is copied, and follows changes', () => {
    expect(undisturbed.filter(({ what }) => what === 'dropped' || what === 'added')).toEqual([])
    expect(undisturbed.filter(({ isLasting }) => isLasting)).toEqual([])
    // Two changes of one pod may come together.
    expect(undisturbed.length).toBeGreaterThan(undisturbedChanges / 4)
  })

  test('the copies have ports, zones and the labels of the conventions, and no node and no pod of the other cluster', async () => {
    const { items } = await bed.access.plane.ask('GET', '/apis/discovery.k8s.io/v1/endpointslices')
    expect(items.length).toBeGreaterThanOrEqual(2 * Object.keys(PODS).length)
    for (const { metadata, ports, endpoints } of items) {
      expect(metadata.labels['multicluster.kubernetes.io/source-cluster']).toMatch(/^(east|west)$/)
      expect(metadata.labels['multicluster.kubernetes.io/service-name']).toBe(metadata.labels['kubernetes.io/service-name'])
      expect(ports).toEqual([{ name: 'http', port: 8080, protocol: 'TCP' }])
      expect(endpoints.length).toBeLessThanOrEqual(100)
      expect(Object.keys(endpoints[0]).toSorted()).toEqual(['addresses', 'conditions', 'zone'])
      const networks = new Set(endpoints.map(({ addresses }: Json) => addresses[0].split('.')[1]))
      expect(networks.size).toBe(1)
    }
    const services = (await bed.access.plane.ask('GET', at('services'))).items
    expect(services.map(({ metadata }: Json) => metadata.name).toSorted()).toEqual(Object.keys(PODS).toSorted())
    for (const { spec } of services) expect(spec.selector).toBeUndefined()
  })

  test('nothing is written where nothing changes', async () => {
    const ours = async (from: number): Promise<number> => {
      const writes = await bed.access.plane.audit({ verb: ['create', 'update', 'patch', 'delete'], since: from })
      return writes.filter(({ userAgent }) => userAgent?.startsWith('sluice')).length
    }
    // The last changes of before are of conditions that no ready address shows.
    await until(async () => (await ours(Date.now() - 1_000)) === 0)
    const since = Date.now()
    await sleep(5_000)
    const writes = await bed.access.plane.audit({ verb: ['create', 'update', 'patch', 'delete'], since })
    expect(writes.filter(({ userAgent }) => userAgent?.startsWith('sluice')).map(({ requestURI }) => requestURI)).toEqual([])
    // Control: a change is a write, by this name.
    await changeFor(500)
    await until(isCopied)
    const after = await bed.access.plane.audit({ verb: ['create', 'update', 'patch', 'delete'], since })
    expect(after.filter(({ userAgent }) => userAgent?.startsWith('sluice')).length).toBeGreaterThan(0)
  }, 180_000)

  test('a pod under upgrade leaves by its journal, while it is ready in its source, and comes back with the end of the journal', async () => {
    const [name, { address }] = [...east.workload.pods(API)].find(([, { isReady }]) => isReady)!
    const key = `${NAMESPACE}/${API}/${address}`
    const isThere = (): boolean => bed.access.addresses.ready().has(key)
    await until(isThere)
    const openedAt = bed.now()
    onTestFinished(() => closeJournal(east.plane, name))
    await openJournal(east.plane, name)
    await until(() => !isThere())
    expect(east.addresses.ready().has(key)).toBe(true)
    console.log(`a pod under upgrade has left ${Math.round(bed.now() - openedAt)} ms after its journal`)
    await until(() => isCopied([key]))
    await closeJournal(east.plane, name)
    await until(isCopied)
  }, 180_000)

  test(
    `${KILLS} kills, with Services and pods that are deleted meanwhile: nothing is lost, stale or added`,
    async () => {
      const since = bed.now()
      const outages: Outage[] = []
      const own = startChurns()
      for (let count = 0; count < KILLS; count += 1) {
        await sleep(between(200, 2_000))
        const from = bed.now()
        await sync.kill()
        // The whole EndpointSlice goes away, and comes back.
        const { workload } = count % 2 === 0 ? east : west
        await workload.deleteService(JOBS)
        await sleep(between(100, 1_000))
        sync = start()
        if (count % 3 !== 0) await sleep(between(0, startMs))
        if (count % 3 === 2) {
          // Killed while it starts.
          await sync.kill()
          sync = start()
        }
        await follows(sync)
        outages.push(outage(from, bed.now(), bed.sources))
        await sleep(between(0, 500))
        await workload.makeService(JOBS)
      }
      const changes = await stopAll(own)
      await until(isCopied)
      const all = judge(bed.evidence(outages, since))
      tell(`${KILLS} kills, ${changes} changes`, all)
      expect(lasting(outages, since)).toEqual([])
      // An address never leaves while its source has it, and stays only for a moment, apart from the time without sync.
      expect(all.filter(({ what }) => what === 'dropped' || what === 'added')).toEqual([])
      expect(all.filter(({ ms }) => ms > recoveryMs + STALL_MS)).toEqual([])
    },
    120_000 + KILLS * 15_000,
  )

  test(
    `${PARTITIONS} partitions of a source or the access cluster: addresses stay meanwhile, and are right after`,
    async () => {
      const since = bed.now()
      const outages: Outage[] = []
      const own = startChurns()
      const ways = [
        { member: east, how: 'refused' },
        { member: bed.access, how: 'silent' },
        { member: west, how: 'silent' },
        { member: bed.access, how: 'refused' },
      ] as const
      for (let count = 0; count < PARTITIONS; count += 1) {
        await sleep(between(200, 1_000))
        const { member, how } = ways[count % ways.length]!
        const from = bed.now()
        member.network.cut(how)
        await sleep(between(1_000, 6_000))
        member.network.mend()
        const to = bed.now()
        outages.push(
          outage(from, to, member === bed.access ? bed.sources : [member as Source], (to - from) * RECOVERY_FACTOR + startMs),
        )
        await until(() => bed.now() > to + (to - from))
      }
      const changes = await stopAll(own)
      await until(isCopied)
      const all = judge(bed.evidence(outages, since))
      tell(`${PARTITIONS} partitions, ${changes} changes`, all)
      expect(lasting(outages, since)).toEqual([])
      expect(all.filter(({ what }) => what === 'dropped' || what === 'added')).toEqual([])
      expect(all.filter(({ ms }) => ms > recoveryMs + STALL_MS)).toEqual([])
    },
    120_000 + PARTITIONS * 25_000,
  )

  test('a slice of sync that no source accounts for: the judge sees the address, and sync takes it away', async () => {
    await sync.stop()
    const { ask } = bed.access.plane
    const slices = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'
    const [own] = (await ask('GET', `${slices}?labelSelector=kubernetes.io/service-name=${API}`)).items
    const since = bed.now()
    await ask('POST', slices, {
      ...own,
      metadata: { name: `${own.metadata.name}-planted`, labels: own.metadata.labels },
      endpoints: [{ addresses: ['10.99.0.1'], conditions: { ready: true } }],
    })
    const key = `${NAMESPACE}/${API}/10.99.0.1`
    await until(() => bed.access.addresses.ready().has(key))
    const ofPlanted = (): Deviation[] => lasting([], since).filter((one) => one.key === key)
    expect(ofPlanted()).toMatchObject([{ what: 'added', key }])
    sync = start()
    await until(isCopied)
    expect(lasting([], since)).toEqual([])
  }, 180_000)

  test('the Service of the access cluster is deleted and made again; a slice is deleted by hand', async () => {
    const { ask } = bed.access.plane
    await ask('DELETE', at('services', JOBS))
    await sleep(500)
    await until(isCopied)
    // The copies belong to the Service of now.
    const { uid } = (await ask('GET', at('services', JOBS))).metadata
    const slices = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'
    const own = async (): Promise<Json[]> =>
      (await ask('GET', `${slices}?labelSelector=kubernetes.io/service-name=${JOBS}`)).items
    await until(async () => (await own()).every(({ metadata }) => metadata.ownerReferences[0].uid === uid))
    await ask('DELETE', `${slices}/${(await own())[0]!.metadata.name}`)
    await until(async () => (await own()).length === 2)
    await until(isCopied)
    expect((await own()).map(({ metadata }) => metadata.ownerReferences[0].uid)).toEqual([uid, uid])
  }, 180_000)

  test('status: all is in order but for the namespace that is not there, which is named; made, it is copied', async () => {
    const { code, document } = await status()
    expect(code).toBe(1)
    const [ghost, ...others] = document.services.toSorted((a: Json, b: Json) => a.namespace.localeCompare(b.namespace))
    expect(ghost).toMatchObject({ namespace: 'nowhere', name: 'ghost' })
    expect(ghost.problems.map((one: Json) => one.code)).toContain('namespace-missing')
    for (const service of others) {
      expect(service).toMatchObject({ isPending: false, problems: [] })
      for (const source of service.sources) expect(source).toMatchObject({ is: 'known', wanted: source.endpoints })
    }
    expect(document.sources).toMatchObject([
      { name: 'east', is: 'current' },
      { name: 'west', is: 'current' },
    ])
    const ofOther = (await status('--lease', 'other', '--within', '1s')).document
    const named = ofOther.services.flatMap(({ problems }: Json) => problems.filter((one: Json) => one.code === 'other-sync'))
    expect(named.map(({ instance }: Json) => instance)).toEqual(Object.keys(PODS).map(() => 'default/sluice-sync'))
    const offset = document.sources[1].clock
    expect(Math.abs(offset.offsetMs - HOUR_MS)).toBeLessThanOrEqual(offset.uncertaintyMs)
    await bed.access.plane.ask('POST', '/api/v1/namespaces', { metadata: { name: 'nowhere' } })
    await makeGhost()
    await until(() => bed.access.addresses.ready().has('nowhere/ghost/10.100.99.1'))
    await until(isCopied)
  }, 180_000)

  test('both sources are cut off: their addresses stay, and status names both', async () => {
    const before = bed.access.addresses.ready()
    for (const { network } of bed.sources) network.cut('refused')
    const { code, document } = await status()
    expect(code).toBe(1)
    expect(document.sources).toMatchObject([
      { name: 'east', is: 'away', because: { is: 'unanswered' } },
      { name: 'west', is: 'away', because: { is: 'unanswered' } },
    ])
    // A restart without any source takes nothing away either.
    await sync.kill()
    sync = start()
    await sleep(startMs * 2)
    expect(bed.access.addresses.ready()).toEqual(before)
    for (const { network } of bed.sources) network.mend()
    const { workload } = east
    const [name] = [...workload.pods(WEB)][0]!
    await workload.deletePod(name)
    await until(isCopied)
  }, 180_000)

  test('a source is restarted: its addresses stay', async () => {
    const since = bed.now()
    await east.plane.restart()
    await until(() => east.addresses.isCurrent())
    await changeFor(500)
    await until(isCopied)
    expect(judge(bed.evidence([], since)).filter(({ what }) => what === 'dropped' || what === 'added')).toEqual([])
  }, 180_000)

  /** Makes a Lease that its last holder has given back, or turns it into one: the next leader need not wait for its end. */
  async function giveBack(lease: string): Promise<void> {
    const { ask } = bed.access.plane
    const spec = { holderIdentity: '', leaseDurationSeconds: 1 }
    const [folder, name] = [lease.slice(0, lease.lastIndexOf('/')), lease.slice(lease.lastIndexOf('/') + 1)]
    await ask('PATCH', lease, { spec }).catch(() => ask('POST', folder, { metadata: { name }, spec }))
  }

  test('two replicas: one leads; the other goes on where it was killed, and a graceful end gives the Lease away', async () => {
    expect(await sync.stop()).toBe(0)
    const lease = '/apis/coordination.k8s.io/v1/namespaces/default/leases/sluice-sync'
    await giveBack(lease)
    const replica = (): SyncProcess => bed.startSluice(['sync', '--config', config])
    const leads = (one: SyncProcess): boolean => /this process leads, and writes/.test(one.said())
    let replicas = [replica(), replica()]
    await until(() => replicas.some(leads))
    expect(replicas.filter(leads)).toHaveLength(1)
    expect((await bed.access.plane.ask('GET', lease)).spec.holderIdentity).toBeTruthy()
    const [first, second] = replicas.toSorted((a, b) => Number(leads(b)) - Number(leads(a))) as [SyncProcess, SyncProcess]
    await changeFor(500)
    await until(isCopied)
    await first.kill()
    await changeFor(500)
    await until(() => leads(second))
    await until(isCopied)
    replicas = [second, replica()]
    const stoppedAt = bed.now()
    expect(await second.stop()).toBe(0)
    await until(() => leads(replicas[1]!))
    console.log(`another replica leads ${Math.round(bed.now() - stoppedAt)} ms after an end in order`)
    await changeFor(500)
    await until(isCopied)
    expect(await replicas[1]!.stop()).toBe(0)
  }, 240_000)

  test('control: the program that only watches and writes leaves stale addresses where a deletion happens while it is down', async () => {
    const [service, metadata] = ['bare', { name: 'bare' }]
    onTestFinished(async () => {
      await bed.killAllBut(sync)
      const slices = '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices'
      await bed.access.plane.ask('DELETE', `${slices}?labelSelector=kubernetes.io/service-name=${service}`)
    })
    await bed.access.plane.ask('POST', at('services'), { metadata, spec: { ports: [{ name: 'http', port: 80 }] } })
    await west.workload.makeService(service)
    await west.workload.makePods(service, 3)
    const bare = bed.startBare(west, [service])
    const keys = (): string[] => [...bed.access.addresses.ready()].filter((key) => key.startsWith(`${NAMESPACE}/${service}/`))
    await until(() => keys().length === 3)
    await bare.kill()
    const since = bed.now()
    await west.workload.deleteService(service)
    await until(() => ![...west.addresses.ready()].some((key) => key.startsWith(`${NAMESPACE}/${service}/`)))
    const again = bed.startBare(west, [service])
    await again.until(/watching/)
    await sleep(startMs)
    const stale = lasting([], since).filter(({ key }) => key.startsWith(`${NAMESPACE}/${service}/`))
    expect(stale.map(({ what }) => what)).toEqual(['stale', 'stale', 'stale'])
  }, 180_000)

  test(
    'a source is wiped: its copies stay until the new cluster has pods, and status names it; then they are those of the new one',
    async () => {
      const { ready, turns } = bed.access.addresses
      const ofEast = (): string[] => [...ready()].filter((key) => key.startsWith(`${NAMESPACE}/${WEB}/10.100.`)).toSorted()
      for (let count = 0; count < WIPES; count += 1) {
        const [since, before] = [bed.now(), ofEast()]
        expect(before.length).toBeGreaterThan(0)
        await east.plane.wipe()
        east.workload.forget()
        await until(() => east.addresses.isCurrent())
        expect(east.addresses.ready().size).toBe(0)
        const { code, document } = await status()
        expect(code).toBe(1)
        const named = document.services.flatMap(({ problems }: Json) => problems.map((one: Json) => `${one.code} ${one.source}`))
        expect(named).toContain('source-replaced east')
        expect(ofEast()).toEqual(before)
        expect(turns.filter(({ at: when, isReady }) => when > since && !isReady)).toEqual([])
        await east.workload.makeServices(Object.keys(PODS))
        for (const name of Object.keys(PODS)) await east.workload.makePods(name, 3)
        await until(isCopied)
        expect(turns.filter(({ at: when, key, isReady }) => when > since && !isReady && !key.includes('/10.100.'))).toEqual([])
      }
    },
    120_000 + WIPES * 60_000,
  )
})
