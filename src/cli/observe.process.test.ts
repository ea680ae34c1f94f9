import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text as textOf } from 'node:stream/consumers'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { serversApi } from '../../adapters/http/testing/servers-api.ts'
import { createLoadBalancer, type LoadBalancer } from '../../demo/load-balancer/load-balancer.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { shellQuote } from '../report/words/shell-quote.ts'
import { type Child, startChild } from './testing/child.ts'

/* `sluice observe` as a whole process, on an embedded cluster with a load balancer. */

// Each test starts whole processes, on a machine that may be busy.
vi.setConfig({ testTimeout: 120_000 })

const ENTRY = join(import.meta.dirname, 'sluice.ts')
const labels = { app: 'web' }
const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web' },
  spec: { clusterIP: '10.96.0.7', selector: labels, ports: [{ name: 'http', port: 80, targetPort: 80, protocol: 'TCP' }] },
}
const STATEFUL_SET = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web' },
  spec: {
    replicas: 2,
    serviceName: 'web',
    podManagementPolicy: 'Parallel',
    updateStrategy: { type: 'OnDelete' },
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        terminationGracePeriodSeconds: 0,
        containers: [{ name: 'app', image: 'app:v1', ports: [{ containerPort: 80 }], readinessProbe: { periodSeconds: 1 } }],
      },
    },
  },
}

let folder: string
let cluster: EmbeddedCluster
let edge: LoadBalancer
const pods = (): Pod[] => cluster.apiServer.store.list('pods', 'default') as Pod[]

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-observe-'))
  cluster = await startEmbeddedCluster({ nodes: 1, images: { 'app:v1': { digest: 'sha256:v1' } } })
  await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
  cluster.apply(SERVICE, STATEFUL_SET)
  await vi.waitUntil(() => pods().length === 2 && pods().every(isReady), { timeout: 20_000 })
  const servers = pods().map(({ metadata: { name }, status }) => ({ name, address: `${status!.podIP!}:80` }))
  edge = await createLoadBalancer({ servers })
  const loadBalancers = [{ name: 'edge', adapter: 'http', port: 80, options: serversApi(edge.adminUrl) }]
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
})
afterAll(async () => {
  await cluster?.close()
  await edge?.close()
  rmSync(folder, { recursive: true })
})

function observe(...args: string[]): Child {
  const env = { HOME: folder, KUBECONFIG: join(folder, 'kubeconfig') }
  const child = startChild([ENTRY, 'observe', ...args], { cwd: folder, env })
  onTestFinished(() => void child.process.kill('SIGKILL'))
  return child
}

interface Line {
  kind: string
  at: number
  [field: string]: unknown
}

function linesOf(child: Child): Line[] {
  return child
    .stdout()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
}

