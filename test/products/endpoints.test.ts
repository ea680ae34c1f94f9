import { afterAll, beforeAll, expect, test } from 'vitest'
import { controllerRules } from '../../src/endpoints/controller-rules.ts'
import { serviceEndpoints } from '../../src/endpoints/service-endpoints.ts'
import { endpointCodes } from '../../src/report/words/testing/endpoints.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { type ControlPlane, type Json, startControlPlane } from './endpoints/control-plane.ts'
import { difference, type Model, type Snapshot } from './endpoints/difference.ts'
import { LARGE, largeScene } from './endpoints/large-scene.ts'
import { planted } from './endpoints/planted.ts'
import { forEach, makeNodes, play } from './endpoints/play.ts'
import { createScene } from './endpoints/scene.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'

/*
 * Compares src/endpoints with the controllers of Kubernetes: random Services and pods, whose status the test writes. SLUICE_SCENES is the
 * number of scenes, SLUICE_SEED the first seed.
 */

const SCENES = Number(process.env['SLUICE_SCENES'] ?? 60)
const FIRST = Number(process.env['SLUICE_SEED'] ?? 1)
/** The name of a Service outside the test. Once its endpoints exist, the controllers have seen all earlier writes. */
const MARKER = 'marker'
const SETTLES_WITHIN_MS = 30_000

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  const rules = controllerRules(Number(chosenVersion().split('.')[1]))
  const model: Model = (service, { pods, nodes }) => serviceEndpoints({ service, pods, nodes, rules })
  let plane: ControlPlane
  let settled: readonly Snapshot[]

  beforeAll(async () => {
    plane = await startControlPlane(programs)
    await makeNodes(plane)
  }, 60_000)
  afterAll(() => plane?.stop())

  async function snapshots(): Promise<Snapshot[]> {
    const list = async (path: string): Promise<Json[]> => (await plane.ask('GET', path)).items
    const [nodes, services, pods, slices, endpoints] = await Promise.all([
      list('/api/v1/nodes'),
      list('/api/v1/services'),
      list('/api/v1/pods'),
      list('/apis/discovery.k8s.io/v1/endpointslices'),
      list('/api/v1/endpoints'),
    ])
    const by = (some: Json[]): Map<string, Json[]> => Map.groupBy(some, ({ metadata }: Json) => metadata.namespace)
    const [p, s, e] = [by(pods!), by(slices!), by(endpoints!)]
    return Array.from(by(services!), ([namespace, own]) => ({
      services: own,
      nodes: nodes!,
      pods: p.get(namespace) ?? [],
      slices: s.get(namespace) ?? [],
      endpoints: e.get(namespace) ?? [],
    })).filter(({ services: [first] }) => /^(scene|large)-/.test(first!.metadata.namespace))
  }

  let markers = 0

  async function untilMarked(): Promise<void> {
    const namespace = `${MARKER}-${markers++}`
    const pod = { spec: { nodeName: 'node-a', containers: [{ name: 'app', image: 'app:v1' }] } }
    const scene = {
      seed: 0,
      namespace,
      services: [{ metadata: { name: MARKER }, spec: { selector: { app: MARKER }, ports: [{ port: 80 }] } }],
      pods: [
        {
          object: { ...pod, metadata: { name: MARKER, labels: { app: MARKER } } },
          status: { phase: 'Running', podIP: '10.3.0.1', podIPs: [{ ip: '10.3.0.1' }] },
        },
      ],
      changes: [],
    }
    await play(plane, scene)
    await expect
      .poll(
        async () => {
          const [slices, endpoints] = await Promise.all([
            plane.ask('GET', `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`),
            plane.ask('GET', `/api/v1/namespaces/${namespace}/endpoints`),
          ])
          return slices.items[0]?.endpoints?.length === 1 && endpoints.items[0]?.subsets?.length === 1
        },
        { timeout: SETTLES_WITHIN_MS, interval: 50 },
      )
      .toBe(true)
  }

  test(
    `scenes ${FIRST} to ${FIRST + SCENES - 1}, and one above the limit of Endpoints: the controllers make what src/endpoints says`,
    { timeout: 60_000 + SCENES * 2_000 },
    async () => {
      const scenes = Array.from({ length: SCENES }, (_, index) => createScene(FIRST + index))
      await forEach(scenes, (scene) => play(plane, scene))
      await largeScene(plane)
      await untilMarked()
      await expect
        .poll(
          async () => {
            settled = await snapshots()
            return settled.flatMap((snapshot) => difference(snapshot, model))
          },
          { timeout: SETTLES_WITHIN_MS, interval: 500 },
        )
        .toEqual([])
      expect(settled).toHaveLength(SCENES + 1)
    },
  )

  test('each reason is reached, and pods are in and out', () => {
    const counts = new Map(endpointCodes.map((code): [string, number] => [code, 0]))
    const places = { pods: 0, 'in slices': 0, 'in Endpoints, ready': 0, 'in Endpoints, not ready': 0 }
    for (const snapshot of settled) {
      for (const service of snapshot.services) {
        const { reasons, pods } = model(service, snapshot)
        const all = [...reasons, ...pods.flatMap((one) => one.reasons)]
        for (const { code } of all) counts.set(code, counts.get(code)! + 1)
        places.pods += pods.length
        places['in slices'] += pods.filter(({ slices }) => slices.length > 0).length
        places['in Endpoints, ready'] += pods.filter(({ inEndpoints }) => inEndpoints === 'ready').length
        places['in Endpoints, not ready'] += pods.filter(({ inEndpoints }) => inEndpoints === 'not-ready').length
      }
    }
    const all = [...Object.entries(places), ...counts]
    console.log(all.map(([code, count]) => `${code}: ${count}`).join('\n'))
    expect(all.filter(([, count]) => !(count > 0))).toEqual([])
  })

  test('a pod of which the phase alone changes stays an endpoint until its Service is synced', async () => {
    const [namespace, at] = ['scene-phase', '/api/v1/namespaces/scene-phase']
    const status = { phase: 'Running', podIP: '10.5.0.1', podIPs: [{ ip: '10.5.0.1' }] }
    const object = {
      metadata: { name: 'pod-0', labels: { app: 'a' } },
      spec: { nodeName: 'node-a', containers: [{ name: 'app', image: 'app:v1' }] },
    }
    const services = [{ metadata: { name: 'web' }, spec: { selector: { app: 'a' }, ports: [{ port: 80 }] } }]
    await play(plane, { seed: 0, namespace, services, pods: [{ object, status }], changes: [] })
    const differences = async (): Promise<string[]> => {
      const own = (await snapshots()).filter(({ services: [first] }) => first!.metadata.namespace === namespace)
      return own.flatMap((snapshot) => difference(snapshot, model)).map((line) => line.slice(0, line.indexOf(' scene')))
    }
    await expect.poll(differences, { timeout: SETTLES_WITHIN_MS }).toEqual([])

    await plane.ask('PATCH', `${at}/pods/pod-0/status`, { status: { phase: 'Failed' } })
    await untilMarked()
    // Both still have the pod, and should have none: the empty slice, and no subset.
    expect(await differences()).toEqual(['+', '+', '-'])

    await plane.ask('PATCH', `${at}/services/web`, { metadata: { annotations: { touched: 'again' } } })
    await expect.poll(differences, { timeout: SETTLES_WITHIN_MS }).toEqual([])
  })

  test('of several subsets above the limit, each keeps its share, but for the rest of a division', async () => {
    const ports = [{ port: 80, targetPort: 'http' }]
    await plane.ask('POST', `/api/v1/namespaces/${LARGE}/services`, {
      metadata: { name: 'split' },
      spec: { selector: { app: 'a' }, ports },
    })
    const counts = async (): Promise<{ real: number[][]; expected: number[][] }> => {
      const snapshot = (await snapshots()).find(({ services: [first] }) => first!.metadata.namespace === LARGE)!
      const service = snapshot.services.find(({ metadata }) => metadata.name === 'split')!
      const real = snapshot.endpoints.find(({ metadata }) => metadata.name === 'split')
      const of = (subsets: readonly Json[] = []): number[][] =>
        subsets
          .map(({ ports: [{ port }], addresses, notReadyAddresses }) => [port, addresses.length, notReadyAddresses.length])
          .toSorted(([a], [b]) => a - b)
      return { real: of(real?.subsets), expected: of(model(service, snapshot).made!.endpoints.subsets) }
    }
    await expect.poll(async () => (await counts()).real.length, { timeout: SETTLES_WITHIN_MS }).toBe(2)
    const { real, expected } = await counts()
    const sum = (some: number[][]): number => some.reduce((all, [, ready, notReady]) => all + ready! + notReady!, 0)
    expect([sum(real), sum(expected)]).toEqual([1_000, 1_000])
    expect(real.map(([port, ready]) => [port, ready])).toEqual(expected.map(([port, ready]) => [port, ready]))
    const off = real.map(([, , notReady], index) => Math.abs(notReady! - expected[index]![2]!))
    expect(Math.max(...off)).toBeLessThanOrEqual(1)
  })

  test.each(Object.entries(planted))('control: with an error planted, %s, the controllers differ', (_, plant) => {
    const found = settled.flatMap((snapshot) => difference(snapshot, plant(model)))
    console.log(`${found.length} differences, as: ${found[0]}`)
    expect(found.length).toBeGreaterThan(0)
  })
})
