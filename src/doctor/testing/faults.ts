import type { FindingCode } from '../findings.ts'
import type { Gathered } from '../gathered.ts'
import { agoText, healthy, lease, pod, read, slice, web } from './healthy.ts'

// A test breaks objects of any type.
// oxlint-disable-next-line no-explicit-any
type Broken = any

/** Creates a cluster with one fault. */
function broken(change: (gathered: Broken) => void): Gathered {
  const gathered = structuredClone(healthy()) as Broken
  change(gathered)
  return gathered as Gathered
}

const said = (text: string): object => ({ code: 'error', said: text })
const add = (key: keyof Gathered['listed'], ...some: unknown[]) =>
  broken(({ listed }) => {
    listed[key].value.push(...some)
  })
const guarding = (over: object): object => ({
  metadata: { name: 'planted' },
  webhooks: [
    {
      name: 'planted.guard.dev',
      clientConfig: { service: { namespace: 'guard', name: 'guard' } },
      rules: [{ apiGroups: ['*'], resources: ['*'], operations: ['*'], scope: '*' }],
      ...over,
    },
  ],
})
const CONDITIONS = [{ name: 'no-pods', expression: "request.resource.resource != 'pods'" }]
const notIn = (...values: string[]): object => ({
  matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'NotIn', values }],
})
const openPod = (over: object): object => ({
  uid: 'uid-of-web-0',
  name: 'web-0',
  state: 'drain',
  run: 'r2',
  attempt: 1,
  out: true,
  reasons: [],
  ...over,
})
const openRun = { id: 'r2', images: [], startedAt: agoText(60_000), finished: false }
const ofWeb = (change: (report: Broken) => void) => broken(({ records }) => change(records.value[0].status.workloads[0]))
const edge = (change: (balancer: Broken) => void) => broken(({ balancers }) => change(balancers[0]))