async function setState(name: string, state: string): Promise<void> {
  await fetch(`${edge.adminUrl}/servers/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ state }),
  })
}

test('a pod turns not ready: its lines of each leg with their lags; SIGINT ends it with the summary; a replay says the same', async () => {
  const writes = edge.calls.filter(({ method }) => method !== 'GET').length
  const recording = join(folder, 'recording.jsonl')
  const child = observe('-o', 'json', '--poll', '100ms', '--record', recording)
  await child.sees('observing the cluster current')
  await child.sees('observing the load balancer edge')
  cluster.unready('default', 'web-1', 'app', 600_000)
  await child.sees('"type":"endpoint"')
  await setState('web-1', 'drain')
  await child.sees('"type":"entry"')
  child.process.kill('SIGINT')
  expect(await child.end()).toBe(0)
  expect(child.stderr().split('\n').sort()).toEqual(['', 'observing the cluster current', 'observing the load balancer edge'])

  const lines = linesOf(child)
  const ip = pods().find(({ metadata }) => metadata.name === 'web-1')!.status!.podIP!
  expect(lines).toMatchObject([
    {
      kind: 'ObservedChange',
      type: 'pod',
      namespace: 'default',
      pod: 'web-1',
      change: 'not-ready',
      because: { code: 'containers-not-ready' },
    },
    {
      type: 'endpoint',
      object: 'EndpointSlice',
      service: 'web',
      pod: 'web-1',
      address: ip,
      change: 'not-ready',
      lagMs: expect.any(Number),
    },
    {
      type: 'entry',
      loadBalancer: 'edge',
      pod: 'web-1',
      change: 'draining',
      lags: [{ service: 'web', lagMs: expect.any(Number) }],
    },
    {
      kind: 'ObserverSummary',
      findings: [],
      legs: [
        { service: 'web', leg: 'endpointslice-load-balancer', loadBalancer: 'edge', changes: 1 },
        { service: 'web', leg: 'pod-endpointslice', changes: 1 },
      ],
    },
  ])
  const [pod, endpoint, entry] = lines as (Line & { lagMs: number; lags: { lagMs: number }[] })[]
  expect([endpoint!.at - pod!.at, entry!.at - endpoint!.at]).toEqual([endpoint!.lagMs, entry!.lags[0]!.lagMs])
  // The one write is that of the test itself.
  expect(edge.calls.filter(({ method }) => method !== 'GET').length).toBe(writes + 1)

  const replayed = observe('replay', recording, '-o', 'json')
  expect([await replayed.end(), replayed.stdout()]).toEqual([0, child.stdout()])
  expect(readFileSync(recording, 'utf8')).toMatch(/^\{"apiVersion":"sluice.dev\/v1","kind":"ObserverRecording"/)
})

test('a finding is exit 1 with --strict; --for bounds it', async () => {
  const stray = await createLoadBalancer({ servers: [...edge.servers(), { name: 'old', address: '10.255.255.1:80' }] })
  onTestFinished(() => stray.close())
  const file = join(folder, 'stray.yaml')
  const loadBalancers = [{ name: 'edge', adapter: 'http', port: 80, options: serversApi(stray.adminUrl) }]
  writeFileSync(file, JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
  const flags = ['-A', '--config', file, '--grace', '1s', '--color', 'never']
  const strict = observe(...flags, '--strict')
  await strict.sees('see docs/observe.md#entry-follows-nothing\n')
  strict.process.kill('SIGINT')
  expect(await strict.end()).toBe(1)
  expect(strict.stdout()).toContain('‼ load balancer edge: entry old@10.255.255.1:80 (10.255.255.1) follows no pod and no node')
  expect(strict.stdout()).toMatch(/^observed for [\d.]+s; 1 × entry-follows-nothing$/m)
  const healthy = observe('-A', '--for', '3s', '--grace', '1s', '--strict', '--summary', '500ms')
  expect(await healthy.end()).toBe(0)
  const summaries = healthy.stdout().match(/^observed for [\d.]+s; no findings$/gm) ?? []
  expect(summaries.length).toBeGreaterThanOrEqual(3)
})

test('a recording that cannot be written is said, and is exit 1', async () => {
  const child = observe('--record', '/dev/full', '--for', '1s')
  expect([await child.end(), child.stderr()]).toEqual([1, expect.stringContaining('the recording is lost (ENOSPC')])
})

test('a recording is replayed by the version that it is of; what a newer one has added is left out, and said', async () => {
  const header = { apiVersion: 'sluice.dev/v1', kind: 'ObserverRecording', clusters: ['east'], allNamespaces: true }
  const write = (name: string, ...lines: object[]): void =>
    writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  write('other.jsonl', { ...header, graceMs: 1, startedAt: 1, apiVersion: 'sluice.dev/v9' })
  const other = observe('replay', 'other.jsonl')
  expect([await other.end(), other.stderr()]).toEqual([2, expect.stringContaining('this one reads sluice.dev/v1')])
  write('newer.jsonl', { ...header, graceMs: 1, startedAt: 1 }, { at: 2, type: 'lease' }, { at: 3, type: 'end' })
  const newer = observe('replay', 'newer.jsonl')
  expect([await newer.end(), newer.stderr()]).toEqual([0, expect.stringContaining('1 events of type lease are left out')])
})

test('nodes that may not be read are a line on stderr: --strict has no finding of it', async () => {
  const proxy = createServer((request, response) => {
    if (request.url!.startsWith('/api/v1/nodes')) {
      response.writeHead(403, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', code: 403, reason: 'Forbidden', message: 'no' }))
    }
    const { method, headers } = request
    const onward = httpRequest(`${cluster.url}${request.url!}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    response.on('close', () => onward.destroy())
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  await writeKubeconfig(join(folder, 'without-nodes'), `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
  const child = observe('--kubeconfig', 'without-nodes', '--strict', '--for', '3s')
  expect([await child.end(), child.stdout()]).toEqual([0, expect.stringContaining('no findings')])
  expect(child.stderr()).toContain('the nodes of the cluster current are not looked at')
  expect(child.stderr()).toContain('observing the cluster current')
})

test('it ends where the reader of its lines has gone', async () => {
  const child = observe('-o', 'json', '--summary', '100ms')
  await child.sees('observing the cluster current')
  child.process.stdout!.destroy()
  expect(await child.end()).toBe(0)
})

/** Writes a kubeconfig: `east` and `north` lead to the cluster, `west` to an address without a server. `none` is missing. */
function writeContexts(): string {
  const kubeconfig = join(folder, 'contexts')
  const servers = { east: cluster.url, north: cluster.url, west: 'http://127.0.0.1:9' }
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    contexts: Object.keys(servers).map((name) => ({ name, context: { cluster: name, user: 'u' } })),
    clusters: Object.entries(servers).map(([name, server]) => ({ name, cluster: { server } })),
    users: [{ name: 'u', user: {} }],
  }
  writeFileSync(kubeconfig, JSON.stringify(document))
  return kubeconfig
}

test('contexts of a file: what cannot be reached, and what the kubeconfig lacks, are findings, and the others are observed', async () => {
  const contexts = join(folder, 'contexts.txt')
  writeFileSync(contexts, '# all of them\neast # the pods\n\n  west\nnone\n')
  const child = observe('--kubeconfig', writeContexts(), '--context', 'north', '--contexts', contexts, '-o', 'json')
  await child.sees('observing the cluster east')
  await child.sees('observing the cluster north')
  await child.sees('"cluster":"west"')
  await child.sees('"cluster":"none"')
  child.process.kill('SIGINT')
  expect(await child.end()).toBe(0)
  const findings = linesOf(child).filter(({ kind }) => kind === 'ObserverFinding')
  expect(findings.toSorted((a, b) => String(a['cluster']).localeCompare(String(b['cluster'])))).toMatchObject([
    {
      code: 'cluster-unreachable',
      cluster: 'none',
      message: expect.stringContaining('none'),
      page: 'docs/observe.md#cluster-unreachable',
    },
    { code: 'cluster-unreachable', cluster: 'west' },
  ])
})

test('no cluster is reached: 3, at once where no context is there, and at the end where none answers', async () => {
  const kubeconfig = writeContexts()
  for (const contexts of [
    ['--context', 'none'],
    ['--context', 'none', '--context', 'neither'],
  ]) {
    const missing = observe('--kubeconfig', kubeconfig, ...contexts)
    expect([await missing.end(), missing.stderr()]).toEqual([3, expect.stringContaining('none')])
  }
  const away = observe('--kubeconfig', kubeconfig, '--context', 'west', '--for', '2s')
  expect([await away.end(), away.stdout()]).toEqual([3, expect.stringContaining('1 × cluster-unreachable')])
})

const noTerminal = spawnSync('script', ['--version']).status !== 0
if (noTerminal) console.warn('sluice observe is not run at a terminal: there is no script')

test.skipIf(noTerminal)('at a terminal: a screen, which the summary takes the place of; lines with --no-live', async () => {
  for (const isLive of [true, false]) {
    const line = shellQuote([process.execPath, ENTRY, 'observe', '--for', '4s', ...(isLive ? [] : ['--no-live'])])
    const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, KUBECONFIG: join(folder, 'kubeconfig'), SHELL: '/bin/sh', TERM: 'xterm' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [text, [code]] = await Promise.all([textOf(child.stdout), once(child, 'close')])
    const shows = (words: string): boolean => text.includes(words)
    expect([code, shows('cluster current: observed; load balancer edge: '), shows('observing the cluster current')]).toEqual([
      0,
      isLive,
      !isLive,
    ])
    expect(text.slice(text.lastIndexOf('observed for'))).toContain('no findings')
  }
})

async function scrape(url: string): Promise<{ status: number; body: string }> {
  const answer = await fetch(url)
  return { status: answer.status, body: await answer.text() }
}

test('--metrics-listen: ready once all is listed; lags, writes, findings and Leases are there for Prometheus', async () => {
  const contexts = ['--kubeconfig', writeContexts(), '--context', 'east', '--context', 'west', '-n', 'default']
  const child = observe(...contexts, '--poll', '100ms', '--metrics-listen', '127.0.0.1:0')
  await child.sees('/metrics\n')
  const [, base = ''] = /metrics at (\S+)\/metrics/.exec(child.stderr())!
  await vi.waitUntil(async () => (await scrape(`${base}/readyz`)).status === 200, { timeout: 20_000 })
  expect(await scrape(`${base}/livez`)).toEqual({ status: 200, body: 'ok' })
  cluster.unready('default', 'web-0', 'app', 3_000)
  await child.sees('EndpointSlice of default/web')
  const { body } = await scrape(`${base}/metrics`)
  const value = (series: string): number | undefined => {
    const line = body.split('\n').find((one) => one.startsWith(series))
    return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(' ')))
  }
  expect([
    value('sluice_cluster_up{cluster="east"}'),
    value('sluice_cluster_up{cluster="west"}'),
    value('sluice_load_balancer_up{load_balancer="edge"}'),
    value('sluice_findings{cluster="west",namespace="",code="cluster-unreachable"}'),
  ]).toEqual([1, 0, 1, 1])
  expect(value('sluice_endpoint_lag_seconds_count{cluster="east",leg="pod-endpointslice"}')).toBeGreaterThanOrEqual(1)
  expect(value('sluice_endpoint_writes_total{cluster="east",object="EndpointSlice",effect="addresses"}')).toBeGreaterThanOrEqual(
    1,
  )
  expect(value('sluice_finding_begun_timestamp_seconds{cluster="west",namespace="",code="cluster-unreachable"}')).toBeGreaterThan(
    1e9,
  )
  child.process.kill('SIGTERM')
  expect(await child.end()).toBe(143)
  await expect(fetch(`${base}/livez`)).rejects.toThrow('fetch failed')
})

test('a namespace without pods and Services is said, as one that is mistyped', async () => {
  const child = observe('-n', 'shpo')
  await child.sees('has no pods and no Services in namespace shpo: check the name')
  child.process.kill('SIGINT')
  expect(await child.end()).toBe(0)
})

test('an address that another program has is no start', async () => {
  const child = observe('--metrics-listen', new URL(cluster.url).host)
  expect([await child.end(), child.stderr()]).toEqual([3, expect.stringContaining('Another program listens on')])
})

test.each([
  [['-A', '-n', 'shop'], '--all-namespaces excludes --namespace'],
  [['--for', 'soon'], '--for'],
  [['--context', 'a', '--context', 'a'], 'twice'],
  [['--context', 'a', '--context', 'b', '--user', 'u'], '--cluster and --user'],
  [['--contexts', 'none.txt'], '--contexts'],
  [['--contexts', '/dev/null'], 'names no context'],
  [['--metrics-listen', 'here'], '--metrics-listen'],
  [['--metrics-listen', ':0', '--metrics-cert', 'a'], 'go together'],
  [['--metrics-cert', 'a', '--metrics-key', 'b'], 'need --metrics-listen'],
  [['--controller-manager-metrics', '10.0.0.1:10257'], '--controller-manager-metrics'],
  [['--controller-manager-insecure'], 'need --controller-manager-metrics'],
  [['--controller-manager-metrics', 'https://m:10257/metrics', '--context', 'a', '--context', 'b'], 'of one cluster'],
  [['--record', 'no/such/folder'], '--record'],
  [['--record', 'kubeconfig'], 'EEXIST'],
  [['replay', 'none.jsonl'], 'none.jsonl'],
  [['replay', 'sluice.yaml'], 'it is no recording of sluice observe'],
])('%j is a mistake of the command line', async (args, said) => {
  const child = observe(...args)
  expect([await child.end(), child.stderr()]).toEqual([2, expect.stringContaining(said)])
})
