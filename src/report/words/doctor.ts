import type {
  CheckGroup,
  CheckName,
  Finding,
  FindingCode,
  FindingFields,
  LabelDifference,
  OfWebhook,
  Skip,
  SkipCode,
  SkipFields,
} from '../../doctor/findings.ts'
import { formatElapsed } from '../elapsed.ts'
import { adviceLines } from './advice.ts'
import { agreeing, type Writing } from './writing.ts'

/* The English of `sluice doctor`: a line for each check, and for each finding the facts and the way to correct them. */

export const groupTitles: Readonly<Record<CheckGroup, string>> = {
  cluster: 'cluster',
  'control-plane': 'nodes and control plane',
  services: 'services and their endpoints',
  'load-balancers': 'load balancers of the config',
  workloads: 'workloads',
  records: 'records of sluice',
}

/** The line of each check that has passed. */
export const checkTitles: Readonly<Record<CheckName, string>> = {
  'api-server': 'the API server answers',
  rights: 'a run has the rights that it needs',
  clock: "this machine's clock agrees with that of the API server",
  versions: 'API server and kubelets are of versions that go together',
  webhooks: 'no webhook can keep pods and endpoints from being written',
  heartbeats: 'all nodes report in time',
  scheduler: 'the scheduler is at work',
  'controller-manager': 'the controller manager is at work',
  'endpoint-controller': 'a new Service gets its endpoints at once',
  'foreign-endpoints': 'Services with a selector have endpoints of their controller alone',
  'selectorless-services': 'Services without a selector have endpoints',
  'endpoints-labels': 'endpoints have the labels of their Services',
  'load-balancers-answer': 'each load balancer can be read, and takes what a run sends',
  servers: 'servers are those of pods, and pods have servers',
  health: 'the load balancers agree with the readiness of pods',
  'readiness-probes': 'pods that get requests have a readiness probe',
  'update-strategies': 'workloads that are upgraded in place do not replace their pods by themselves',
  'disruption-budgets': 'each disruption budget lets a pod go',
  'open-records': 'no run is left half done',
  'unneeded-records': 'no record of a run is left over',
}

interface Told<Facts> {
  message(facts: Readonly<Facts>, write: Writing): string
  /** How to correct it. */
  hint(facts: Readonly<Facts>, write: Writing): string
}

type FindingWords = { [C in FindingCode]: Told<FindingFields[C]> }

const SHOWN = 3

/** A list such as `a, b, c and 7 more`. */
function some(names: readonly string[]): string {
  const hidden = names.length - SHOWN
  return hidden > 0 ? `${names.slice(0, SHOWN).join(', ')} and ${hidden} more` : names.join(', ')
}

