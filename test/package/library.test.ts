import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { serversApi } from '../../adapters/http/testing/servers-api.ts'
import { createLoadBalancer, type LoadBalancer } from '../../demo/load-balancer/load-balancer.ts'
import type { Manifest } from '../../sim/cluster.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { blocks, page } from '../docs/pages.ts'
import { installPackage, type Installed } from './installed.ts'

/* The packed package, installed outside of the repository, against the embedded cluster and a load balancer, over sockets. */

const NAMESPACE = 'shop'
const PORT = 80
const SETS = ['web', 'api']

let installed: Installed
let cluster: EmbeddedCluster
let edge: LoadBalancer
let kubeconfig: string
let exampleFiles: string[] = []

const pods = (): Pod[] => cluster.apiServer.store.list('pods', NAMESPACE) as Pod[]
const imageOf = ({ spec }: Pod): string => spec.containers[0]!.image
const imagesOf = (set: string): string[] =>
  pods().flatMap((pod) => (pod.metadata.name.startsWith(`${set}-`) ? [imageOf(pod)] : []))

beforeAll(async () => {
  installed = installPackage()
  const versions = Array.from({ length: 7 }, (_, index) => `registry.example/app:v${index}`)
  cluster = await startEmbeddedCluster({
    nodes: 1,
    images: Object.fromEntries(versions.map((image) => [image, { digest: image }])),
  })
  kubeconfig = join(installed.folder, 'kubeconfig')
  await writeKubeconfig(kubeconfig, cluster.url)
  cluster.apply(...SETS.map(statefulSet))
  await vi.waitUntil(() => pods().length === 4 && pods().every(isReady), { timeout: 60_000, interval: 50 })
  const servers = pods().map(({ metadata: { name }, status }) => ({ name, address: `${status!.podIP!}:${PORT}` }))
  edge = await createLoadBalancer({ servers })
  const loadBalancers = [{ name: 'edge', adapter: 'http', port: PORT, options: serversApi(edge.adminUrl) }]
  const config = { apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }
  writeFileSync(join(installed.folder, 'sluice.yaml'), JSON.stringify(config))
  cpSync(join(import.meta.dirname, 'app'), installed.folder, { recursive: true })
  const example = readFileSync(join(import.meta.dirname, '../../adapters/conformance/examples/servers.ts'), 'utf8')
  const outside = example.replaceAll(/'\.\.\/\.\.\/(?:contract|define-adapter)\.ts'/g, "'sluice/adapter'")
  writeFileSync(join(installed.folder, 'servers.ts'), outside)
  cpSync(join(import.meta.dirname, '../../adapters/scaffold/templates/ts/lb.ts'), join(installed.folder, 'lb.ts'))
  const quickstart = blocks(page('README.md')).filter(({ language, code }) => language === 'ts' && code.includes('createSluice'))
  expect(quickstart).toHaveLength(1)
  writeFileSync(join(installed.folder, 'quickstart.ts'), quickstart[0]!.code)
  const examples = [page('docs/library.md'), page('docs/kinds.md'), page('docs/plugins.md'), page('docs/adapters.md')]
    .flatMap(blocks)
    .filter(({ language }) => language === 'ts')
  for (const [index, { code }] of examples.entries()) writeFileSync(join(installed.folder, `example-${index}.ts`), code)
  exampleFiles = examples.map((_, index) => `example-${index}.ts`)
}, 180_000)

afterAll(async () => {
  await edge?.close()
  await cluster?.close()
  installed?.remove()
}, 60_000)

function statefulSet(name: string): Manifest {
  const labels = { app: name }
  const container = {
    name: 'app',
    image: 'registry.example/app:v1',
    ports: [{ containerPort: PORT }],
    readinessProbe: { periodSeconds: 1 },
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      replicas: 2,
      serviceName: name,
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers: [container] } },
    },
  }
}

/** The changes of the load balancer since then, as `web-1 drain`. */
function changesSince(call: number): string[] {
  return edge.calls
    .slice(call)
    .flatMap(({ path, body, changed }) => (changed ? [`${path.split('/').at(-1)} ${(body as { state: string }).state}`] : []))
}

test('the packed types are right by themselves, and for programs: the quickstart, the examples of the docs, and those of a test', () => {
  const files = ['quickstart.ts', 'drive.ts', 'names.ts', 'servers.ts', 'kit.ts', 'lb.ts', ...exampleFiles]
  expect(installed.compile(files)).toBe('')
  expect(installed.compile(files, 'strictest')).toBe('')
  expect(exampleFiles.length).toBeGreaterThan(3)
  // Control: a mistake is found.
  writeFileSync(
    join(installed.folder, 'mistake.ts'),
    "import { createSluice } from 'sluice'\nawait createSluice({ cluster: 1 }).plan({ workload: 1 })\n",
  )
  const found = installed.compile(['mistake.ts'])
  expect([...found.matchAll(/^mistake\.ts\(2,.*error TS2322/gm)]).toHaveLength(2)
}, 120_000)

test('the conformance kit of the package passes an adapter that is made outside, under node:test', async () => {
  const { code, stdout, stderr } = await installed.run('kit.ts')
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^ℹ tests 4\d$/m)
  expect(stdout).toMatch(/^ℹ fail 0$/m)
  // Control: a mistake in the adapter is found.
  const right = readFileSync(join(installed.folder, 'servers.ts'), 'utf8')
  writeFileSync(join(installed.folder, 'servers.ts'), right.replace("{ state: 'drain' }", "{ state: 'ready' }"))
  const wrong = await installed.run('kit.ts')
  writeFileSync(join(installed.folder, 'servers.ts'), right)
  expect(wrong.code).toBe(1)
  expect(wrong.stdout).toContain('✖ drain-and-restore')
}, 120_000)

