import { nodes as endpointNodes, pod as endpointPod, service } from '../../endpoints/testing/objects.ts'
import { controllerRules } from '../../endpoints/controller-rules.ts'
import { endpointsLabels, SERVICE_NAME, SLICE_MANAGED_BY, sliceLabels } from '../../endpoints/endpoint-labels.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import type { BalancedPod, Gathered, Read } from '../gathered.ts'
import type { StoredSlice } from '../../endpoints/stored.ts'
import type { Lease, Pod, Service } from '../objects.ts'

/** The time at which the doctor looks: noon of 2026-01-01. */
export const NOW_AT = Date.parse('2026-01-01T12:00:00Z')

export function agoText(ms: number): string {
  return new Date(NOW_AT - ms).toISOString()
}

export function read<Value>(value: Value): Read<Value> {
  return { ok: true, value }
}

/** A pod of statefulset/web with a probe, which has been Ready for an hour. */
export function pod(ordinal: number): Pod {
  const name = `web-${ordinal}`
  const made = endpointPod({
    metadata: { name, uid: `uid-of-${name}` },
    status: { podIP: `10.0.0.${ordinal + 1}`, podIPs: [{ ip: `10.0.0.${ordinal + 1}` }] },
  })
  return {
    ...made,
    metadata: {
      ...made.metadata,
      creationTimestamp: agoText(3_700_000),
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'uid-of-web', controller: true }],
    },
    spec: { ...made.spec, containers: [{ name: 'app', ports: [{ name: 'http', containerPort: 8080 }], readinessProbe: {} }] },
    status: {
      ...made.status,
      conditions: [
        { type: 'PodScheduled', status: 'True' },
        { type: 'ContainersReady', status: 'True' },
        { type: 'Ready', status: 'True', lastTransitionTime: agoText(3_600_000) } as { type: string; status: string },
      ],
    },
  }
}

const OLD = { creationTimestamp: agoText(3_700_000) }
/** A headless Service with a label of its own. */
export const web: Service = { ...service({ clusterIP: 'None' }, { labels: { team: 'shop' } }) }
const db: Service = service({ selector: {} }, { name: 'db', uid: 'uid-of-db' })
const outside: Service = service({ type: 'ExternalName', selector: {} }, { name: 'outside', uid: 'uid-of-outside' })

export function slice(of: Service, addresses: readonly string[], labels = sliceLabels(of)): StoredSlice {
  const { namespace, name } = of.metadata
  const endpoints = addresses.map((one) => ({ addresses: [one] }))
  return { metadata: { namespace, name: `${name}-x7k2p`, labels }, addressType: 'IPv4', endpoints }
}

export function lease(namespace: string, name: string, ageMs: number): Lease {
  const spec = { holderIdentity: `${name}_1`, leaseDurationSeconds: 15, renewTime: agoText(ageMs) }
  return { metadata: { namespace, name }, spec }
}

function balanced(ordinal: number): BalancedPod {
  return {
    uid: `uid-of-web-${ordinal}`,
    entries: [
      { target: `web/a${ordinal}@10.0.0.${ordinal + 1}:8080`, observation: { admin: 'in', routable: true, inFlight: 0 } },
    ],
  }
}

const webhook = (name: string, over: object): object => ({
  name,
  failurePolicy: 'Fail',
  clientConfig: { service: { namespace: 'guard', name: 'guard' } },
  rules: [{ apiGroups: [''], resources: ['pods'], operations: ['CREATE'], scope: 'Namespaced' }],
  ...over,
})

