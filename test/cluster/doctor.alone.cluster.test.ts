import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { DoctorReport } from '../../src/doctor/report.ts'
import type { KubeObject } from './kube-api.ts'
import { pod, service, statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import { startUpgradeBed, type UpgradeBed } from './upgrade-bed.ts'

const NAME = 'doctor-alone'
const PLANTED = 'doctor-planted'
/** The default since Kubernetes 1.32. A controller manager that is no pod shows no other value. */
const GRACE_MS = 50_000
/** Each of these tests waits for a minute, after which the doctor tells a part that stands still from a part that is late. */
const IS_SLOW = process.env['SLUICE_SLOW'] !== undefined

/* The findings of the doctor about parts that the whole cluster needs, while they stand still. */
describeOnCluster('doctor, of nodes and the control plane', (cluster) => {
  let bed: UpgradeBed

  beforeAll(async () => {
    const objects = [statefulSet({ name: 'web', namespace: NAME, replicas: 1 }), service({ name: 'web', namespace: NAME })]
    bed = await startUpgradeBed(cluster(), { name: NAME, objects, app: 'web', count: 1 })
    await forgetEvents()
  })
  afterEach(async () => {
    const { kubelet, controllerManager, scheduler } = cluster()
    await Promise.all([kubelet.resume(), controllerManager.resume(), scheduler.resume()])
  })
  afterAll(() => bed.stop())

  /** Removes the Events of earlier tests. */
  function forgetEvents(): Promise<unknown> {
    return cluster().api.request('DELETE', '/api/v1/namespaces/default/events')
  }

  async function doctor(...args: string[]): Promise<string[]> {
    const given = ['doctor', '--config', bed.configFile, '--kubeconfig', cluster().kubeconfig.host, '-o', 'json', ...args]
    const { stdout } = await bed.start(given, { jsonl: false }).exit
    const { checks } = JSON.parse(stdout) as DoctorReport
    return checks.flatMap(({ findings }) => findings.map(({ code }) => code))
  }

  /** Waits until the doctor finds these codes. Further findings may follow from them. */
  function found(...codes: string[]): Promise<string[]> {
    return until(codes.join(', '), (are) => codes.every((code) => are.includes(code)))
  }

  function silent(...args: string[]): Promise<string[]> {
    return until('no finding', (are) => are.length === 0, ...args)
  }

  function until(what: string, is: (codes: string[]) => boolean, ...args: string[]): Promise<string[]> {
    const limits = { timeoutMs: 150_000, intervalMs: 1_000 }
    return cluster().api.waitFor(
      what,
      () => doctor(...args),
      (codes) => is(codes) && codes,
      limits,
    )
  }

  it('is silent while all stand as they should', async () => {
    expect(await doctor('--probe')).toEqual([])
  })

  it.runIf(IS_SLOW)(
    'finds a kubelet that stands still: its node, its heartbeat in two steps, and the silence once it is back',
    async () => {
      const { kubelet, info, api } = cluster()
      await kubelet.pause()
      await found('node-not-ready', 'heartbeat-late')
      await found('node-not-ready', 'heartbeat-missed')
      const lease = await api.get('Lease', info.nodeName!, 'kube-node-lease')
      expect(Date.now() - Date.parse(lease.spec.renewTime)).toBeGreaterThan(GRACE_MS)
      await kubelet.resume()
      await found('node-was-silent')
      await forgetEvents()
      expect(await silent()).toEqual([])
    },
  )

  it('finds a node with a kubelet of long ago, and one whose clock is ahead', async () => {
    const { api } = cluster()
    const taints = [{ key: 'sluice.dev/planted', effect: 'NoSchedule' }]
    await api.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: PLANTED }, spec: { unschedulable: true, taints } })
    const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady' }]
    const report = (kubeletVersion: string): Promise<KubeObject> =>
      api.patch('Node', PLANTED, undefined, { status: { conditions, nodeInfo: { kubeletVersion } } }, 'merge', 'status')
    try {
      await report('v1.20.0')
      await found('kubelet-version-apart')
      const { nodeInfo } = (await api.get('Node', cluster().info.nodeName!)).status
      const renewTime = new Date(Date.now() + 600_000).toISOString().replace('Z', '000Z')
      const spec = { holderIdentity: PLANTED, leaseDurationSeconds: 40, renewTime }
      const metadata = { name: PLANTED, namespace: 'kube-node-lease' }
      await api.apply({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
      await report(nodeInfo.kubeletVersion)
      await found('node-clock-ahead')
    } finally {
      await api.delete('Lease', PLANTED, 'kube-node-lease')
      await api.delete('Node', PLANTED)
    }
    await forgetEvents()
    expect(await silent()).toEqual([])
  })

  it('finds a grace period that a pod of the controller manager is told, and that is too short', async () => {
    const { api } = cluster()
    const command = ['kube-controller-manager', '--node-monitor-grace-period=3900ms']
    const metadata = { name: PLANTED, namespace: 'kube-system', labels: { component: 'kube-controller-manager' } }
    const containers = [{ name: 'told', image: 'localhost/app:v1', command }]
    await api.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata,
      spec: { containers, schedulingGates: [{ name: 'sluice.dev/planted' }] },
    })
    try {
      await found('grace-period-short')
    } finally {
      await api.delete('Pod', PLANTED, 'kube-system', { gracePeriodSeconds: 0 })
    }
    expect(await silent()).toEqual([])
  })

  it.runIf(IS_SLOW)('finds a scheduler that stands still, by a pod that waits, and by its Lease where it has one', async () => {
    const { scheduler, api } = cluster()
    await scheduler.pause()
    await api.apply(pod({ name: 'waits', namespace: NAME }))
    const renewTime = new Date(Date.now() - 60_000).toISOString().replace('Z', '000Z')
    const spec = { holderIdentity: 'a-scheduler', leaseDurationSeconds: 15, renewTime }
    const metadata = { name: 'kube-scheduler', namespace: 'kube-system' }
    await api.apply({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
    await found('control-plane-part-silent')
    await found('pods-without-scheduler')
    await api.delete('Lease', 'kube-scheduler', 'kube-system')
    await scheduler.resume()
    await api.waitForObject('Pod', 'waits', NAME, (one) => one.spec.nodeName)
    await api.delete('Pod', 'waits', NAME, { gracePeriodSeconds: 0 })
    expect(await silent()).toEqual([])
  })

  it.runIf(IS_SLOW)('finds a controller manager that stands still, by its probe, and by a Service that waits', async () => {
    const { controllerManager, api } = cluster()
    await controllerManager.pause()
    const waits = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'waits', namespace: NAME } }
    await api.apply({ ...waits, spec: { clusterIP: 'None', selector: { app: 'waits' }, ports: [{ port: 80 }] } })
    expect(await doctor('--probe')).toEqual(['endpoint-controller-stuck'])
    await found('services-without-controller')
    const slow = doctor('--probe')
    await api.waitFor(
      'the probe',
      () => api.list('Service', NAME, 'sluice.dev/doctor-probe'),
      ([one]) => one !== undefined && Date.now() - Date.parse(one.metadata.creationTimestamp) > 7_000,
    )
    await controllerManager.resume()
    expect(await slow).toEqual(['services-without-controller', 'endpoint-controller-slow'])
    await api.delete('Service', 'waits', NAME)
    expect(await silent('--probe')).toEqual([])
  })
})
