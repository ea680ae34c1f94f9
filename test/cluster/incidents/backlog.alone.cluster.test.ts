import { afterAll, beforeAll, expect, it } from 'vitest'
import type { EndpointChange } from '../../../src/observer/told.ts'
import { type ControlPlane, startControlPlane } from '../../products/endpoints/control-plane.ts'
import { forEach } from '../../products/endpoints/play.ts'
import { findKubernetes } from '../../products/kubernetes.ts'
import { describeOn } from '../../products/program.ts'
import { BACKLOG_SERVICES } from '../../../src/observer/limits.ts'
import { waitFor } from '../kube-api.ts'
import { chosenVersion } from '../kubernetes-versions.ts'
import { doctor, doctorFindings, explain, type Observation, reasonCodes, startObserve } from './commands.ts'

/*
 * A program puts a label on the Endpoints of all headless Services. Another controller manager takes over, syncs all Services, and
 * writes their Endpoints at ten writes a second, which is half of the usual rate. The Services of a release wait for their turn.
 * SLUICE_BACKLOG_SERVICES is the number of Services; the full test of the incident has 2,000.
 */

const SERVICES = Number(process.env['SLUICE_BACKLOG_SERVICES'] ?? 160)
const APPS = 40
const SHOP = 'shop'
const FLEET = 'fleet'
const SLOW = {
  'kube-api-qps': '10',
  'kube-api-burst': '10',
  'concurrent-endpoint-syncs': '1',
  'concurrent-service-endpoint-syncs': '1',
}
const LABEL = 'injected'
const WORKERS_TAKE_MS = 60_000 + SERVICES * 100
const GRACE_MS = 5_000
/** The tolerated share by which the lag that observe tells may differ from that in the audit log. */
const TOLERANCE = 0.2

interface App {
  namespace: string
  name: string
}

