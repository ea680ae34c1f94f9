import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type KubernetesProcess, startKubernetes } from '../../adapters/conformance/beds/kubernetes-process.ts'
import type { SliceObject } from '../../adapters/conformance/beds/slice-front.ts'
import { readmeRules } from '../../adapters/endpointslice/testing/readme.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { findKubernetes } from '../products/kubernetes.ts'
import { describeOn } from '../products/program.ts'
import { type Outs, onceEach, withoutRepetitions } from './balancers/balancer.ts'
import { expectDone, PORT, type ProductBed, startProductBed, type Upgrade } from './product-bed.ts'
import { KILL_TIMEOUT_MS, KILLS, killAtRandomMoments, PODS_FOR_KILLS } from './random-kills.ts'

/*
 * Whole upgrades, by processes of their own. The pods are in the embedded cluster. A Service of another cluster with a real API server
 * leads to the pods of two workloads.
 */

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let kubernetes: KubernetesProcess
  let bed: ProductBed
  let begun: { config: string; image: string }
  let slices: string
  let before: SliceObject
  const versions: SliceObject[] = []
  const cleanups: (() => unknown)[] = []

  const read = async (): Promise<SliceObject> => (await kubernetes.ask('GET', `${slices}/edge-1`)) as SliceObject

  beforeAll(async () => {
    kubernetes = await startKubernetes({ programs, rules: readmeRules() })
  }, 60_000)
  afterAll(() => kubernetes?.stop())

  async function start(workloads: Readonly<Record<string, number>>): Promise<void> {
    bed = await startProductBed(workloads)
    cleanups.push(() => bed.stop())
    const made = (await kubernetes.ask('POST', '/api/v1/namespaces', { metadata: { generateName: 'edge-' } })) as SliceObject
    const namespace = made.metadata.name
    slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`
    const service = { metadata: { name: 'edge' }, spec: { ports: [{ port: 80 }] } }
    await kubernetes.ask('POST', `/api/v1/namespaces/${namespace}/services`, service)
    before = (await kubernetes.ask('POST', slices, {
      metadata: { name: 'edge-1', labels: { 'kubernetes.io/service-name': 'edge' }, annotations: { team: 'x' } },
      addressType: 'IPv4',
      ports: [{ port: PORT }],
      endpoints: bed.pods().map(({ status }, index) => ({
        addresses: [status!.podIP!],
        ...(index === 0 ? { conditions: { ready: true, serving: true } } : {}),
      })),
    })) as SliceObject
    await follow()
    await allow('sluice')
    const options = { namespace, service: 'edge', kubeconfig: './edge.kubeconfig', settle: '100ms' }
    const config = await bed.configure([{ name: 'edge', adapter: 'endpointslice', port: PORT, options }])
    begun = { config, image: bed.nextImage() }
  }

  /** Sets the user as which the upgrades reach the other cluster. */
  function allow(user: 'sluice' | 'stranger'): Promise<void> {
    return writeFile(join(bed.folder, 'edge.kubeconfig'), kubernetes.kubeconfig(user), { mode: 0o600 })
  }

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
  })

  /** Follows the versions of the slice in order, as any consumer gets them. */
  async function follow(): Promise<void> {
    versions.splice(0, Infinity, before)
    const watch = `${slices}?watch=1&resourceVersion=${before.metadata.resourceVersion}`
    const answer = await kubernetes.open('admin', 'GET', watch)
    cleanups.push(() => answer.destroy())
    createInterface({ input: answer }).on('line', (line) => versions.push((JSON.parse(line) as { object: SliceObject }).object))
  }
  /** Returns for each pod whether it was out in each version, without repetitions, after all versions have come. */
  async function history(): Promise<Outs> {
    const last = (await read()).metadata.resourceVersion
    await vi.waitFor(() => expect(versions.at(-1)!.metadata.resourceVersion).toBe(last), { timeout: 10_000, interval: 20 })
    const addresses = new Map(bed.pods().map(({ metadata, status }) => [metadata.name, status!.podIP!]))
    return withoutRepetitions(
      bed.names(),
      versions.map(
        ({ endpoints }) =>
          (pod) =>
            endpoints.find((endpoint) => endpoint.addresses[0] === addresses.get(pod))!.conditions.ready === false,
      ),
    )
  }
  /** Returns the content of the user, without the notes of the API server about each write. */
  function content({ metadata, ...rest }: SliceObject): object {
    const { resourceVersion: _1, generation: _2, managedFields: _3, ...own } = metadata as Record<string, unknown>
    return { metadata: own, ...rest }
  }

  async function expectRefused({ ended }: Upgrade, words: RegExp): Promise<void> {
    const { code, said } = await ended
    expect(code).toBe(3)
    expect(said).toMatch(words)
  }

  test('two workloads at once in one slice: each pod is drained once and put back once, and the slice is as it was', async () => {
    await start({ api: 3, web: 3 })
    await Promise.all(['api', 'web'].map((workload) => expectDone(bed.upgrade({ ...begun, workload }))))
    expect(await history()).toEqual(onceEach(bed.names()))
    expect(content(await read())).toEqual(content(before))
    expect(bed.images()).toEqual(bed.names().map(() => begun.image))
    // Negative control: a second drain of one pod is seen.
    for (const ready of [false, true]) {
      const slice = await read()
      slice.endpoints[0]!.conditions = { ready }
      await kubernetes.ask('PUT', `${slices}/edge-1`, slice)
    }
    expect((await history())['api-0']).toEqual([false, true, false, true, false])
  }, 120_000)

  test('a Service with a selector, or without the right to see it, is refused in the plan, and nothing is written', async () => {
    await start({ web: 3 })
    await allow('stranger')
    await expectRefused(bed.upgrade(begun), / has to allow (get services|list endpointslices\.discovery\.k8s\.io)/)
    await allow('sluice')
    const path = slices.replace('/apis/discovery.k8s.io/v1', '/api/v1').replace('endpointslices', 'services/edge')
    const service = (await kubernetes.ask('GET', path)) as { spec: { selector?: object } }
    service.spec.selector = { app: 'web' }
    await kubernetes.ask('PUT', path, service)
    for (const command of ['plan', 'upgrade'] as const)
      await expectRefused(bed.upgrade({ ...begun, command }), /edge has spec\.selector app=web.*Remove the selector/s)
    expect(await read()).toEqual(before)
    expect(bed.images()).toEqual(['app:v1', 'app:v1', 'app:v1'])
  }, 60_000)

  test(
    'killed at random moments: the same, whoever goes on',
    async () => {
      await start({ api: 1, web: PODS_FOR_KILLS })
      expect(await killAtRandomMoments(bed, () => bed.upgrade(begun))).toHaveLength(KILLS)
      await expectDone(bed.upgrade(begun))
      expect(await history()).toEqual({ 'api-0': [false], ...onceEach(bed.names('web')) })
      expect(content(await read())).toEqual(content(before))
      expect(bed.images('web')).toEqual(bed.names('web').map(() => begun.image))
    },
    KILL_TIMEOUT_MS,
  )
})
