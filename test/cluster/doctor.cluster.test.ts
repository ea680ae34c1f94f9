import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { FindingCode } from '../../src/doctor/findings.ts'
import type { DoctorReport } from '../../src/doctor/report.ts'
import type { KubeObject } from './kube-api.ts'
import { appPort, pod, service, statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import { startUpgradeBed, type UpgradeBed } from './upgrade-bed.ts'

const NAME = 'doctor'
const labels = { team: 'shop' }

interface Fault {
  code: FindingCode
  plant(api: UpgradeBed['cluster']['api']): Promise<unknown>
  heal(api: UpgradeBed['cluster']['api']): Promise<unknown>
}

/** Objects that are a fault while they are there. */
function thing(code: FindingCode, object: KubeObject): Fault {
  const { kind, metadata } = object
  return {
    code,
    plant: (api) => api.apply(object),
    heal: (api) => api.delete(kind, metadata.name, metadata.namespace),
  }
}

const named = (name: string): KubeObject => ({ name, namespace: NAME })

const FAULTS: Fault[] = [
  thing('selectorless-without-endpoints', {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: named('far'),
    spec: { ports: [{ port: 80 }] },
  }),
  thing('foreign-slice', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...named('web-by-hand'), labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.9'] }],
    ports: [{ name: 'http', port: appPort, protocol: 'TCP' }],
  }),
  {
    code: 'endpoints-by-hand',
    plant: (api) =>
      api.patch('Endpoints', 'web', NAME, [{ op: 'add', path: '/subsets/0/addresses/-', value: { ip: '192.0.2.9' } }], 'json'),
    // The next change of a label makes the controller write them anew.
    heal: (api) => touch(api),
  },
  {
    code: 'endpoints-labels-differ',
    plant: (api) => api.patch('Endpoints', 'web', NAME, { metadata: { labels: { injected: 'yes' } } }, 'merge'),
    heal: (api) => touch(api),
  },
  {
    code: 'rolling-update',
    plant: (api) => api.patch('StatefulSet', 'web', NAME, { spec: { updateStrategy: { type: 'RollingUpdate' } } }, 'merge'),
    heal: (api) =>
      api.patch('StatefulSet', 'web', NAME, { spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } }, 'merge'),
  },
  {
    code: 'budget-allows-nothing',
    async plant(api) {
      await api.patch('PodDisruptionBudget', 'web', NAME, { spec: { minAvailable: 2 } }, 'merge')
      await api.waitForObject('PodDisruptionBudget', 'web', NAME, ({ status }) => status?.desiredHealthy === 2)
    },
    async heal(api) {
      await api.patch('PodDisruptionBudget', 'web', NAME, { spec: { minAvailable: 1 } }, 'merge')
      await api.waitForObject('PodDisruptionBudget', 'web', NAME, ({ status }) => status?.disruptionsAllowed === 1)
    },
  },
  thing('webhook-fails-closed', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: `${NAME}-planted` },
    webhooks: [
      {
        name: 'planted.sluice.example',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { url: 'https://127.0.0.1:1/' },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAME } },
        rules: [{ apiGroups: ['discovery.k8s.io'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['endpointslices'] }],
      },
    ],
  }),
  {
    ...thing('no-readiness-probe', pod({ name: 'bare', namespace: NAME, probe: false, labels: { app: 'web' } })),
    async plant(api) {
      await api.apply(pod({ name: 'bare', namespace: NAME, probe: false, labels: { app: 'web' } }))
      await api.waitForObject('Pod', 'bare', NAME, ({ status }) => status.podIP)
    },
  },
]

async function touch(api: UpgradeBed['cluster']['api']): Promise<void> {
  const { metadata } = await api.get('Service', 'web', NAME)
  const round = String(Number(metadata.labels.round ?? 0) + 1)
  await api.patch('Service', 'web', NAME, { metadata: { labels: { round } } }, 'merge')
  await api.waitForObject('Endpoints', 'web', NAME, (one) => one.metadata.labels?.round === round)
}

/** Silent where all is well; each planted fault is found by its code, and nothing besides. */
describeOnCluster('doctor', (cluster) => {
  let bed: UpgradeBed

  beforeAll(async () => {
    const web = service({ name: 'web', namespace: NAME })
    const objects = [
      statefulSet({ name: 'web', namespace: NAME, replicas: 2 }),
      { ...web, metadata: { ...web.metadata, labels } },
      {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: named('web'),
        spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
      },
    ]
    bed = await startUpgradeBed(cluster(), { name: NAME, objects, app: 'web', count: 2 })
    await cluster().api.waitForObject('PodDisruptionBudget', 'web', NAME, ({ status }) => status?.disruptionsAllowed === 1)
  })
  afterAll(() => bed.stop())

  async function doctor(...args: string[]): Promise<{ code: number | null; report: DoctorReport }> {
    const admin = ['--kubeconfig', cluster().kubeconfig.host]
    const given = ['doctor', 'statefulset/web', '--config', bed.configFile, ...admin, '-o', 'json', ...args]
    const { code, stdout, stderr } = await bed.start(given, { jsonl: false }).exit
    expect(stderr).toBe('')
    return { code, report: JSON.parse(stdout) as DoctorReport }
  }

  const codes = ({ checks }: DoctorReport): string[] => checks.flatMap(({ findings }) => findings.map(({ code }) => code))

  it('is silent on a healthy cluster, with a probe, as its administrator', async () => {
    const { code, report } = await doctor('--probe', '--strict')
    expect(report.checks.flatMap(({ findings }) => findings)).toEqual([])
    expect(code).toBe(0)
    // Controllers without leader election have no Leases.
    expect(report.checks.filter(({ outcome }) => outcome === 'skipped').map(({ check }) => check)).toEqual([
      'scheduler',
      'controller-manager',
    ])
    expect((await cluster().api.list('Service', NAME)).map(({ metadata }) => metadata.name)).toEqual(['web'])
    expect(bed.effects()).toEqual({})
  })

  it.each(FAULTS)('finds $code', async ({ code, plant, heal }) => {
    const { api } = cluster()
    await plant(api)
    try {
      expect(codes((await doctor()).report)).toEqual([code])
    } finally {
      await heal(api)
    }
  })

  it('is silent again once all of them are healed', async () => {
    const { api } = cluster()
    await api.waitFor(
      'the pods of the planted faults',
      () => api.list('Pod', NAME),
      (pods) => pods.length === 2,
    )
    expect(codes((await doctor()).report)).toEqual([])
  })

  it('says what the Role of a run does not allow to look at, and finds the rest', async () => {
    const { code, stdout } = await bed.start(['doctor', 'statefulset/web', '--config', bed.configFile, '-o', 'json'], {
      jsonl: false,
    }).exit
    const { checks, outcome } = JSON.parse(stdout) as DoctorReport
    expect([code, outcome]).toEqual([0, 'passed'])
    const skipped = checks.flatMap((check) => check.skipped.map((one) => one.code))
    expect(new Set(skipped)).toEqual(new Set(['no-right', 'probe-not-asked-for']))
    expect(checks.find(({ check }) => check === 'rights')!.outcome).toBe('passed')
  })

  it('finds a load balancer that is not there', async () => {
    const file = join(cluster().info.dir, 'doctor-gone.yaml')
    const options = { socket: join(cluster().info.dir, 'no-such.sock'), backend: 'web' }
    const loadBalancers = [{ name: 'gone', adapter: 'haproxy', port: appPort, options }]
    await writeFile(file, JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
    const { code, report } = await doctor('--config', file)
    expect(codes(report)).toEqual(['load-balancer-unreachable'])
    expect(code).toBe(3)
  })
})