const named = (namespace: string, count: number): App[] =>
  Array.from({ length: count }, (_, index) => ({ namespace, name: `app-${String(index).padStart(4, '0')}` }))

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  const shop = named(SHOP, APPS)
  const all = [...shop, ...named(FLEET, SERVICES - APPS)]
  let plane: ControlPlane

  beforeAll(async () => {
    plane = await startControlPlane(programs)
    await plane.ask('POST', '/api/v1/nodes', { metadata: { name: 'node-a' } })
    const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady' }
    await plane.ask('PATCH', '/api/v1/nodes/node-a/status', { status: { conditions: [ready] } })
    for (const name of [SHOP, FLEET]) await plane.ask('POST', '/api/v1/namespaces', { metadata: { name } })
    await forEach([...all.entries()], async ([index, app]) => {
      await plane.ask('POST', `/api/v1/namespaces/${app.namespace}/services`, {
        metadata: { name: app.name },
        spec: { clusterIP: 'None', selector: { app: app.name }, ports: [{ name: 'http', port: 80 }] },
      })
      await startPod(app, `${app.name}-old`, address(0, index))
    })
    await untilAll(isServed)
  }, WORKERS_TAKE_MS)
  afterAll(() => plane?.stop())

  const address = (round: number, index: number): string => `10.${10 + round}.${Math.floor(index / 250)}.${(index % 250) + 1}`

  /** The test acts as the kubelet. */
  async function startPod({ namespace, name }: App, pod: string, ip: string): Promise<void> {
    const at = `/api/v1/namespaces/${namespace}/pods`
    await plane.ask('POST', at, {
      metadata: { name: pod, labels: { app: name } },
      spec: { nodeName: 'node-a', containers: [{ name: 'app', image: 'app:v1', readinessProbe: { httpGet: { port: 80 } } }] },
    })
    const conditions = ['ContainersReady', 'Ready'].map((type) => ({ type, status: 'True' }))
    const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions }
    await plane.ask('PATCH', `${at}/${pod}/status`, { status })
  }

  interface Stored {
    metadata: { name: string; namespace: string; labels?: Record<string, string> }
    subsets?: { addresses?: { ip: string }[] }[]
  }

  async function endpoints(): Promise<Stored[]> {
    const { items } = (await plane.ask('GET', '/api/v1/endpoints')) as { items: Stored[] }
    return items.filter(({ metadata: { namespace } }) => namespace === SHOP || namespace === FLEET)
  }

  const addressesOf = ({ subsets = [] }: Stored): string[] =>
    subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip))
  const isServed = (one: Stored): boolean => addressesOf(one).length > 0
  const isSwept = ({ metadata }: Stored): boolean => metadata.labels?.[LABEL] === undefined

  async function untilAll(is: (one: Stored) => boolean, of?: string): Promise<void> {
    await waitFor(
      'the Endpoints',
      endpoints,
      (some) => {
        const own = some.filter(({ metadata }) => of === undefined || metadata.namespace === of)
        return own.length === (of === undefined ? all : shop).length && own.every(is)
      },
      { timeoutMs: WORKERS_TAKE_MS, intervalMs: 200 },
    )
  }

  /** Replaces the old pod with a new one, as a Deployment does, and waits for nothing. */
  async function release(app: App, index: number, round: number): Promise<void> {
    const old = round === 1 ? `${app.name}-old` : `${app.name}-${round - 1}`
    await plane.ask('DELETE', `/api/v1/namespaces/${app.namespace}/pods/${old}`, { gracePeriodSeconds: 0 })
    await startPod(app, `${app.name}-${round}`, address(round, index))
  }

  /** A watch of endpoints may be ahead of the watch of pods. Such a change has no lag. */
  const lagOf = ({ lagMs = 0 }: EndpointChange): number => lagMs
  const isGone = (change: EndpointChange, object: EndpointChange['object'], ip: string): boolean =>
    change.object === object && change.address === ip && change.change === 'gone'

  function followed(observation: Observation, object: EndpointChange['object'], ip: string): Promise<EndpointChange> {
    return observation
      .sees(`${ip} leave its ${object}`, (one) => one.type === 'endpoint' && isGone(one, object, ip))
      .then((one) => one as EndpointChange)
  }

  it(
    `${SERVICES} headless Services are rewritten: the sweep, the backlog and the stale addresses are found while they last`,
    { timeout: 2 * WORKERS_TAKE_MS },
    async () => {
      const { kubeconfig } = plane
      const access = { kubeconfig, namespace: SHOP }
      const ownMetrics = ['--controller-manager-metrics', plane.managerMetricsUrl, '--controller-manager-insecure']
      const observation = await startObserve({ kubeconfig }, '--grace', `${GRACE_MS}ms`, ...ownMetrics)

      // On a healthy day, the controller keeps up with such a release.
      for (const [index, app] of shop.entries()) await release(app, index, 1)
      const healthy = await Promise.all(shop.map((_, index) => followed(observation, 'Endpoints', address(0, index))))
      expect(doctorFindings(await doctor(access))).toEqual([])
      expect(reasonCodes(await explain(access, `service/${shop[3]!.name}`))).toEqual([])
      expect(observation.codes()).toEqual([])
      expect(await observation.alerts()).toEqual([])

      const sweptAt = Date.now()
      await forEach(all, async ({ namespace, name }) => {
        const path = `/api/v1/namespaces/${namespace}/endpoints/${name}?fieldManager=injector`
        await plane.ask('PATCH', path, { metadata: { labels: { [LABEL]: 'yes' } } })
      })
      expect(await observation.found('sweep')).toMatchObject({
        object: 'Endpoints',
        by: { manager: 'injector', is: 'other' },
        isOver: false,
      })
      expect(await observation.alerts()).toEqual(['SluiceEndpointsRewritten'])
      const differing = doctorFindings(await doctor({ kubeconfig, namespace: FLEET }))
      expect(new Set(differing.map(({ code }) => code))).toEqual(new Set(['endpoints-labels-differ']))
      expect(differing).toHaveLength(all.length - APPS)

      await plane.replaceManager(SLOW)
      await waitFor('the sweep of the controller', endpoints, (some) => some.some(isSwept), { timeoutMs: WORKERS_TAKE_MS })
      const releasedAt = Date.now()
      for (const [index, app] of shop.entries()) await release(app, index, 2)
      const backlog = await observation.found('backlog')
      expect(backlog).toMatchObject({ object: 'Endpoints', isOver: false, workqueueDepth: expect.any(Number) })
      expect(backlog.workqueueDepth).toBeGreaterThanOrEqual(BACKLOG_SERVICES)
      await observation.found('stale-address')
      expect(await observation.alerts()).toEqual(['SluiceEndpointBacklog', 'SluiceEndpointsRewritten', 'SluiceStaleAddress'])
      const metrics = await plane.managerMetrics()
      const depth = Number(/^workqueue_depth\{name="endpoint"\} (\S+)$/m.exec(metrics)?.[1])
      expect(depth).toBeGreaterThanOrEqual(BACKLOG_SERVICES)
      await expectExplained(observation)

      const late = await Promise.all(shop.map((_, index) => followed(observation, 'Endpoints', address(1, index))))
      const quick = await Promise.all(shop.map((_, index) => followed(observation, 'EndpointSlice', address(1, index))))
      const over = await observation.found('backlog', ({ isOver }) => isOver)
      await untilAll(isSwept)
      expect(reasonCodes(await explain(access, `service/${shop[3]!.name}`))).toEqual([])
      expect(doctorFindings(await doctor({ kubeconfig, namespace: FLEET }))).toEqual([])
      const summary = await observation.end()
      const stale = observation.findings().filter((one) => one.code === 'stale-address')
      expect(summary.findings).toEqual([
        { code: 'stale-address', times: stale.length },
        { code: 'sweep', times: expect.any(Number) },
        { code: 'backlog', times: 1 },
      ])
      const sweeps = observation.findings().filter((one) => one.code === 'sweep')
      expect(sweeps.at(-1)).toMatchObject({ by: { is: 'controller-manager' }, object: 'Endpoints' })
      expect(Math.max(...sweeps.map(({ objects }) => objects))).toBe(all.length)

      // observe finds each address that stays longer than the grace while it stays, and no other.
      const byAddress = new Map(stale.filter(({ object }) => object === 'Endpoints').map((one) => [one.address, one]))
      for (const [index, one] of late.entries()) {
        const { at, service } = one
        const found = byAddress.get(address(1, index))
        expect(found !== undefined, JSON.stringify({ one, found })).toBe(lagOf(one) >= GRACE_MS)
        if (found === undefined) continue
        expect(found).toMatchObject({ namespace: SHOP, service, object: 'Endpoints', pod: `${service}-1`, why: 'pod-gone' })
        expect(found.at).toBeLessThan(at)
      }
      expect(byAddress.size).toBeGreaterThanOrEqual(BACKLOG_SERVICES)
      expect(backlog.at).toBeLessThan(Math.max(...late.map(({ at }) => at)))

      // The audit log has equal lags by the clock of the API server, which is that of this machine.
      const audited = await auditedLags(releasedAt)
      const longest = Math.max(...audited.map(({ lagMs }) => lagMs))
      for (const [index, { deletedAt, writtenAt }] of audited.entries()) {
        const seen = late[index]!
        // No change is seen before its request.
        expect(seen.at).toBeGreaterThanOrEqual(writtenAt)
        expect(seen.at - lagOf(seen)).toBeGreaterThanOrEqual(deletedAt)
      }
      // A large part of a short lag is the delay of the watch, so short lags are left out.
      const apart = audited.map(({ lagMs }, index) => ({ lagMs, seenMs: lagOf(late[index]!) }))
      for (const { lagMs, seenMs } of apart.filter((one) => one.lagMs > longest / 4))
        expect(Math.abs(seenMs - lagMs) / lagMs, `${seenMs} ms and ${lagMs} ms`).toBeLessThan(TOLERANCE)
      // The labels of slices do not differ, so their controller keeps up.
      for (const one of [...quick, ...healthy]) expect(lagOf(one)).toBeLessThan(longest / 2)
      const puts = await plane.audit({ resource: 'endpoints', verb: 'update', since: sweptAt })
      expect(puts.length).toBeGreaterThanOrEqual(all.length)
      const seenLags = late.map(lagOf)
      const off = audited.map(({ lagMs }, index) => Math.abs(seenLags[index]! - lagMs))
      console.log(
        [
          `${all.length} Services, ${puts.length} writes by the controller in ${span(puts.map(writtenAtOf))} ms`,
          `workqueue_depth ${depth} (${backlog.workqueueDepth} in the finding, ${backlog.putsPerSecond} PUTs a second) when observe told ${backlog.services} Services that wait, the first for ${backlog.oldestMs} ms`,
          `lags of the release: observe ${range(seenLags)} ms, audit ${range(audited.map(({ lagMs }) => lagMs))} ms, apart by ${range(off)} ms`,
          `lags of slices ${range(quick.map(lagOf))} ms, of the healthy release ${range(healthy.map(lagOf))} ms`,
          `backlog over after ${over.oldestMs} ms; ${byAddress.size} stale addresses named ${range(late.flatMap(({ at }, index) => at - (byAddress.get(address(1, index))?.at ?? Infinity)).filter((ms) => ms > 0))} ms before they were gone`,
        ].join('\n'),
      )
    },
  )

  const writtenAtOf = ({ requestReceivedTimestamp }: { requestReceivedTimestamp: string }): number =>
    Date.parse(requestReceivedTimestamp)

  /** The lags from the response to the delete of each pod to the response to the write of Endpoints without its address. */
  async function auditedLags(since: number): Promise<{ lagMs: number; deletedAt: number; writtenAt: number }[]> {
    const deletes = await plane.audit({ verb: 'delete', resource: 'pods', namespace: SHOP, since })
    const writes = await plane.audit({ verb: 'update', resource: 'endpoints', namespace: SHOP, since })
    return shop.map(({ name }, index) => {
      const gone = deletes.find(({ objectRef }) => objectRef?.name === `${name}-1`)!
      const write = writes.find(
        ({ objectRef, responseStatus, requestObject }) =>
          objectRef?.name === name &&
          responseStatus?.code === 200 &&
          !addressesOf(requestObject as Stored).includes(address(1, index)),
      )!
      const lagMs = Date.parse(write.stageTimestamp) - Date.parse(gone.stageTimestamp)
      return { lagMs, deletedAt: writtenAtOf(gone), writtenAt: writtenAtOf(write) }
    })
  }

  /** Explains a Service whose turn comes only after explain has looked twice. */
  async function expectExplained(observation: Observation): Promise<void> {
    const access = { kubeconfig: plane.kubeconfig, namespace: SHOP }
    const waits = (service: string): boolean =>
      !observation.changes().some((one) => one.type === 'endpoint' && one.object === 'Endpoints' && one.pod === `${service}-2`)
    for (;;) {
      const next = observation.findings().findLast((one) => one.code === 'stale-address' && waits(one.service))
      if (next?.code !== 'stale-address') throw new Error('all Services have had their turn before one was explained')
      const { service } = next
      const { exit, findings } = await explain(access, `service/${service}`)
      const index = shop.findIndex(({ name }) => name === service)
      if (findings.length === 0) continue
      expect(exit).toBe(1)
      expect(findings.map(({ reason }) => reason)).toMatchObject([
        { code: 'endpoints-differ', pods: [{ pod: `${service}-2`, is: 'absent', made: 'ready' }] },
        { code: 'stale-address', object: { kind: 'Endpoints' }, address: address(1, index), pod: `${service}-1` },
      ])
      return
    }
  }

  const span = (some: readonly number[]): number => Math.max(...some) - Math.min(...some)
  const range = (some: readonly number[]): string => `${Math.min(...some)} to ${Math.max(...some)}`
})
