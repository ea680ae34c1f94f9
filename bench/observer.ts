import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createApiServer } from '../sim/api-server/api-server.ts'
import type { KubeObject, Store } from '../sim/api-server/server.ts'
import { writeKubeconfig } from '../sim/http/kubeconfig.ts'
import { serveApi } from '../sim/http/serve-api.ts'
import { systemClock, systemRandom } from '../src/ports/system.ts'
import { runMeasured, type Usage } from '../test/embedded/usage.ts'
import { buildSluice } from './built-sluice.ts'

/*
 * `npm run bench:observer -- [--services N] [--seconds N] [--heap MIB]` measures the memory and the processor time of the built
 * `sluice observe -A`, beside a program that parses the same objects and keeps nothing, and beside `sluice observe` without any Service.
 * The embedded API server has no controllers: the bench writes the endpoints.
 */

const { values } = parseArgs({
  options: {
    services: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    heap: { type: 'string' },
  },
})
const [services, seconds] = [Number(values.services), Number(values.seconds)]
/** The heap limit of the measured programs, in MiB. A lower limit collects garbage sooner. */
const heap = values.heap === undefined ? [] : [`--max-old-space-size=${values.heap}`]
const PODS_EACH = 2
const NODES = 500
/** Each change makes three events: of a pod, of an EndpointSlice and of Endpoints. */
const CHANGES_A_SECOND = 100
const CHANGES_FOR_S = 20
/** The time of the changes, and until the last event has arrived. */
const CHANGING_S = CHANGES_FOR_S + 6
const KINDS = 5
/** The time from the last list to the first change. */
const SETTLE_MS = 4_000
const IDLE_S = 8

const watched = new Set<string>()
const apiServer = createApiServer({ clock: systemClock, random: systemRandom, watchWindow: 50_000, servesEndpoints: true })
const { store } = apiServer
const counting: typeof apiServer = {
  ...apiServer,
  watch(request, ...others) {
    watched.add(request.path.split('?')[0]!)
    return apiServer.watch(request, ...others)
  },
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-observer-'))
const kubeconfig = join(folder, 'kubeconfig')
const built = buildSluice()
const served = await serveApi({ apiServer: counting, clock: systemClock })
try {
  await writeKubeconfig(kubeconfig, served.url)
  const observe = (forS: number) => [
    ...heap,
    built.script,
    'observe',
    '-A',
    '-o',
    'json',
    '--for',
    `${forS}s`,
    '--kubeconfig',
    kubeconfig,
  ]
  const idle = await runMeasured(observe(IDLE_S))
  fill(store)
  const [bare, bareMade] = await duringChanges([...heap, join(import.meta.dirname, 'bare-watch.ts'), served.url, String(seconds)])
  const [full, made] = await duringChanges(observe(seconds))
  report({ idle, bare, full }, bareMade, made)
} finally {
  await served.close()
  built.remove()
  rmSync(folder, { recursive: true, force: true })
}

/** Runs the program, and changes pods and their endpoints for `CHANGES_FOR_S` once the program watches all kinds. */
async function duringChanges(args: readonly string[]): Promise<[Usage, number]> {
  watched.clear()
  const running = runMeasured(args)
  const endsAt = performance.now() + (seconds - CHANGING_S) * 1_000
  while (watched.size < KINDS) {
    if (performance.now() > endsAt) throw new Error(`not all is listed after ${seconds - CHANGING_S} s: give more --seconds`)
    await sleep(50)
  }
  await sleep(SETTLE_MS)
  const startedAt = performance.now()
  let made = 0
  for (;;) {
    const elapsedS = (performance.now() - startedAt) / 1_000
    if (elapsedS > CHANGES_FOR_S) break
    for (; made < elapsedS * CHANGES_A_SECOND; made += 1) turn(store, (made * 7_919) % services)
    await sleep(10)
  }
  const usage = await running
  if (usage.code !== 0) throw new Error(`${args[0]} exited with ${usage.code}: ${usage.stderr}`)
  return [usage, made]
}

function nameOf(index: number): string {
  return `s${String(index).padStart(5, '0')}`
}

function ipOf(index: number, place: number): string {
  return `10.${100 + place}.${index >> 8}.${index & 255}`
}

/** A pod as large as those of real clusters, with many fields that no program here reads. */
function podOf(index: number, place: number, isReady: boolean): KubeObject {
  const name = `${nameOf(index)}-${place}`
  const ip = ipOf(index, place)
  const status = isReady ? 'True' : 'False'
  const env = Array.from({ length: 20 }, (_, at) => ({ name: `SETTING_${at}`, value: `value of the setting ${at} of ${name}` }))
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'shop',
      labels: { app: nameOf(index), team: `t${index % 50}`, 'pod-template-hash': '5d4f8c7b9d' },
      annotations: { 'example.com/config': 'x'.repeat(600) },
    },
    spec: {
      nodeName: `node-${index % NODES}`,
      containers: [
        { name: 'app', image: 'registry.example.com/shop/app:v1', ports: [{ name: 'http', containerPort: 8080 }], env },
        { name: 'sidecar', image: 'registry.example.com/mesh/proxy:v3', env },
      ],
    },
    status: {
      phase: 'Running',
      podIP: ip,
      podIPs: [{ ip }],
      conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map((type) => ({
        type,
        status: type.endsWith('Ready') ? status : 'True',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      })),
      containerStatuses: ['app', 'sidecar'].map((of) => ({
        name: of,
        ready: isReady,
        restartCount: 0,
        image: `registry.example.com/shop/${of}:v1`,
        imageID: `sha256:${'0'.repeat(64)}`,
        state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
      })),
    },
  } as unknown as KubeObject
}