function seconds(ms: number): string {
  return ms < 10_000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms / 1000)} s`
}

function webhookName({ kind, configuration, webhook, conditions }: OfWebhook): string {
  const unsure =
    conditions === undefined
      ? ''
      : `, only where its matchConditions hold, which are not evaluated here: ${conditions.join(', ')}`
  return `webhook ${webhook} (${kind} ${configuration}${unsure})`
}

function difference({ name, onService, onEndpoints }: LabelDifference): string {
  if (onService === undefined) return `${name}=${onEndpoints} is not on the Service`
  if (onEndpoints === undefined) return `${name}=${onService} is on the Service alone`
  return onService === onEndpoints
    ? `${name} is on the Service, where the controller does not expect its own label`
    : `${name} is ${onEndpoints}, on the Service ${onService}`
}

const TIMES: Readonly<Record<number, string>> = { 1: 'once', 2: 'twice' }

const PARTS = {
  'kube-scheduler': 'no pod gets a node',
  'kube-controller-manager': 'no endpoints, no replacement of pods and no node that is down is looked after',
}

const ON_DELETE = '{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}'

function kubectl(write: Writing, namespace: string, ...args: string[]): string {
  return write.command({ command: 'kubectl', namespace, args })
}

function partPods(write: Writing, part: string): string {
  return kubectl(write, 'kube-system', 'get', 'pods', '-l', `component=${part}`)
}

function goOn(write: Writing, namespace: string, workload: string): string {
  return `go on with it, with the same images, or end it by sluice abort:\n  ${write.command({ command: 'upgrade', namespace, workloads: [workload] })}`
}

export const findingWords: FindingWords = {
  'api-unreachable': {
    message: ({ because }, write) => `the API server does not answer: ${write.reason(because)}`,
    hint: () => 'look at the server and the context of the kubeconfig: kubectl version asks for the same',
  },
  'rights-missing': {
    message: ({ rights, namespace }) =>
      `a run would be refused ${agreeing(rights, 'this right', 'these rights')} in namespace ${namespace}: ${rights.join(', ')}`,
    hint: () => 'sluice rbac prints a Role that grants what a run needs, and nothing else',
  },
  'clock-differs': {
    message: ({ aheadMs, uncertaintyMs }) =>
      `the clock of this machine is ${seconds(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the API server (give or take ${seconds(uncertaintyMs)})`,
    hint: () => 'set it by NTP: instants of reports and records are written by it, and tokens and certificates are judged by it',
  },
  'version-untested': {
    message: ({ version, from, to }) => `the API server is ${version}; the tests of sluice run on ${from} to ${to}`,
    hint: () => 'try an upgrade on a workload that may fail, or use a version of Kubernetes that is tested',
  },
  'kubelet-version-apart': {
    message: ({ version, nodes }) =>
      `the API server is ${version}, and kubelets are too old or too new for it: ${some(nodes.map((one) => `${one.node} (${one.version})`))}`,
    hint: () => 'upgrade these kubelets to at most three minor versions behind the API server, and to none beyond it',
  },
  'webhook-freeze': {
    message: ({ version, webhooks }) =>
      `in ${version} an update of Endpoints that a webhook takes back freezes the object for good, and ${agreeing(webhooks, 'a webhook is', 'webhooks are')} asked about Endpoints: ${some(webhooks.map(webhookName))}`,
    hint: ({ fixedIn }) =>
      `upgrade the control plane to ${fixedIn} or later, or take endpoints out of the rules; frozen Endpoints follow again once the controller manager is restarted`,
  },
  'webhook-fails-closed': {
    message: ({ resources, timeoutMs, ...id }) =>
      `${webhookName(id)} is asked about ${resources.join(', ')} and fails closed: where its server is away, each write of these is refused after ${seconds(timeoutMs)}`,
    hint: () =>
      'set failurePolicy: Ignore, or leave out of its rules what endpoints are made from; else keep its server up with several replicas',
  },
  'webhook-without-server': {
    message: ({ resources, service, ...id }) =>
      `${webhookName(id)} is asked about ${resources.join(', ')} and fails closed, and its Service ${service} has no ready endpoint: each write of these is refused now`,
    hint: ({ kind, configuration }) =>
      `bring its server up; if it cannot start since its own pods are refused, delete ${kind} ${configuration} until it runs`,
  },
  'webhook-locks-itself-out': {
    message: ({ resources, namespace, ...id }) =>
      `${webhookName(id)} fails closed, and is asked about ${resources.join(', ')} of namespace ${namespace}, in which its own server runs: once that server is down, its new pods are refused too`,
    hint: ({ namespace }) =>
      `leave the namespace out by its namespaceSelector: {key: kubernetes.io/metadata.name, operator: NotIn, values: [${namespace}]}`,
  },
  'webhook-on-own-namespace': {
    message: ({ resources, namespace, timeoutMs, ...id }) =>
      `${webhookName(id)} is asked about ${resources.join(', ')} of namespace ${namespace}, in which its own server runs: while that is down, each write of these takes ${seconds(timeoutMs)} longer`,
    hint: ({ namespace }) =>
      `leave the namespace out by its namespaceSelector: {key: kubernetes.io/metadata.name, operator: NotIn, values: [${namespace}]}`,
  },
  'grace-period-short': {
    message: ({ graceMs, leaseMs, nodes }) =>
      `the pods of a node that is silent for ${seconds(graceMs)} are set to not ready, which is less than the ${seconds(leaseMs)} that the ${agreeing(nodes, 'Lease', 'Leases')} of ${some(nodes)} ${agreeing(nodes, 'is', 'are')} for: a kubelet that is a little late is enough`,
    hint: () =>
      'a longer --node-monitor-grace-period of the controller manager, or a shorter nodeLeaseDurationSeconds of the kubelets',
  },
  'heartbeat-late': {
    message: ({ node, ageMs, graceMs }) =>
      `node ${node} renewed its Lease ${seconds(ageMs)} ago, which is more than half of the ${seconds(graceMs)} after which all its pods are set to not ready`,
    hint: () =>
      'look at the load of the node and at its way to the API server; a longer --node-monitor-grace-period of the controller manager gives it more time',
  },
  'heartbeat-missed': {
    message: ({ node, ageMs, graceMs }) =>
      `node ${node} renewed its Lease ${seconds(ageMs)} ago: after ${seconds(graceMs)} all its pods are set to not ready, and leave their endpoints, whatever runs there`,
    hint: ({ node }) => `see whether the kubelet of ${node} runs, and reaches the API server`,
  },
  'node-clock-ahead': {
    message: ({ node, aheadMs }) => `the Lease of node ${node} was renewed ${seconds(aheadMs)} in the future: its clock is ahead`,
    hint: () => 'set the clock of the node by NTP',
  },
  'node-clock-behind': {
    message: ({ node, behindMs }) =>
      `the Lease of node ${node} was renewed just now, by a clock that is at least ${seconds(behindMs)} behind that of the API server`,
    hint: () =>
      'set the clock of the node by NTP: certificates and tokens are judged by it, and its conditions and logs are dated by it',
  },
  'node-not-ready': {
    message: ({ node, status, reason, forMs }) => {
      const since = forMs === undefined ? '' : `, for ${formatElapsed(forMs)}`
      return status === 'Unknown'
        ? `node ${node} does not report${since}: its pods are not ready, whatever runs there`
        : `node ${node} is not Ready${reason === undefined ? '' : ` (${reason})`}${since}`
    },
    hint: ({ node }, write) => `see what its kubelet has said last:\n  ${kubectl(write, 'default', 'describe', 'node', node)}`,
  },
  'node-was-silent': {
    message: ({ node, times, lastAt, graceMs }) =>
      `node ${node} was not ready ${TIMES[times] ?? `${times} times`} and came back, the last time at ${lastAt}: all its pods left their endpoints meanwhile (after a silence of ${seconds(graceMs)})`,
    hint: () =>
      'unless the node was restarted: look at its load and its way to the API server at that time; a longer --node-monitor-grace-period gives it more time',
  },
  'control-plane-part-silent': {
    message: ({ part, holder, ageMs, leaseMs }) =>
      `${part} has not renewed its Lease for ${formatElapsed(ageMs)}, which lasts ${seconds(leaseMs)}${holder === undefined ? '' : ` (held by ${holder})`}: ${PARTS[part]}`,
    hint: ({ part }, write) => `see whether it runs; on a managed cluster, ask the provider:\n  ${partPods(write, part)}`,
  },
  'pods-without-scheduler': {
    message: ({ pods, oldestMs }) =>
      `no scheduler has looked at ${agreeing(pods, 'pod', 'pods')} ${some(pods)}, for ${formatElapsed(oldestMs)}`,
    hint: (_, write) => `see whether kube-scheduler runs, and start it:\n  ${partPods(write, 'kube-scheduler')}`,
  },
  'services-without-controller': {
    message: ({ services, oldestMs }) =>
      `${agreeing(services, 'Service', 'Services')} ${some(services)} ${agreeing(services, 'has', 'have')} had no EndpointSlice for ${formatElapsed(oldestMs)}: no endpoint controller is at work, or it is far behind`,
    hint: () => 'start kube-controller-manager, and look for its endpointslice-controller in --controllers and in its logs',
  },
  'endpoint-controller-slow': {
    message: ({ lagMs, namespace }) =>
      `a new Service in namespace ${namespace} got its EndpointSlice after ${seconds(lagMs)}: the endpoint controller has a backlog, and pods that go or come wait behind it`,
    hint: () =>
      'look at workqueue_depth and the throttling of kube-controller-manager, raise --kube-api-qps and --concurrent-service-endpoint-syncs, and look for a writer that changes all endpoints',
  },
  'endpoint-controller-stuck': {
    message: ({ waitedMs, namespace }) =>
      `a new Service in namespace ${namespace} had no EndpointSlice within ${seconds(waitedMs)}: endpoints do not follow pods now`,
    hint: () => 'see whether kube-controller-manager runs, and how deep its workqueue is (workqueue_depth)',
  },
  'probe-refused': {
    message: ({ namespace, because }, write) => `the probe could not be made in namespace ${namespace}: ${write.reason(because)}`,
    hint: () => 'the probe needs to create and delete services, and to list endpointslices, in that namespace',
  },
  'probe-left': {
    message: ({ namespace, service, because }, write) =>
      `the probe Service ${service} may be left in namespace ${namespace}: ${write.reason(because)}`,
    hint: ({ namespace }, write) =>
      `remove it:\n  ${kubectl(write, namespace, 'delete', 'service', '-l', 'sluice.dev/doctor-probe')}`,
  },
  'foreign-slice': {
    message: ({ namespace, service, slice, managedBy, addresses }) =>
      `Service ${namespace}/${service} has a selector, and EndpointSlice ${slice} of ${managedBy === '' ? 'another writer' : managedBy} besides, with ${some(addresses)}: requests go there too`,
    hint: () =>
      'put addresses of other origin behind a Service without a selector, or delete the slice; the selector of the Service keeps its own slices alone',
  },
  'endpoints-by-hand': {
    message: ({ namespace, service, by, at, addresses }) =>
      `Service ${namespace}/${service} has a selector, and its Endpoints have addresses of ${by || 'another writer'}${at === undefined ? '' : ` (${at})`} that no pod of it has: ${some(addresses)}. The controller takes them away at its next sync`,
    hint: () => 'remove the selector of the Service to keep such addresses, or give the pods its labels',
  },
  'selectorless-without-endpoints': {
    message: ({ namespace, service, type }) =>
      `Service ${namespace}/${service} (${type}) has no selector and no endpoints: requests to it fail, and no controller of Kubernetes will mend that`,
    hint: () =>
      'see whether the program that writes its endpoints is at work; where there is none, give the Service a selector or delete it',
  },
  'endpoints-labels-differ': {
    message: ({ namespace, service, object, name, labels }) =>
      `${object} ${name} of Service ${namespace}/${service} differs from it in its labels, so that the controller writes it at each sync: ${labels.map(difference).join('; ')}`,
    hint: () =>
      'find the writer of the label (kubectl get -o yaml --show-managed-fields): a label of your own belongs on the Service, and a label of the controllers on no Service',
  },
  'load-balancer-unreachable': {
    message: ({ loadBalancer, because }, write) => `${loadBalancer} cannot be read: ${write.reason(because)}`,
    hint: () => 'a run would wait for it, and begin nothing: see that it runs, and can be reached from here',
  },
  'load-balancer-refuses': {
    message: ({ loadBalancer, because }, write) => `${loadBalancer} answers, and cannot be used: ${write.reason(because)}`,
    hint: () => 'mend the options of the load balancer in the config, or the rights of its credentials',
  },
  'effect-impossible': {
    message: ({ loadBalancer, target, others, because }, write) =>
      `${loadBalancer}: the drain or the restore of ${target}${others === 0 ? '' : ` (and of ${others} more)`} cannot be made: ${write.reason(because)}`,
    hint: () => 'mend the options of the load balancer: sluice adapter test tries them',
  },
  'lock-rights-missing': {
    message: ({ loadBalancer, namespace, rights }) =>
      `${loadBalancer} is changed under a Lease in namespace ${namespace}, for which these rights are missing: ${rights.join(', ')}`,
    hint: () => 'sluice rbac --config FILE prints the Role for it',
  },
  'lock-unreachable': {
    message: ({ loadBalancer, because }, write) =>
      `the cluster of the lock of ${loadBalancer} cannot be asked: ${write.reason(because)}`,
    hint: () => 'look at lock.kubeconfig and lock.context of the load balancer in the config',
  },
  'server-without-pod': {
    message: ({ loadBalancer, target, address, inRotation }) =>
      `${loadBalancer} has the server ${target}, and no pod has the address ${address}: ${inRotation === false ? 'it is out of rotation' : 'requests that it sends there fail'}`,
    hint: () => 'remove the server, or see why the program that registers pods has not; a server that is no pod at all may stay',
  },
  'pod-without-server': {
    message: ({ loadBalancer, namespace, pod, workload, siblings, because }, write) =>
      `pod ${namespace}/${pod} is not in ${loadBalancer}, which has ${siblings} other ${agreeing(siblings, 'pod', 'pods')} of ${workload}: ${write.reason(because)}`,
    hint: () => 'see why the program that registers pods has left it out; a run of this pod would be refused',
  },
  'server-unhealthy': {
    message: ({ loadBalancer, target, namespace, pod, said }) =>
      `pod ${namespace}/${pod} is Ready, and ${loadBalancer} sends no requests to ${target}${said === undefined ? '' : `: ${said}`}`,
    hint: () =>
      "compare the load balancer's health check with the readiness probe: path, port, and the way from there to the pod",
  },
  'server-of-unready-pod': {
    message: ({ loadBalancer, target, namespace, pod, said }) =>
      `pod ${namespace}/${pod} is not Ready, and ${loadBalancer} sends it requests by ${target}${said === undefined ? '' : ` (${said})`}`,
    hint: () => 'give the load balancer a health check of the path and port of the readiness probe',
  },
  'no-readiness-probe': {
    message: ({ namespace, workload, pods, containers, behind }) =>
      `${pods} ${agreeing(pods, 'pod', 'pods')} of ${workload} in namespace ${namespace} ${agreeing(pods, 'gets', 'get')} requests by ${some(behind)} and ${agreeing(pods, 'has', 'have')} no readiness probe (containers ${containers.join(', ')}): a restarted container counts as ready before it serves`,
    hint: () => 'add a readinessProbe to the container that serves',
  },
  'readiness-probe-slow': {
    message: ({ namespace, workload, container, readinessMs, loadBalancer, healthMs }) =>
      `a pod of ${workload} in namespace ${namespace} that fails turns not ready only after ${seconds(readinessMs)} (container ${container}), when ${loadBalancer} has sent it nothing for ${seconds(readinessMs - healthMs)} already: Services and sluice go by the slower of the two`,
    hint: ({ healthMs }) => `make periodSeconds times failureThreshold of the readinessProbe ${seconds(healthMs)} or less`,
  },
  'rolling-update': {
    message: ({ namespace, workload, strategy, behind, hasRuns }) =>
      `${workload} in namespace ${namespace} is to be upgraded in place (${behind.length > 0 ? `behind ${some(behind)}` : hasRuns ? 'sluice has upgraded it before' : 'it was named'}), and its updateStrategy is ${strategy}: a changed template deletes its pods one after another, undrained`,
    hint: ({ workload, namespace }, write) =>
      `leave each pod until it is upgraded:\n  ${kubectl(write, namespace, 'patch', workload, '--type', 'merge', '-p', ON_DELETE)}`,
  },
  'budget-allows-nothing': {
    message: ({ namespace, budget, pods }) =>
      `PodDisruptionBudget ${namespace}/${budget} never lets one of its ${pods} ${agreeing(pods, 'pod', 'pods')} go: a drain of a node waits for good`,
    hint: () => 'lower minAvailable, raise maxUnavailable, or add a replica',
  },
  'budget-used-up': {
    message: ({ namespace, budget, pods, healthy, wanted }) =>
      `PodDisruptionBudget ${namespace}/${budget} lets no pod go now: of ${pods} pods ${healthy} ${agreeing(healthy, 'is', 'are')} healthy, and it wants ${wanted}`,
    hint: () => 'see why its other pods are not ready',
  },
  'journal-open': {
    message: ({ namespace, pod, workload, run, out }) =>
      `pod ${namespace}/${pod} of ${workload} is half done by run ${run}, which no process has${out === true ? ', and is out of rotation' : ''}`,
    hint: ({ namespace, workload }, write) => goOn(write, namespace, workload),
  },
  'pod-needs-operator': {
    message: ({ namespace, pod, workload, run, because }, write) =>
      `pod ${namespace}/${pod} of ${workload} waits for a person, since run ${run}${because === undefined ? '' : `: ${write.reason(because)}`}`,
    hint: ({ advice }, write) =>
      advice.flatMap((one) => adviceLines(one, write)).join('\n') || 'sluice status tells what to look at',
  },
  'run-open': {
    message: ({ namespace, workload, run, startedAt, ordered }) =>
      `run ${run} of ${workload} in namespace ${namespace}, begun at ${startedAt}, is not finished${ordered === 'pause' ? ', and paused' : ordered === 'abort' ? ', and to be aborted' : ''}; no process has it`,
    hint: ({ namespace, workload }, write) => goOn(write, namespace, workload),
  },
  'record-unreadable': {
    message: ({ namespace, run, because }, write) =>
      `the record of run ${run} in namespace ${namespace} cannot be read: ${write.reason(because)}`,
    hint: ({ advice }, write) => advice.flatMap((one) => adviceLines(one, write)).join('\n'),
  },
  'records-unneeded': {
    message: ({ namespace, records }, write) =>
      `${records.length} ${agreeing(records, 'record', 'records')} of sluice in namespace ${namespace} ${agreeing(records, 'is', 'are')} left over, such as configmap/${records[0]?.name}: ${records[0] === undefined ? '' : write.reason(records[0].because)}`,
    hint: ({ namespace }) =>
      `sluice cleanup -n ${namespace} removes them, and the records of finished runs; --dry-run names them first`,
  },
}

type SkipWords = { [C in SkipCode]: (facts: Readonly<SkipFields[C]>, write: Writing) => string }

export const skipWords: SkipWords = {
  'no-right': ({ right, namespace }) => `no right to ${right}${namespace === undefined ? '' : ` in namespace ${namespace}`}`,
  'not-served': ({ resource }) => `the API server serves no ${resource}`,
  'not-read': ({ resource, because }, write) => `${resource} could not be read: ${write.reason(because)}`,
  'no-config': () => 'there is no config: name it by --config',
  'probe-not-asked-for': () => '--probe makes a Service, and removes it',
  'nothing-there': ({ resource, namespace }) =>
    `${namespace === undefined ? 'the cluster' : `namespace ${namespace}`} has no ${resource}`,
  'api-server-not-read': () => 'the API server does not answer',
  'no-date': () => 'no answer of the API server has a date',
  'rights-not-asked': ({ because }, write) => `the API server cannot be asked: ${write.reason(because)}`,
  'run-at-work': ({ namespace, holders }) => `a run is at work in namespace ${namespace} (${some(holders)})`,
  'no-load-balancer-lists': ({ loadBalancers }) =>
    `servers without a pod cannot be told in ${some(loadBalancers)}, whose adapter does not list them`,
  'servers-not-asked': ({ loadBalancer, servers }) =>
    `${servers} ${agreeing(servers, 'server', 'servers')} of ${loadBalancer} ${agreeing(servers, 'has an address', 'have addresses')} that no pod of the namespace has, and ${agreeing(servers, 'was', 'were')} not looked for in others: -A looks at all pods`,
}

export function findingMessage(finding: Finding, write: Writing): string {
  return (findingWords[finding.code] as Told<Finding>).message(finding, write)
}

/** How to correct the problem of a finding, in one line or several. */
export function findingHint(finding: Finding, write: Writing): string {
  return (findingWords[finding.code] as Told<Finding>).hint(finding, write)
}

export function skipMessage(skip: Skip, write: Writing): string {
  return (skipWords[skip.code] as (facts: Skip, write: Writing) => string)(skip, write)
}

/** The page that explains the finding. */
export function findingPage({ code }: Pick<Finding, 'code'>): string {
  return `docs/doctor.md#${code}`
}