/** Clusters with each fault. The compiler demands one for each code, and each cluster has that finding and no other. */
export const FAULTS: Readonly<Record<FindingCode, readonly Gathered[]>> = {
  'api-unreachable': [
    broken((gathered) => {
      const unread = { ok: false, because: { code: 'api-server-not-read' } }
      gathered.unreachable = said('connect ECONNREFUSED 127.0.0.1:6443')
      for (const part of ['server', 'rights', 'records']) gathered[part] = unread
      for (const kind of Object.keys(gathered.listed)) gathered.listed[kind] = unread
      gathered.templates = [unread]
      delete gathered.balancers
      delete gathered.probe
    }),
  ],
  'rights-missing': [
    broken(({ rights }) => {
      rights.value[0].missing = ['patch pods', 'create leases.coordination.k8s.io']
    }),
  ],
  'clock-differs': [-30_000, 4_000].map((aheadMs) =>
    broken(({ server }) => {
      server.value.clock.aheadMs = aheadMs
    }),
  ),
  'version-untested': [
    broken(({ server, listed }) => {
      server.value = { version: 'v1.27.3', minor: 27, patch: 3 }
      server.value.clock = { aheadMs: 0, uncertaintyMs: 500 }
      listed.nodes.value[0].status.nodeInfo.kubeletVersion = 'v1.27.3'
      // The controller of this version does not know the label.
      delete listed.endpoints.value[0].metadata.labels['endpoints.kubernetes.io/managed-by']
    }),
  ],
  'kubelet-version-apart': ['v1.31.0', 'v1.36.0'].map((version) =>
    broken(({ listed }) => {
      listed.nodes.value[0].status.nodeInfo.kubeletVersion = version
    }),
  ),
  'webhook-freeze': [
    broken(({ server, listed }) => {
      Object.assign(server.value, { version: 'v1.31.1', minor: 31, patch: 1 })
      listed.nodes.value[0].status.nodeInfo.kubeletVersion = 'v1.31.1'
      delete listed.endpoints.value[0].metadata.labels['endpoints.kubernetes.io/managed-by']
      const rules = [{ apiGroups: [''], resources: ['endpoints'], operations: ['UPDATE'], scope: '*' }]
      listed.mutatingWebhooks.value.push(guarding({ failurePolicy: 'Ignore', namespaceSelector: notIn('guard'), rules }))
    }),
    broken(({ server, listed }) => {
      Object.assign(server.value, { version: 'v1.31.1', minor: 31, patch: 1 })
      listed.nodes.value[0].status.nodeInfo.kubeletVersion = 'v1.31.1'
      delete listed.endpoints.value[0].metadata.labels['endpoints.kubernetes.io/managed-by']
      const rules = [{ apiGroups: [''], resources: ['endpoints'], operations: ['UPDATE'], scope: '*' }]
      listed.mutatingWebhooks.value.push(
        guarding({ failurePolicy: 'Ignore', namespaceSelector: notIn('guard'), rules, matchConditions: CONDITIONS }),
      )
    }),
  ],
  'webhook-fails-closed': [
    add('validatingWebhooks', guarding({ namespaceSelector: notIn('guard') })),
    add(
      'mutatingWebhooks',
      guarding({
        failurePolicy: 'Fail',
        namespaceSelector: notIn('guard'),
        timeoutSeconds: 3,
        rules: [{ apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], operations: ['UPDATE'] }],
      }),
    ),
  ],
  'webhook-without-server': [
    broken(({ listed, webhookServers }) => {
      listed.validatingWebhooks.value.push(guarding({ namespaceSelector: notIn('guard') }))
      webhookServers.set('guard/guard', read(0))
    }),
    broken(({ listed, webhookServers }) => {
      listed.validatingWebhooks.value.push(guarding({ namespaceSelector: notIn('guard'), matchConditions: CONDITIONS }))
      webhookServers.set('guard/guard', read(0))
    }),
  ],
  'webhook-locks-itself-out': [
    add('validatingWebhooks', guarding({ namespaceSelector: notIn('shop') })),
    add('validatingWebhooks', guarding({ namespaceSelector: notIn('shop'), matchConditions: CONDITIONS })),
  ],
  'webhook-on-own-namespace': [add('mutatingWebhooks', guarding({ failurePolicy: 'Ignore' }))],
  'grace-period-short': [
    broken(({ listed }) => {
      const containers = [{ name: 'c', command: ['kube-controller-manager'], args: ['--node-monitor-grace-period', '12s'] }]
      listed.controllerManagers.value = [{ spec: { containers } }]
      listed.nodeLeases.value = [lease('kube-node-lease', 'node-1', 3_000)]
    }),
  ],
  'heartbeat-late': [
    broken(({ listed }) => {
      listed.nodeLeases.value = [lease('kube-node-lease', 'node-1', 26_000)]
    }),
    // The kubelet was silent for longer than the grace period, and reports again.
    broken((gathered) => {
      gathered.listed.nodeLeases.value = [lease('kube-node-lease', 'node-1', 51_000)]
      gathered.secondLook = read([lease('kube-node-lease', 'node-1', -3_000)])
    }),
    // A flag of the controller manager sets a shorter grace period.
    broken(({ listed }) => {
      const containers = [{ name: 'c', command: ['kube-controller-manager', '--node-monitor-grace-period=16s'] }]
      listed.controllerManagers.value = [{ spec: { containers } }]
    }),
  ],
  'heartbeat-missed': [
    broken(({ listed }) => {
      listed.nodeLeases.value = [lease('kube-node-lease', 'node-1', 51_000)]
    }),
    broken((gathered) => {
      gathered.listed.nodeLeases.value = [lease('kube-node-lease', 'node-1', 51_000)]
      gathered.secondLook = gathered.listed.nodeLeases
    }),
  ],
  'node-clock-ahead': [
    broken(({ listed }) => {
      listed.nodeLeases.value = [lease('kube-node-lease', 'node-1', -20_000)]
    }),
  ],
  'node-clock-behind': [
    broken((gathered) => {
      gathered.listed.nodeLeases.value = [lease('kube-node-lease', 'node-1', 64_000)]
      gathered.secondLook = read([lease('kube-node-lease', 'node-1', 54_000)])
    }),
  ],
  'node-not-ready': [
    broken(({ listed }) => {
      listed.nodes.value[0].status.conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }]
    }),
    broken(({ listed }) => {
      listed.nodes.value[0].status.conditions = [{ type: 'Ready', status: 'False', reason: 'KubeletNotReady' }]
    }),
    // The node restarts, or an autoscaler removes it.
    broken(({ listed }) => {
      const since = { reason: 'KubeletNotReady', lastTransitionTime: agoText(40_000) }
      listed.nodes.value[0].status.conditions = [{ type: 'Ready', status: 'False', ...since }]
    }),
    broken(({ listed }) => {
      const since = { reason: 'NodeStatusUnknown', lastTransitionTime: agoText(600_000) }
      listed.nodes.value[0].status.conditions = [{ type: 'Ready', status: 'Unknown', ...since }]
    }),
  ],
  'node-was-silent': [
    add('nodeEvents', {
      metadata: { namespace: 'default', name: 'node-1.17' },
      reason: 'NodeNotReady',
      involvedObject: { kind: 'Node', name: 'node-1' },
      count: 2,
      lastTimestamp: agoText(600_000),
    }),
  ],
  'control-plane-part-silent': [
    broken(({ listed }) => {
      listed.systemLeases.value[0] = lease('kube-system', 'kube-scheduler', 240_000)
    }),
    broken(({ listed }) => {
      listed.systemLeases.value[1] = lease('kube-system', 'kube-controller-manager', 31_000)
    }),
  ],
  'pods-without-scheduler': [
    broken(({ listed }) => {
      const { metadata, spec } = pod(2)
      listed.pods.value.push({ metadata, spec: { ...spec, nodeName: undefined }, status: { phase: 'Pending' } })
    }),
  ],
  'services-without-controller': [
    broken(({ listed }) => {
      listed.slices.value.shift()
    }),
  ],
  'endpoint-controller-slow': [
    broken(({ probe }) => {
      probe.lagMs = 12_000
    }),
  ],
  'endpoint-controller-stuck': [
    broken((gathered) => {
      gathered.probe = { namespace: 'shop', service: 'sluice-doctor-abc123', waitedMs: 30_010 }
    }),
  ],
  'probe-refused': [
    broken((gathered) => {
      gathered.probe = { namespace: 'shop', service: 'sluice-doctor-abc123', refused: said('no') }
    }),
  ],
  'probe-left': [
    broken(({ probe }) => {
      probe.left = said('no answer')
    }),
  ],
  'foreign-slice': [add('slices', slice(web, ['192.0.2.9'], { 'kubernetes.io/service-name': 'web' }))],
  'endpoints-by-hand': [
    broken(({ listed }) => {
      const [own] = listed.endpoints.value
      own.metadata.managedFields.push({ manager: 'kubectl-edit', time: agoText(5_000), fieldsV1: { 'f:subsets': {} } })
      own.subsets[0].addresses.push({ ip: '192.0.2.9' })
    }),
  ],
  'selectorless-without-endpoints': [
    broken(({ listed }) => {
      listed.slices.value.pop()
    }),
    broken(({ listed }) => {
      listed.slices.value[1].endpoints = []
    }),
  ],
  'endpoints-labels-differ': [
    broken(({ listed }) => {
      listed.endpoints.value[0].metadata.labels.injected = 'yes'
    }),
    broken(({ listed }) => {
      listed.slices.value[0].metadata.labels.injected = 'yes'
    }),
    // The Service itself has a label of the controller.
    broken(({ listed }) => {
      listed.services.value[0].metadata.labels['service.kubernetes.io/headless'] = ''
    }),
  ],
  'load-balancer-unreachable': [
    edge((one) => {
      Object.assign(one, { pods: [], unread: { because: said('connect ECONNREFUSED'), refuses: false } })
    }),
  ],
  'load-balancer-refuses': [
    edge((one) => {
      Object.assign(one, { pods: [], unread: { because: said('403 Forbidden'), refuses: true } })
    }),
  ],
  'effect-impossible': [
    edge((one) => {
      one.impossible = [
        { target: 'web/a0@10.0.0.1:8080', because: said('no such field') },
        { target: 'web/a1@10.0.0.2:8080', because: said('no such field') },
      ]
    }),
  ],
  'lock-rights-missing': [
    edge((one) => {
      one.lock = { namespace: 'locks', missing: ['create leases.coordination.k8s.io'] }
    }),
  ],
  'lock-unreachable': [
    edge((one) => {
      one.lock = { namespace: 'locks', missing: [], unreachable: said('no answer') }
    }),
  ],
  'server-without-pod': [
    edge((one) => {
      one.strays.value = [{ target: 'web/a9@10.0.0.99:8080', address: '10.0.0.99:8080', inRotation: true }]
    }),
  ],
  'pod-without-server': [
    edge((one) => {
      one.pods[1] = { uid: 'uid-of-web-1', because: said('no entry has the address 10.0.0.2:8080') }
    }),
  ],
  'server-unhealthy': [
    edge((one) => {
      one.pods[1].entries[0].observation = { admin: 'in', routable: false, inFlight: 0, detail: 'DOWN' }
    }),
  ],
  'server-of-unready-pod': [
    broken(({ listed }) => {
      listed.pods.value[1].status.conditions[2].status = 'False'
    }),
  ],
  'no-readiness-probe': [
    broken(({ listed }) => {
      delete listed.pods.value[0].spec.containers[0].readinessProbe
    }),
  ],
  'readiness-probe-slow': [
    edge((one) => {
      one.healthCheck = { everyMs: 5_000, failures: 2 }
    }),
  ],
  'rolling-update': [
    broken(({ templates }) => {
      templates[0].value[0].strategy = 'RollingUpdate'
    }),
    // The records alone show that sluice upgrades the workload.
    broken((gathered) => {
      delete gathered.balancers
      delete gathered.templates[0].value[0].strategy
    }),
    // The request names the workload.
    broken((gathered) => {
      gathered.wanted = ['statefulset/queue']
    }),
  ],
  'budget-allows-nothing': [
    broken(({ listed }) => {
      Object.assign(listed.budgets.value[0].status, { disruptionsAllowed: 0, desiredHealthy: 2 })
    }),
  ],
  'budget-used-up': [
    broken(({ listed }) => {
      Object.assign(listed.budgets.value[0].status, { disruptionsAllowed: 0, currentHealthy: 1 })
    }),
    broken(({ listed }) => {
      const conditions = [{ type: 'DisruptionAllowed', status: 'False', lastTransitionTime: agoText(90_000) }]
      Object.assign(listed.budgets.value[0].status, { disruptionsAllowed: 0, currentHealthy: 1, conditions })
    }),
  ],
  'journal-open': [
    ofWeb((report) => {
      report.pods = [openPod({})]
      report.runs.unshift(openRun)
    }),
  ],
  'pod-needs-operator': [
    ofWeb((report) => {
      report.pods = [openPod({ needsOperator: { reason: said('its journal cannot be read'), advice: [{ code: 'run-again' }] } })]
    }),
  ],
  'run-open': [
    ofWeb((report) => {
      report.runs.unshift({ ...openRun, ordered: 'pause' })
    }),
  ],
  'record-unreadable': [
    broken(({ records }) => {
      const needsOperator = { advice: [{ code: 'run-again' }] }
      records.value[0].status.unreadable = [{ run: 'r9', problem: said('not JSON'), needsOperator }]
    }),
  ],
  'records-unneeded': [
    broken(({ records }) => {
      const reason = { code: 'workload-gone-for-good', run: 'r0', workloads: ['statefulset/old'] }
      records.value[0].unneeded.value.push({ kind: 'ConfigMap', name: 'sluice-run-r0', reason })
    }),
  ],
}