test('presets come with the package, for the library and for the command line', async () => {
  const options = { url: 'http://127.0.0.1:2019', handler: 'id/web' }
  const own = { preset: './own/lb.yaml', url: 'http://127.0.0.1:9000', pool: 'web', auth: { bearer: { env: 'EDGE_TOKEN' } } }
  const example = blocks(page('adapters/presets/README.md')).find(({ code }) => code.includes('kind: Preset\n'))
  const loadBalancers = [
    { name: 'by-name', adapter: 'caddy', port: PORT, options },
    { name: 'by-option', adapter: 'http', port: PORT, options: { preset: 'caddy', ...options } },
    { name: 'own', adapter: 'http', port: PORT, options: own },
  ]
  const config = (some: object[]): string => JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: some })
  mkdirSync(join(installed.folder, 'presets/own'), { recursive: true })
  writeFileSync(join(installed.folder, 'presets/own/lb.yaml'), example!.code)
  writeFileSync(join(installed.folder, 'presets/sluice.yaml'), config(loadBalancers))
  writeFileSync(
    join(installed.folder, 'presets/wrong.yaml'),
    config([{ ...loadBalancers[0], options: { ...options, hots: 'a' } }]),
  )
  const byLibrary = `import { loadConfig } from 'sluice'
    console.log((await loadConfig('presets/sluice.yaml')).loadBalancers.map(({ adapter }) => adapter).join(' '))`
  writeFileSync(join(installed.folder, 'presets.mjs'), byLibrary)
  expect(await installed.run('presets.mjs')).toEqual({ code: 0, stdout: 'caddy caddy my-lb\n', stderr: '' })
  const byCommand = `process.argv.push('plan', 'statefulset/web', 'app=a:1', '--config', 'presets/wrong.yaml')
    await import('./node_modules/sluice/dist/cli/sluice.js')`
  writeFileSync(join(installed.folder, 'command.mjs'), byCommand)
  const { code, stderr } = await installed.run('command.mjs')
  expect([code, stderr]).toEqual([2, expect.stringContaining('options.hots: unknown key\n    did you mean "host"?')])
}, 60_000)

test('the quickstart of the README upgrades, and its process ends by itself', async () => {
  const before = edge.calls.length
  const { code, stdout, stderr } = await installed.run('quickstart.ts', { KUBECONFIG: kubeconfig })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^web-1: upgrade, web-0: upgrade\n/)
  expect(stdout).toMatch(/\nweb-0 done\ndone\n$/)
  expect(imagesOf('web')).toEqual(Array(2).fill('registry.example/app:v2'))
  expect(changesSince(before)).toEqual(['web-1 drain', 'web-1 ready', 'web-0 drain', 'web-0 ready'])
}, 120_000)

test('a program pauses, resumes, aborts, interrupts, undoes, and has two runs at once', async () => {
  const before = edge.calls.length
  const { code, stdout, stderr } = await installed.run('drive.ts', { KUBECONFIG: kubeconfig })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout)).toMatchObject({
    fields: ['images.app', 'workload'],
    changed: ['pod/web-0'],
    paused: { order: 'pause', by: 'ann@desk' },
    resumed: 'done',
    over: true,
    aborted: 'aborted',
    both: ['done', 'done'],
    interrupted: 'interrupted',
    left: 'aborted',
    undone: 'done',
    report: 'done',
    page: '<!doctype html>',
    exitCode: 0,
    english: [expect.stringMatching(/\w+ \w+/)],
    broken: 'fatal',
    states: expect.arrayContaining(['draining', 'restarting', 'needsOperator']),
  })
  // The abort has left one pod upgraded, and the undo has taken both back to that.
  expect(imagesOf('web').toSorted()).toEqual(['registry.example/app:v3', 'registry.example/app:v4'])
  expect(edge.servers().every(({ state }) => state === 'ready')).toBe(true)
  const changes = changesSince(before)
  for (const pod of ['web-0', 'web-1', 'api-0', 'api-1']) {
    const own = changes.filter((change) => change.startsWith(`${pod} `)).map((change) => change.split(' ')[1])
    // One drain, one restore, and so on: never two of a kind in a row.
    expect(own.length, pod).toBeGreaterThan(0)
    expect(own, pod).toEqual(own.map((_, index) => (index % 2 === 0 ? 'drain' : 'ready')))
  }
}, 240_000)