interface Target {
  ip: string
  isReady: boolean
  targetRef: { kind: 'Pod'; name: string; namespace: string; uid: string }
}

function targets(of: Store, index: number): Target[] {
  return Array.from({ length: PODS_EACH }, (_, place) => {
    const pod = of.get('pods', 'shop', `${nameOf(index)}-${place}`)!
    const { conditions } = pod['status'] as { conditions: { type: string; status: string }[] }
    return {
      ip: ipOf(index, place),
      isReady: conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
      targetRef: { kind: 'Pod', name: pod.metadata.name, namespace: 'shop', uid: pod.metadata.uid },
    }
  })
}

function sliceOf(all: readonly Target[]): object[] {
  return all.map(({ ip, isReady, targetRef }) => ({
    addresses: [ip],
    conditions: { ready: isReady, serving: isReady, terminating: false },
    targetRef,
  }))
}

function subsetsOf(all: readonly Target[]): object[] {
  const some = (are: boolean) => all.filter(({ isReady }) => isReady === are).map(({ ip, targetRef }) => ({ ip, targetRef }))
  const [addresses, notReadyAddresses] = [some(true), some(false)]
  const ports = [{ name: 'http', port: 8080, protocol: 'TCP' }]
  return [{ ...(addresses.length > 0 && { addresses }), ...(notReadyAddresses.length > 0 && { notReadyAddresses }), ports }]
}

function fill(of: Store): void {
  const create = (resource: string, object: object): void => void of.create(resource, object as KubeObject, 'bench')
  create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  for (let index = 0; index < NODES; index += 1)
    create('nodes', {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: `node-${index}` },
      status: {
        conditions: [{ type: 'Ready', status: 'True' }],
        addresses: [{ type: 'InternalIP', address: `10.0.${index >> 8}.${index & 255}` }],
      },
    })
  for (let index = 0; index < services; index += 1) {
    const name = nameOf(index)
    const metadata = { name, namespace: 'shop' }
    const ports = [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }]
    const spec = { type: 'ClusterIP', clusterIP: '10.96.0.1', ipFamilies: ['IPv4'], selector: { app: name }, ports }
    create('services', { apiVersion: 'v1', kind: 'Service', metadata, spec })
    for (let place = 0; place < PODS_EACH; place += 1) create('pods', podOf(index, place, true))
    const all = targets(of, index)
    create('endpoints', { apiVersion: 'v1', kind: 'Endpoints', metadata, subsets: subsetsOf(all) })
    create('endpointslices.discovery.k8s.io', {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: `${name}-abcde`,
        namespace: 'shop',
        labels: {
          'kubernetes.io/service-name': name,
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
      },
      addressType: 'IPv4',
      endpoints: sliceOf(all),
      ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    })
  }
}

/** Turns one pod ready or not ready, and writes its endpoints. */
function turn(of: Store, index: number): void {
  const isReady = targets(of, index)[0]!.isReady
  const { status } = podOf(index, 0, !isReady) as unknown as { status: object }
  of.update('pods', 'shop', `${nameOf(index)}-0`, (before) => ({ ...before, status }) as KubeObject, 'bench')
  const all = targets(of, index)
  of.update(
    'endpointslices.discovery.k8s.io',
    'shop',
    `${nameOf(index)}-abcde`,
    (before) => ({ ...before, endpoints: sliceOf(all) }) as KubeObject,
    'bench',
  )
  of.update('endpoints', 'shop', nameOf(index), (before) => ({ ...before, subsets: subsetsOf(all) }) as KubeObject, 'bench')
}

interface Runs {
  idle: Usage
  bare: Usage
  full: Usage
}

function report({ idle, bare, full }: Runs, bareMade: number, made: number): void {
  const mb = (usage: Usage): string => `${Math.round(usage.peakMemoryBytes / 1e6)} MB`
  const row = (name: string, usage: Usage): string =>
    `${name.padEnd(28)} ${mb(usage).padStart(8)} ${String(Math.round(usage.cpuMs)).padStart(8)} ms`
  console.log(
    `${services} Services, ${services * PODS_EACH} pods, ${NODES} nodes; ${made} and ${bareMade} changes of three events, in ${seconds} s`,
  )
  console.log(`${''.padEnd(28)} ${'memory'.padStart(8)} ${'processor'.padStart(11)}`)
  console.log(row('sluice observe, no Service', idle))
  console.log(row('a bare watch', bare))
  console.log(row('sluice observe', full))
  const memory = full.peakMemoryBytes / bare.peakMemoryBytes
  const cpu = full.cpuMs / bare.cpuMs
  console.log(`beside the bare watch: ${memory.toFixed(2)} × the memory, ${cpu.toFixed(2)} × the processor`)
  const { objects, events } = JSON.parse(bare.stdout) as { objects: number; events: number }
  const lines = full.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind: string; type?: string; legs?: { changes: number }[] })
  const followed = lines.findLast(({ kind }) => kind === 'ObserverSummary')!.legs!.reduce((sum, { changes }) => sum + changes, 0)
  console.log(
    `the bare watch has parsed ${objects} objects and ${events} events; sluice has measured ${followed} lags of ${made * 2}`,
  )
  if (followed < made * 2 * 0.99) throw new Error('not each change was seen to be followed')
  if (lines.some(({ kind }) => kind === 'ObserverFinding')) throw new Error('a finding where nothing is wrong')
}
