import { afterAll, beforeAll, expect, test } from 'vitest'
import { KUBERNETES_METRICS, type KubernetesMetric } from '../../src/telemetry/kubernetes-metrics.ts'
import { type Family, parseMetrics } from '../../src/telemetry/testing/parse-metrics.ts'
import { chosenVersion } from '../cluster/kubernetes-versions.ts'
import { type ControlPlane, startControlPlane } from './endpoints/control-plane.ts'
import { makeNodes } from './endpoints/play.ts'
import { findKubernetes } from './kubernetes.ts'
import { describeOn } from './program.ts'

/*
 * The programs of Kubernetes export the metrics that the rules read. The scheduler is left out; its
 * metric of leaders comes from shared code.
 */

const THERE_WITHIN_MS = 30_000

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let plane: ControlPlane

  beforeAll(async () => {
    plane = await startControlPlane(programs, {
      controllers: 'endpoints-controller,endpointslice-controller,node-lifecycle-controller',
      'leader-elect': 'true',
    })
    await makeNodes(plane)
    const [selector, ports] = [{ app: 'metrics' }, [{ port: 80 }]]
    await plane.ask('POST', '/api/v1/namespaces/default/services', { metadata: { name: 'metrics' }, spec: { selector, ports } })
  }, 60_000)
  afterAll(() => plane?.stop())

  const metricsOf: Partial<Record<KubernetesMetric['jobs'][number], () => Promise<string>>> = {
    apiserver: () => plane.ask('GET', '/metrics'),
    'kube-controller-manager': () => plane.managerMetrics(),
  }
  const listed = Object.entries<KubernetesMetric>(KUBERNETES_METRICS).flatMap(([name, metric]) =>
    metric.jobs.filter((job) => job in metricsOf).map((job) => ({ name, job, metric })),
  )

  async function family(name: string, job: keyof typeof metricsOf): Promise<Family | undefined> {
    return parseMetrics(await metricsOf[job]!()).get(name)
  }

  test.each(listed)('$job has $name, with its type and labels', async ({ name, job, metric }) => {
    await expect.poll(async () => (await family(name, job))?.samples.length ?? 0, { timeout: THERE_WITHIN_MS }).toBeGreaterThan(0)
    const found = (await family(name, job))!
    expect(found.type).toBe(metric.type)
    const labels = Object.keys(found.samples[0]!.labels).filter((label) => label !== 'le')
    expect(labels.toSorted()).toEqual([...metric.labels].toSorted())
  })

  test('the queues of both controllers have the names that the rules ask for', async () => {
    const queues = async (): Promise<unknown[]> =>
      (await family('workqueue_depth', 'kube-controller-manager'))!.samples.map(({ labels }) => labels['name'])
    await expect.poll(queues, { timeout: THERE_WITHIN_MS }).toEqual(expect.arrayContaining(['endpoint', 'endpoint_slice']))
  })

  test('its leader has the name that the rules ask for', async () => {
    const leaders = async () => (await family('leader_election_master_status', 'kube-controller-manager'))?.samples
    await expect
      .poll(leaders, { timeout: THERE_WITHIN_MS })
      .toEqual([{ name: 'leader_election_master_status', labels: { name: 'kube-controller-manager' }, value: 1 }])
  })

  test('control: a name that is not listed is not there', async () => {
    expect(await family('workqueue_length', 'kube-controller-manager')).toBeUndefined()
  })
})
