import type { FindingCode } from '../../src/doctor/findings.ts'
import type { KubeObject } from './kube-api.ts'
import { appPort, pod } from './manifests.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { isReady } from './workloads.ts'

/* Faults of statefulset/web with two pods, its Service, its budget and its HAProxy, each planted alone and healed. */

export interface Fault {
  /** The codes of the findings, in the order of the checks. The doctor finds no others. */
  codes: FindingCode[]
  /** The finding appears once the pods have settled. */
  takesAMinute?: true
  plant(bed: UpgradeBed): Promise<unknown>
  heal(bed: UpgradeBed): Promise<unknown>
}

const ADMISSION = 'admissionregistration.k8s.io/v1'
const NOBODY = '192.0.2.9'
const LABEL = 'sluice.dev/ledger'

export function faultsIn(namespace: string): Fault[] {
  const named = (name: string): KubeObject => ({ name, namespace })

  return [
    thing(['selectorless-without-endpoints'], {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: named('far'),
      spec: { ports: [{ port: 80 }] },
    }),
    thing(['foreign-slice'], {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...named('web-by-hand'), labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: [NOBODY] }],
      ports: [{ name: 'http', port: appPort, protocol: 'TCP' }],
    }),
    {
      codes: ['endpoints-by-hand'],
      plant: ({ cluster: { api } }) =>
        api.patch('Endpoints', 'web', namespace, [{ op: 'add', path: '/subsets/0/addresses/-', value: { ip: NOBODY } }], 'json'),
      // The next change of a label makes the controller write the Endpoints anew.
      heal: touchService,
    },
    {
      codes: ['endpoints-labels-differ'],
      plant: ({ cluster: { api } }) =>
        api.patch('Endpoints', 'web', namespace, { metadata: { labels: { injected: 'yes' } } }, 'merge'),
      heal: touchService,
    },
    {
      codes: ['rolling-update'],
      plant: (bed) => updateStrategy(bed, { type: 'RollingUpdate' }),
      heal: (bed) => updateStrategy(bed, { type: 'OnDelete', rollingUpdate: null }),
    },
    {
      codes: ['budget-allows-nothing'],
      plant: (bed) => budget(bed, 2, ({ desiredHealthy }) => desiredHealthy === 2),
      heal: (bed) => budget(bed, 1, ({ disruptionsAllowed }) => disruptionsAllowed === 1),
    },
    {
      codes: ['server-of-unready-pod', 'budget-used-up'],
      takesAMinute: true,
      async plant(bed) {
        await beUnready(bed, 'web-0', '10m')
        await budget(bed, 1, ({ disruptionsAllowed }) => disruptionsAllowed === 0)
        await untilSettled(bed, 'Pod', 'web-0', 'Ready', 'False')
        await untilSettled(bed, 'PodDisruptionBudget', 'web', 'DisruptionAllowed', 'False')
      },
      async heal(bed) {
        await beUnready(bed, 'web-0', '0s')
        await budget(bed, 1, ({ disruptionsAllowed }) => disruptionsAllowed === 1)
      },
    },
    webhook(['webhook-fails-closed'], { clientConfig: { url: 'https://127.0.0.1:1/' } }, 'endpointslices'),
    webhook(['webhook-without-server', 'webhook-fails-closed'], {
      clientConfig: { service: { namespace: 'kube-system', name: 'no-such-guard' } },
    }),
    webhook(['webhook-locks-itself-out', 'webhook-fails-closed'], { clientConfig: { service: { namespace, name: 'web' } } }),
    webhook(['webhook-on-own-namespace'], {
      clientConfig: { service: { namespace, name: 'web' } },
      failurePolicy: 'Ignore',
    }),
    {
      ...thing(['no-readiness-probe'], bare(namespace)),
      async plant({ cluster: { api } }) {
        await api.apply(bare(namespace))
        await api.waitForObject('Pod', 'bare', namespace, ({ status }) => status.podIP)
      },
      async heal({ cluster: { api } }) {
        await api.delete('Pod', 'bare', namespace, { gracePeriodSeconds: 0 })
        await api.waitFor(
          'the bare pod to be gone',
          () => api.list('Pod', namespace),
          (pods) => pods.length === 2,
        )
      },
    },
    {
      codes: ['server-without-pod'],
      plant: (bed) => servers(bed, (own) => [...own, { name: 'gone', address: `${NOBODY}:${appPort}` }]),
      heal: (bed) => servers(bed, (own) => own),
    },
    {
      codes: ['server-unhealthy'],
      async plant(bed) {
        await untilSettled(bed, 'Pod', 'web-1', 'Ready', 'True')
        await bed.haproxy.ask('set server web/web-1 health down')
      },
      heal: ({ haproxy }) => haproxy.ask('set server web/web-1 health up'),
    },
    {
      codes: ['pod-without-server'],
      takesAMinute: true,
      async plant(bed) {
        await servers(bed, (own) => own.slice(0, 1))
        await untilSettled(bed, 'Pod', 'web-1', 'Ready', 'True')
      },
      heal: (bed) => servers(bed, (own) => own),
    },
    thing(['record-unreadable'], {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...named('sluice-run-torn'), labels: { [LABEL]: 'torn' } },
      data: { header: '{"run": "torn"' },
    }),
    thing(['records-unneeded'], {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...named('sluice-run-lost-1'), labels: { [LABEL]: 'lost' } },
      data: {},
    }),
    {
      codes: ['pod-needs-operator'],
      plant: ({ cluster: { api } }) => journal(api, 'no journal'),
      heal: ({ cluster: { api } }) => journal(api, null),
    },
  ]

  function webhook(codes: FindingCode[], over: object, resource = 'pods'): Fault {
    return thing(codes, {
      apiVersion: ADMISSION,
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: `${namespace}-planted` },
      webhooks: [
        {
          name: 'planted.sluice.example',
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
          rules: [
            {
              apiGroups: [resource === 'pods' ? '' : 'discovery.k8s.io'],
              apiVersions: ['v1'],
              operations: ['CREATE'],
              resources: [resource],
            },
          ],
          ...over,
        },
      ],
    })
  }

  function updateStrategy({ cluster: { api } }: UpgradeBed, strategy: object): Promise<unknown> {
    return api.patch('StatefulSet', 'web', namespace, { spec: { updateStrategy: strategy } }, 'merge')
  }

  async function budget(
    { cluster: { api } }: UpgradeBed,
    minAvailable: number,
    is: (status: KubeObject) => boolean,
  ): Promise<void> {
    await api.patch('PodDisruptionBudget', 'web', namespace, { spec: { minAvailable } }, 'merge')
    await api.waitForObject('PodDisruptionBudget', 'web', namespace, ({ status }) => status !== undefined && is(status))
  }

  async function beUnready({ cluster }: UpgradeBed, name: string, duration: string): Promise<void> {
    const { status } = await cluster.api.get('Pod', name, namespace)
    const forward = await cluster.forward(`${status.podIP}:${appPort}`)
    await fetch(`http://${forward.address}/unready?for=${duration}`, { method: 'POST' })
    await forward.close()
    await cluster.api.waitForObject('Pod', name, namespace, (one) => isReady(one) === (duration === '0s'))
  }

  async function untilSettled({ cluster }: UpgradeBed, kind: string, name: string, type: string, is: string): Promise<void> {
    await cluster.api.waitForObject(kind, name, namespace, (one) => isSettled(one, type, is), { timeoutMs: 90_000 })
  }

  async function servers(bed: UpgradeBed, change: (own: Server[]) => Server[]): Promise<void> {
    const pods = await bed.pods()
    const own = pods.map(({ metadata, status }) => ({ name: metadata.name, address: `${status.podIP}:${appPort}` }))
    bed.haproxy.setServers(change(own))
    await bed.haproxy.reload()
  }

  function journal(api: UpgradeBed['cluster']['api'], value: string | null): Promise<unknown> {
    return api.patch('Pod', 'web-0', namespace, { metadata: { annotations: { 'sluice.dev/journal': value } } }, 'merge')
  }

  async function touchService({ cluster: { api } }: UpgradeBed): Promise<void> {
    const { metadata } = await api.get('Service', 'web', namespace)
    const round = String(Number(metadata.labels.round ?? 0) + 1)
    await api.patch('Service', 'web', namespace, { metadata: { labels: { round } } }, 'merge')
    await api.waitForObject('Endpoints', 'web', namespace, (one) => one.metadata.labels?.round === round)
  }
}

interface Server {
  name: string
  address: string
}

/** A fault that lasts while an object exists. */
function thing(codes: FindingCode[], object: KubeObject): Fault {
  const { kind, metadata } = object
  return {
    codes,
    plant: ({ cluster: { api } }) => api.apply(object),
    heal: ({ cluster: { api } }) => api.delete(kind, metadata.name, metadata.namespace),
  }
}

function bare(namespace: string): KubeObject {
  return pod({ name: 'bare', namespace, probe: false, labels: { app: 'web' } })
}

/** The condition has not changed for the minute in which the doctor does not report it. */
function isSettled({ status }: KubeObject, type: string, is: string): boolean {
  const found = status.conditions.find((one: { type: string }) => one.type === type)
  return found?.status === is && Date.now() - Date.parse(found.lastTransitionTime) > 62_000
}