/** The data of a cluster in which nothing is wrong. */
export function healthy(): Gathered {
  const workload = { ...STATEFUL_SET, name: 'web', namespace: 'shop' }
  const finished = { id: 'r1', images: [], startedAt: agoText(90_000_000), finished: true }
  return {
    namespace: 'shop',
    nowAt: NOW_AT,
    readMs: 0,
    wanted: [],
    server: read({ version: 'v1.35.4', minor: 35, patch: 4, clock: { aheadMs: -300, uncertaintyMs: 510 } }),
    rights: read([{ namespace: 'shop', missing: [] }]),
    listed: {
      pods: read([pod(0), pod(1)]),
      services: read([{ ...web, metadata: { ...web.metadata, ...OLD } }, db, outside]),
      slices: read([
        slice(web, ['10.0.0.1', '10.0.0.2']),
        slice(db, ['192.0.2.7'], { [SERVICE_NAME]: 'db', [SLICE_MANAGED_BY]: 'ops' }),
      ]),
      endpoints: read([
        {
          metadata: {
            namespace: 'shop',
            name: 'web',
            labels: endpointsLabels(web, controllerRules(35)),
            managedFields: [{ manager: 'kube-controller-manager', fieldsV1: { 'f:subsets': {} } }],
          },
          subsets: [{ addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }] }],
        },
      ]),
      budgets: read([
        {
          metadata: { namespace: 'shop', name: 'web' },
          status: { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 },
        },
        // The budget selects no pods.
        { metadata: { namespace: 'shop', name: 'gone' }, status: { disruptionsAllowed: 0, expectedPods: 0 } },
      ]),
      namespaces: read(['shop', 'kube-system', 'guard'].map((name) => ({ metadata: { name } }))),
      nodes: read(
        endpointNodes.map(({ metadata }) => ({
          metadata,
          status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1.33.1' } },
        })),
      ),
      nodeLeases: read([lease('kube-node-lease', 'node-1', 9_000)]),
      systemLeases: read([lease('kube-system', 'kube-scheduler', 1_900), lease('kube-system', 'kube-controller-manager', 1_200)]),
      nodeEvents: read([]),
      controllerManagers: read([]),
      validatingWebhooks: read([
        {
          metadata: { name: 'guard' },
          webhooks: [
            // These webhooks select labels of pods, labels of namespaces, another kind, or deletions.
            // None is called for ordinary writes of pods.
            webhook('by-label.guard.dev', { objectSelector: { matchLabels: { guarded: 'yes' } } }),
            webhook('by-namespace.guard.dev', { namespaceSelector: { matchLabels: { guarded: 'yes' } } }),
            webhook('other-kind.guard.dev', { rules: [{ apiGroups: ['apps'], resources: ['*'], operations: ['*'] }] }),
            webhook('deletions.guard.dev', { rules: [{ apiGroups: [''], resources: ['pods'], operations: ['DELETE'] }] }),
          ] as never,
        },
      ]),
      mutatingWebhooks: read([
        {
          metadata: { name: 'inject' },
          webhooks: [
            webhook('inject.guard.dev', {
              failurePolicy: 'Ignore',
              namespaceSelector: {
                matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['guard', 'kube-system'] }],
              },
            }),
          ] as never,
        },
      ]),
    },
    webhookServers: new Map([['guard/guard', read(2)]]),
    templates: [
      read([
        { namespace: 'shop', workload: 'statefulset/web', strategy: 'OnDelete' },
        // The workload has no load balancer and no run, so its strategy does not matter.
        { namespace: 'shop', workload: 'statefulset/queue', strategy: 'RollingUpdate' },
      ]),
    ],
    workloads: new Map([0, 1, 2].map((ordinal) => [`uid-of-web-${ordinal}`, 'statefulset/web'])),
    probe: { namespace: 'shop', service: 'sluice-doctor-abc123', lagMs: 40 },
    balancers: [
      {
        name: 'edge',
        pods: [balanced(0), balanced(1)],
        strays: read([]),
        impossible: [],
        healthCheck: { everyMs: 30_000, failures: 2 },
      },
    ],
    records: read([
      {
        namespace: 'shop',
        status: { workloads: [{ workload, runs: [finished], pods: [] }], unreadable: [] },
        live: [],
        unneeded: read([
          {
            kind: 'ConfigMap',
            name: 'sluice-run-r1',
            reason: { code: 'run-finished', run: 'r1', at: agoText(1), undo: 'no-more' },
          },
        ]),
      },
    ]),
  }
}
