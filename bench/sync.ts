import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findPort } from '../adapters/conformance/beds/product-process.ts'
import { chosenVersion } from '../test/cluster/kubernetes-versions.ts'
import { type ControlPlane, type Json, startControlPlane } from '../test/products/endpoints/control-plane.ts'
import { forEach } from '../test/products/endpoints/play.ts'
import { findKubernetes } from '../test/products/kubernetes.ts'
import { startSyncProcess } from '../test/products/sync/sync-process.ts'
import { buildSluice } from './built-sluice.ts'

/*
 * `npm run bench:sync -- [--endpoints N] [--services N] [--changes N] [--every MS] [--idle SECONDS]` measures the lag of copies between two
 * real control planes: of `sluice sync`, and of a program that only watches and writes. Each has a namespace with its own endpoints. The
 * changes go to the one and the other in turn. A lag begins where a watch of the source shows the change, and ends where a watch of the
 * access cluster does.
 */

const { values } = parseArgs({
  options: {
    endpoints: { type: 'string', default: '5000' },
    services: { type: 'string', default: '10' },
    changes: { type: 'string', default: '500' },
    every: { type: 'string', default: '100' },
    idle: { type: 'string', default: '20' },
  },
})
const [endpoints, services, changes, every, idle] = [
  values.endpoints,
  values.services,
  values.changes,
  values.every,
  values.idle,
].map(Number) as [number, number, number, number, number]
const GOAL = 1.5
/** The changes at the start that do not count. */
const WARM_UP = 50
const WITHIN_MS = 60_000
const IN_A_SLICE = 100
const WAYS = ['bare', 'sluice'] as const
type Way = (typeof WAYS)[number]
const NAMES: Readonly<Record<Way, string>> = { bare: 'a program that watches and writes', sluice: 'sluice sync' }
const SERVICES = Array.from({ length: services }, (_, index) => `web-${index}`)
/** The numbers of the endpoints, one list for each slice. The slices belong to the Services in turn. */
const SLICES = Array.from({ length: Math.ceil(endpoints / IN_A_SLICE) }, (_, slice) =>
  Array.from({ length: Math.min(IN_A_SLICE, endpoints - slice * IN_A_SLICE) }, (_one, index) => slice * IN_A_SLICE + index),
)

