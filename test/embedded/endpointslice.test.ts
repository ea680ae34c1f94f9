import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { type KubernetesProcess, startKubernetes } from '../../adapters/conformance/beds/kubernetes-process.ts'
import type { SliceObject } from '../../adapters/conformance/beds/slice-front.ts'
import { readmeRules } from '../../adapters/endpointslice/testing/readme.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { isReady, type Pod } from '../../sim/kubelet/pod.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { findKubernetes } from '../products/kubernetes.ts'
import { describeOn } from '../products/program.ts'

/*
 * Whole upgrades, by processes of their own: the pods are in the embedded cluster, and a Service of another cluster, with a real API server,
 * leads to those of two workloads.
 */

const SCRIPT = join(import.meta.dirname, '../../src/cli/sluice.ts')
const PORT = 80
const WORKLOADS = ['api', 'web']
const PODS = WORKLOADS.flatMap((name) => [0, 1, 2].map((index) => `${name}-${index}`))
const KILLS = 3
/** In rotation, out once, and in rotation again. */
const ONCE = [false, true, false]

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let kubernetes: KubernetesProcess
  let cluster: EmbeddedCluster
  let folder: string
  let slices: string
  let before: SliceObject
  let configFile: string
  const versions: SliceObject[] = []
  const cleanups: (() => unknown)[] = []

  function pods(): Pod[] {
    const all = cluster.apiServer.store.list('pods', 'default') as Pod[]
    return all.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }
  const read = async (): Promise<SliceObject> => (await kubernetes.ask('GET', `${slices}/edge-1`)) as SliceObject

  beforeAll(async () => {
    kubernetes = await startKubernetes({ programs, rules: readmeRules() })
  }, 60_000)
  afterAll(() => kubernetes?.stop())

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-embedded-slices-'))
    const images = Object.fromEntries([1, 2].map((index) => [`app:v${index}`, { digest: `sha256:${index}` }]))
    cluster = await startEmbeddedCluster({ nodes: 2, images })
    await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
    for (const name of WORKLOADS) {
      const labels = { app: name }
      const containers = [
        { name: 'app', image: 'app:v1', ports: [{ containerPort: PORT }], readinessProbe: { periodSeconds: 1 } },
      ]
      cluster.apply({
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { name },
        spec: {
          replicas: 3,
          serviceName: name,
          podManagementPolicy: 'Parallel',
          updateStrategy: { type: 'OnDelete' },
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { terminationGracePeriodSeconds: 0, containers } },
        },
      })
    }
    const areReady = () => expect([pods().length, pods().every(isReady)]).toEqual([PODS.length, true])
    await vi.waitFor(areReady, { timeout: 60_000, interval: 50 })

    const made = (await kubernetes.ask('POST', '/api/v1/namespaces', { metadata: { generateName: 'edge-' } })) as SliceObject
    const namespace = made.metadata.name
    slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
    const service = { metadata: { name: 'edge' }, spec: { ports: [{ port: 80 }] } }
    await kubernetes.ask('POST', `/api/v1/namespaces/${namespace}/services`, service)
    before = (await kubernetes.ask('POST', slices, {
      metadata: { name: 'edge-1', labels: { 'kubernetes.io/service-name': 'edge' }, annotations: { team: 'x' } },
      addressType: 'IPv4',
      ports: [{ port: PORT }],
      endpoints: pods().map(({ status }, index) => ({
        addresses: [status!.podIP!],
        ...(index === 0 ? { conditions: { ready: true, serving: true } } : {}),
      })),
    })) as SliceObject
    await follow()
    await writeFile(join(folder, 'edge.kubeconfig'), kubernetes.kubeconfig('sluice'), { mode: 0o600 })
    const options = { namespace, service: 'edge', kubeconfig: './edge.kubeconfig', settle: '100ms' }
    const edge = { name: 'edge', adapter: 'endpointslice', port: PORT, options }
    configFile = join(folder, 'sluice.yaml')
    await writeFile(configFile, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge] }))
  }, 90_000)

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
    await cluster?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Each version of the slice, in order, as any consumer gets them. */
  async function follow(): Promise<void> {
    versions.splice(0, Infinity, before)
    const watch = `${slices}?watch=1&resourceVersion=${before.metadata.resourceVersion}`
    const answer = await kubernetes.open('admin', 'GET', watch)
    cleanups.push(() => answer.destroy())
    createInterface({ input: answer }).on('line', (line) => versions.push((JSON.parse(line) as { object: SliceObject }).object))
  }
  /** Of each pod whether it was out, in each version, without repetitions; once all versions have come. */
  async function history(): Promise<Record<string, boolean[]>> {
    const last = (await read()).metadata.resourceVersion
    await vi.waitFor(() => expect(versions.at(-1)!.metadata.resourceVersion).toBe(last), { timeout: 10_000, interval: 20 })
    return Object.fromEntries(
      pods().map(({ metadata, status }) => {
        const states = versions.map(
          ({ endpoints }) => endpoints.find(({ addresses }) => addresses[0] === status!.podIP)!.conditions.ready === false,
        )
        return [metadata.name, states.filter((state, index) => index === 0 || state !== states[index - 1])]
      }),
    )
  }
  /** What a person wrote, without what the API server notes of each write. */
  function content({ metadata, ...rest }: SliceObject): object {
    const { resourceVersion: _1, generation: _2, managedFields: _3, ...own } = metadata as Record<string, unknown>
    return { metadata: own, ...rest }
  }

  function upgrade(workload: string, command = 'upgrade'): { child: ChildProcess; ended: Promise<unknown> } {
    const where = ['--config', configFile, '--kubeconfig', join(folder, 'kubeconfig')]
    const args = [SCRIPT, command, `statefulset/${workload}`, 'app=app:v2', ...where]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
    cleanups.push(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    })
    return { child, ended: once(child, 'close').then(([code]) => (code === 0 ? 'done' : `${code}: ${said}`)) }
  }
  const images = (name: string): (string | undefined)[] =>
    pods()
      .filter(({ metadata }) => metadata.name.startsWith(`${name}-`))
      .map(({ spec }) => spec.containers[0]?.image)

  test('two workloads at once in one slice: each pod is drained once and put back once, and the slice is as it was', async () => {
    expect(await Promise.all(WORKLOADS.map((name) => upgrade(name).ended))).toEqual(['done', 'done'])
    expect(await history()).toEqual(Object.fromEntries(PODS.map((name) => [name, ONCE])))
    expect(content(await read())).toEqual(content(before))
    expect(WORKLOADS.flatMap(images)).toEqual(PODS.map(() => 'app:v2'))
    // Negative control: a second drain of one pod is seen.
    for (const ready of [false, true]) {
      const slice = await read()
      slice.endpoints[0]!.conditions = { ready }
      await kubernetes.ask('PUT', `${slices}/edge-1`, slice)
    }
    expect((await history())[PODS[0]!]).toEqual([false, true, false, true, false])
  }, 120_000)

  test('a Service with a selector, or without the right to see it, is refused in the plan, and nothing is written', async () => {
    await writeFile(join(folder, 'edge.kubeconfig'), kubernetes.kubeconfig('stranger'), { mode: 0o600 })
    expect(await upgrade('web').ended).toMatch(/^3: .* has to allow (get services|list endpointslices\.discovery\.k8s\.io)/s)
    await writeFile(join(folder, 'edge.kubeconfig'), kubernetes.kubeconfig('sluice'), { mode: 0o600 })
    const path = slices.replace('/apis/discovery.k8s.io/v1', '/api/v1').replace('endpointslices', 'services/edge')
    const service = (await kubernetes.ask('GET', path)) as { spec: { selector?: object } }
    service.spec.selector = { app: 'web' }
    await kubernetes.ask('PUT', path, service)
    for (const command of ['plan', 'upgrade'])
      expect(await upgrade('web', command).ended).toMatch(/^3: .*edge has spec\.selector app=web.*Remove the selector/s)
    expect(await read()).toEqual(before)
    expect(images('web')).toEqual(['app:v1', 'app:v1', 'app:v1'])
  }, 60_000)

  test(`killed at ${KILLS} random moments: the same, whoever goes on`, async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { child, ended } = upgrade('web')
      await new Promise((resolve) => setTimeout(resolve, 1_000 + Math.random() * 4_000))
      child.kill('SIGKILL')
      await ended
    }
    expect(await upgrade('web').ended).toBe('done')
    const web = PODS.filter((name) => name.startsWith('web'))
    expect(await history()).toEqual(Object.fromEntries(PODS.map((name) => [name, web.includes(name) ? ONCE : [false]])))
    expect(content(await read())).toEqual(content(before))
    expect(images('web')).toEqual(web.map(() => 'app:v2'))
  }, 240_000)
})