const { program } = await findKubernetes(chosenVersion())
if (program === undefined) throw new Error('there is no Kubernetes')
const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-sync-'))
const built = buildSluice()
const stops: (() => unknown)[] = [() => built.remove(), () => rmSync(folder, { recursive: true })]
try {
  const source = await startControlPlane(program)
  stops.unshift(() => source.stop())
  const access = await startControlPlane(program)
  stops.unshift(() => access.stop())
  for (const plane of [source, access])
    for (const way of WAYS) {
      await plane.ask('POST', '/api/v1/namespaces', { metadata: { name: way } })
      for (const name of SERVICES)
        await plane.ask('POST', `/api/v1/namespaces/${way}/services`, {
          metadata: { name },
          spec: { ports: [{ name: 'http', port: 80 }] },
        })
    }
  await source.ask('POST', '/api/v1/nodes', { metadata: { name: 'node-a' } })
  for (const way of WAYS)
    await forEach(
      SLICES.map((_, slice) => slice),
      (slice) => makeSlice(source, way, slice),
    )

  const [ready, shown] = [await watchReady(source), await watchReady(access)]
  stops.unshift(ready.stop, shown.stop)
  const metricsPort = await findPort()
  const bare = [join(import.meta.dirname, 'bare-sync.ts'), 'east', source.kubeconfig, access.kubeconfig, 'bare', ...SERVICES]
  const listen = ['--metrics-listen', `127.0.0.1:${metricsPort}`]
  const own = [built.script, 'sync', '--config', writeConfig(source, access), '--no-lease', ...listen]
  for (const args of [bare, own]) {
    const one = startSyncProcess(args)
    stops.unshift(() => one.stop())
  }
  await shown.untilSize(endpoints * WAYS.length)

  const lags: Record<Way, number[]> = { bare: [], sluice: [] }
  const changedFrom = Date.now()
  for (let count = 0; count < WARM_UP + changes; count += 1)
    for (const way of WAYS) {
      const begun = performance.now()
      const lag = await change(way, (count * 37) % endpoints)
      if (count >= WARM_UP) lags[way].push(lag)
      await sleep(every - (performance.now() - begun))
    }
  const perChange = (await writesOf(access, changedFrom)) / (WARM_UP + changes)
  await sleep(2_000)
  const idleFrom = Date.now()
  await sleep(idle * 1_000)
  const idleWrites = await writesOf(access, idleFrom)

  const quantile = (way: Way, q: number): number => {
    const sorted = lags[way].toSorted((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]!
  }
  for (const way of WAYS) {
    const [p50, p99] = [quantile(way, 0.5), quantile(way, 0.99)]
    console.log(
      `${NAMES[way].padEnd(36)} ${lags[way].length} changes  p50 ${p50.toFixed(1)} ms  p99 ${p99.toFixed(1)} ms  longest ${quantile(way, 1).toFixed(1)} ms`,
    )
  }
  const ratios = [0.5, 0.99].map((q) => quantile('sluice', q) / quantile('bare', q)) as [number, number]
  console.log(`ratio: p50 ${ratios[0].toFixed(2)}, p99 ${ratios[1].toFixed(2)} (goal: ${GOAL} each)`)
  console.log(
    `sluice sync: ${perChange.toFixed(2)} writes a change, ${idleWrites} writes in ${idle} s without a change (goal: 0)`,
  )
  for (const line of await legs(metricsPort)) console.log(line)
  if (ratios.some((ratio) => ratio > GOAL) || idleWrites > 0) process.exitCode = 1

  /** Changes an endpoint, and waits for its copy. Returns the lag, in milliseconds. */
  async function change(way: Way, number: number): Promise<number> {
    const key = `${way}/${addressOf(number)}`
    const isReady = !ready.now(key)
    const [begins, ends] = [ready.until(key, isReady), shown.until(key, isReady)]
    const [slice, index] = [Math.floor(number / IN_A_SLICE), number % IN_A_SLICE]
    await source.patch(`${slicesOf(way)}/slice-${slice}`, [
      { op: 'replace', path: `/endpoints/${index}/conditions/ready`, value: isReady },
      { op: 'replace', path: '/metadata/annotations', value: changedNow() },
    ])
    return (await ends) - (await begins)
  }
} finally {
  for (const stop of stops) await stop()
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
}

function slicesOf(way: Way): string {
  return `/apis/discovery.k8s.io/v1/namespaces/${way}/endpointslices`
}

function addressOf(number: number): string {
  return `10.50.${number >> 8}.${number & 255}`
}

/** As the EndpointSlice controller tells the time of a change. */
function changedNow(): Json {
  return { 'endpoints.kubernetes.io/last-change-trigger-time': new Date().toISOString() }
}

/** Makes the pods of a slice, and the slice. */
async function makeSlice(source: ControlPlane, way: Way, slice: number): Promise<void> {
  const made = []
  for (const number of SLICES[slice]!) {
    const container = { name: 'app', image: 'app:v1', ports: [{ containerPort: 8080 }] }
    const { metadata } = await source.ask('POST', `/api/v1/namespaces/${way}/pods`, {
      metadata: { name: `web-${number}` },
      spec: { nodeName: 'node-a', containers: [container] },
    })
    made.push({
      addresses: [addressOf(number)],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node-a',
      targetRef: { kind: 'Pod', namespace: way, name: metadata.name, uid: metadata.uid },
    })
  }
  await source.ask('POST', slicesOf(way), {
    metadata: {
      name: `slice-${slice}`,
      labels: { 'kubernetes.io/service-name': SERVICES[slice % services] },
      annotations: changedNow(),
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    endpoints: made,
  })
}

function writeConfig(source: ControlPlane, access: ControlPlane): string {
  const file = join(folder, 'sluice-sync.yaml')
  const config = {
    apiVersion: 'sluice.dev/v1',
    kind: 'SyncConfig',
    access: { kubeconfig: access.kubeconfig },
    sources: [{ name: 'east', kubeconfig: source.kubeconfig }],
    services: SERVICES.map((name) => ({ namespace: 'sluice', name })),
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

/** The readiness of each endpoint of a cluster, as a watch shows it. The key is `NAMESPACE/ADDRESS`. */
async function watchReady(plane: ControlPlane) {
  const path = '/apis/discovery.k8s.io/v1/endpointslices'
  const stopping = new AbortController()
  const states = new Map<string, boolean>()
  let waiting: { key: string; isReady: boolean; resolve: (at: number) => void }[] = []

  function take({ metadata, endpoints: some }: Json): void {
    const at = performance.now()
    for (const { addresses, conditions } of some ?? []) states.set(`${metadata.namespace}/${addresses[0]}`, conditions.ready)
    const over = waiting.filter(({ key, isReady }) => states.get(key) === isReady)
    if (over.length === 0) return
    waiting = waiting.filter((one) => !over.includes(one))
    for (const { resolve } of over) resolve(at)
  }

  const listed = Promise.withResolvers<void>()
  async function follow(): Promise<void> {
    const list = await plane.ask('GET', path)
    for (const slice of list.items) take(slice)
    listed.resolve()
    const query = `watch=true&resourceVersion=${list.metadata.resourceVersion}`
    await plane.watch(`${path}?${query}`, stopping.signal, ({ type, object }) => {
      if (type === 'ERROR') throw new Error(JSON.stringify(object))
      if (type !== 'DELETED') take(object)
    })
  }
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await follow().catch((error: unknown) => {
        if (!stopping.signal.aborted) console.error(`the watch begins anew: ${String(error)}`)
      })
    }
  }
  const ended = run()
  await listed.promise

  return {
    now: (key: string): boolean => states.get(key)!,
    /** Resolves with the instant at which the watch shows the state. */
    until(key: string, isReady: boolean): Promise<number> {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      const tooLate = setTimeout(() => reject(new Error(`${key} has not become ${isReady ? 'ready' : 'not ready'}`)), WITHIN_MS)
      const shown = (at: number): void => {
        clearTimeout(tooLate)
        resolve(at)
      }
      waiting.push({ key, isReady, resolve: shown })
      return promise
    },
    async untilSize(size: number): Promise<void> {
      for (const endsAt = performance.now() + WITHIN_MS; states.size < size;) {
        if (performance.now() > endsAt) throw new Error(`${states.size} of ${size} endpoints are copied`)
        await sleep(50)
      }
    },
    async stop() {
      stopping.abort()
      await ended
    },
  }
}

/** Returns the number of writes of `sluice sync` into the access cluster since an instant. */
async function writesOf(access: ControlPlane, since: number): Promise<number> {
  const writes = await access.audit({ verb: ['create', 'update', 'patch', 'delete'], since })
  return writes.filter(({ userAgent }) => userAgent?.startsWith('sluice-sync')).length
}

/** The mean of each leg of the lag, by the metrics of `sluice sync`. */
async function legs(port: number): Promise<string[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const found = [...text.matchAll(/^sluice_sync_lag_seconds_(sum|count)\{([^}]*)\} (\S+)$/gm)].map(([, what, labels, value]) => ({
    what,
    leg: /leg="([^"]*)"/.exec(labels!)?.[1] ?? '',
    value: Number(value),
  }))
  return [...Map.groupBy(found, ({ leg }) => leg)].map(([leg, own]) => {
    const total = (what: string): number => own.filter((one) => one.what === what).reduce((sum, { value }) => sum + value, 0)
    return `leg ${leg}: mean ${((total('sum') / total('count')) * 1_000).toFixed(1)} ms of ${total('count')}`
  })
}
