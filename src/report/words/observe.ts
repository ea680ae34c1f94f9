import type {
  Change,
  EndpointChange,
  EntryChange,
  Leg,
  ObserverFinding,
  ObserverFindingCode,
  ObserverFindingFields,
  PodChange,
} from '../../observer/told.ts'
import type { Reason } from '../../reasons/reason.ts'
import { formatElapsed } from '../elapsed.ts'
import { writerWords } from './explain.ts'
import { agreeing, podNames, type Writing } from './writing.ts'

/* The English of `sluice observe`: a line for each change, and for each finding the facts and the way to correct them. */

export const legTitles: Readonly<Record<Leg, string>> = {
  'pod-endpointslice': 'pod to EndpointSlice',
  'pod-endpoints': 'pod to Endpoints',
  'endpointslice-load-balancer': 'EndpointSlice to load balancer',
  'endpointslice-endpointslice': 'EndpointSlice to copied EndpointSlice',
  'endpointslice-endpoints': 'EndpointSlice to copied Endpoints',
}

const POD: Readonly<Record<PodChange['change'], string>> = {
  added: 'is new',
  ready: 'is ready',
  'not-ready': 'is not ready',
  terminating: 'is being deleted',
  address: 'has another address',
  gone: 'is gone',
}

const ENDPOINT: Readonly<Record<EndpointChange['change'], string>> = {
  ready: 'is ready',
  'not-ready': 'is not ready',
  gone: 'is gone',
}

const ENTRY: Readonly<Record<EntryChange['change'], string>> = {
  in: 'is in rotation',
  unhealthy: 'is in rotation, and gets no requests',
  draining: 'is draining',
  out: 'is out of rotation',
  unknown: 'cannot be read',
  gone: 'is gone',
}

const SERVICE = { added: 'is new', 'selector-changed': 'has another selector', gone: 'is gone' }

/** A lag such as `0.004 s`, `2.5 s`, `3m05s`. A lag below a minute has a resolution of a millisecond. */
export function lagWords(ms: number): string {
  return ms < 60_000 ? `${ms / 1000} s` : formatElapsed(ms)
}

/** The words for one change. */
export function changeWords(change: Change, write: Writing): string {
  switch (change.type) {
    case 'pod': {
      const because = change.because === undefined ? '' : `: ${write.reason(change.because)}`
      const addresses = change.addresses === undefined ? '' : `: ${change.addresses.join(', ') || 'none'}`
      const by = change.conditionAt === undefined ? '' : ` (condition of ${change.conditionAt})`
      return `pod ${change.namespace}/${change.pod} ${POD[change.change]}${because}${addresses}${by}`
    }
    case 'endpoint': {
      const { object, cluster, namespace, service, address, pod, lagMs, lags = [], triggerAt } = change
      const lag =
        (lagMs === undefined ? '' : `, ${lagWords(lagMs)} after the pod`) +
        lags.map((from) => `, ${lagWords(from.lagMs)} after ${sourceWords(from, cluster)}`).join('')
      const trigger = triggerAt === undefined ? '' : ` (trigger ${triggerAt})`
      const of = pod === undefined ? address : `${address} of ${pod}`
      return `${object} of ${namespace}/${service}: ${of} ${ENDPOINT[change.change]}${lag}${trigger}`
    }
    case 'entry': {
      const { loadBalancer, address, namespace, pod, lags } = change
      const of = pod === undefined ? address : `${address} of ${namespace}/${pod}`
      const isOfOne = new Set(lags.map(({ cluster }) => cluster)).size <= 1
      const lag = lags
        .map(
          ({ cluster, service, lagMs }) =>
            `, ${lagWords(lagMs)} after the EndpointSlice of ${service}${isOfOne ? '' : ` in cluster ${cluster}`}`,
        )
        .join('')
      return `load balancer ${loadBalancer}: ${of} ${ENTRY[change.change]}${lag}`
    }
    case 'node':
      return `node ${change.node}: condition Ready is ${change.ready}`
    case 'service':
      return `service ${change.namespace}/${change.service} ${SERVICE[change.change]}`
  }
}

function sourceWords(
  { cluster, namespace, service }: { cluster: string; namespace: string; service: string },
  own: string,
): string {
  return `the EndpointSlice of ${namespace}/${service}${cluster === own ? '' : ` in cluster ${cluster}`}`
}

/** The note about a cluster whose nodes the user may not read; this is no finding. */
export function nodesUnreadNote({ cluster, because }: { cluster: string; because: Reason }, write: Writing): string {
  return `the nodes of the cluster ${cluster} are not looked at: ${write.reason(because)}`
}

interface Words<Facts> {
  message(facts: Readonly<Facts>, write: Writing): string
  /** How to correct it. */
  hint(facts: Readonly<Facts>, write: Writing): string
}

const WHY = {
  'pod-gone': 'which is gone',
  'pod-has-another-address': 'which has another address',
  'pod-finished': 'whose containers have ended',
}

const COUNTED = { Endpoints: 'Endpoints', EndpointSlice: 'EndpointSlices' }

const CONTROLLER_MANAGER =
  'look at the load of the controller manager (workqueue_depth and workqueue_queue_duration_seconds of its metrics) and at its client limits, --kube-api-qps and --kube-api-burst'

export const observerFindingWords: { readonly [C in ObserverFindingCode]: Words<ObserverFindingFields[C]> } = {
  'cluster-unreachable': {
    message: ({ cluster, because }, write) => `the cluster ${cluster} cannot be read: ${write.reason(because)}`,
    hint: () => 'what is told of it is what was so before; it is tried again until it answers',
  },
  'objects-unread': {
    message: ({ cluster, what, because }, write) =>
      `the ${what} of the cluster ${cluster} cannot be read: ${write.reason(because)}`,
    hint: ({ what }) =>
      `give the user the rights to list and watch ${what}: findings that rest on them are not made; sluice rbac --for observe prints all that it needs`,
  },
  'load-balancer-unread': {
    message: ({ loadBalancer, because }, write) => `the load balancer ${loadBalancer} cannot be read: ${write.reason(because)}`,
    hint: () => 'sluice doctor says whether its address and its credentials are right; it is tried again until it answers',
  },
  'stale-address': {
    message: ({ object, namespace, service, name, address, pod, podCluster, why, sinceMs }) =>
      `the endpoints of ${namespace}/${service} (${object} ${name}) have ${address} of ${pod === undefined ? 'a pod' : `pod ${pod}`}${podCluster === undefined ? '' : ` of cluster ${podCluster}`}, ${WHY[why]}, for ${lagWords(sinceMs)}`,
    hint: ({ namespace, service, object }, write) =>
      `requests to this address are lost, or reach another pod; see whether the controller is behind, or another program has written it:\n  ${kubectl(write, namespace, 'get', object === 'Endpoints' ? `endpoints/${service}` : 'endpointslices', ...(object === 'Endpoints' ? [] : ['-l', `kubernetes.io/service-name=${service}`]), '-o', 'yaml', '--show-managed-fields')}`,
  },
  sweep: {
    message: ({ object, writes, objects, startedAt, lastAt, by, isOver }) =>
      `${writes} writes to ${objects} ${COUNTED[object]} have changed no address${by === undefined ? '' : `, by ${writerWords(by)}`}: ` +
      (isOver
        ? `from ${new Date(startedAt).toISOString()} on for ${lagWords(lastAt - startedAt)}, and no more since`
        : `since ${new Date(startedAt).toISOString()}, and they go on`),
    hint: () =>
      'each write takes a place in the queue of its controller; sluice doctor names Endpoints whose labels differ from those of their Services, which the controller writes at each sync',
  },
  backlog: {
    message: ({ object, services, oldestMs, lagMs, perSecond, drainMs, workqueueDepth, putsPerSecond, isOver }) =>
      isOver
        ? `the backlog of ${COUNTED[object]} is over: at most ${services} Services have waited, the longest for ${lagWords(oldestMs)}`
        : `${services} Services wait for their ${COUNTED[object]}, the first for ${lagWords(oldestMs)}, and the lag grows (the last was ${lagWords(lagMs)}); ` +
          `${perSecond} changes a second are followed${drainMs === undefined ? '' : `, so that the queue is empty in ${lagWords(drainMs)} at best`}` +
          managerWords(workqueueDepth, putsPerSecond),
    hint: ({ isOver }) => (isOver ? 'see what has written much at that time: a sweep is told as one' : CONTROLLER_MANAGER),
  },
  'writers-undo-each-other': {
    message: ({ object, namespace, name, writers: [one, other], spanMs }) =>
      `${object} ${namespace}/${name}: ${writerWords(one)} and ${writerWords(other)} have undone each other's writes, within ${lagWords(spanMs)}`,
    hint: () => 'let one of them write it: a Service without a selector has endpoints that no controller of Kubernetes touches',
  },
  'endpoints-by-hand': {
    message: ({ namespace, service, by, addresses }) =>
      `Endpoints of ${namespace}/${service} were written by ${writerWords(by)}, with ${addresses.slice(0, 3).join(', ')}${addresses.length > 3 ? ` and ${addresses.length - 3} more` : ''}, which no pod of its selector has`,
    hint: ({ namespace, service }, write) =>
      `their controller takes these away at its next sync; endpoints by hand need a Service without a selector:\n  ${kubectl(write, namespace, 'get', `service/${service}`, '-o', 'jsonpath={.spec.selector}')}`,
  },
  'pods-lost-with-heartbeat': {
    message: ({ node, pods, ready }) =>
      `${podNames(pods)} of node ${node} ${agreeing(pods, 'has', 'have')} turned not ready together with a late heartbeat (condition Ready of the node ${ready === undefined ? 'is not read' : `is ${ready} now`}), though ${agreeing(pods, 'its', 'their')} containers are ready`,
    hint: ({ node }, write) =>
      `the pods may serve as before: look at the kubelet of the node and its way to the API server, before the pods\n  ${write.command({ command: 'kubectl', namespace: 'kube-node-lease', args: ['get', `lease/${node}`, '-o', 'yaml'] })}`,
  },
  'endpoints-truncated': {
    message: ({ namespace, service, addresses }) =>
      `Endpoints of ${namespace}/${service} have ${addresses} ${agreeing(addresses, 'address', 'addresses')}, and room for no more: the others are left out`,
    hint: () => 'have its readers read EndpointSlices, which have all of them',
  },
  'pod-flaps': {
    message: ({ namespace, pod, times, spanMs }) =>
      `pod ${namespace}/${pod} has turned not ready ${times} times within ${lagWords(spanMs)}`,
    hint: ({ namespace, pod }, write) =>
      `see what fails, its probe or its containers:\n  ${kubectl(write, namespace, 'describe', `pod/${pod}`)}`,
  },
  'restarted-in-rotation': {
    message: ({ namespace, service, pods, spanMs }) =>
      `${podNames(pods)} of ${namespace}/${service} were restarted in place while they got requests, within ${lagWords(spanMs)}`,
    hint: () =>
      'requests that are under way are lost, and so are new ones until the endpoints follow: drain a pod before its image is changed, as sluice upgrade does; a drain at a load balancer is seen with its config alone',
  },
  'entry-flaps': {
    message: ({ loadBalancer, entry, address, namespace, pod, stayedMs }) =>
      `load balancer ${loadBalancer}: entry ${entry} (${pod === undefined ? address : `${address} of ${namespace}/${pod}`}) has left rotation again ${lagWords(stayedMs)} after it had come back`,
    hint: () =>
      'a program puts it back too early, or two of them decide over it: after a change of its image a pod stays Ready until its container restarts; where the pod has turned not ready just before without such a change, see its probe; sluice explain says how the pod and the entry stand',
  },
  'entry-follows-nothing': {
    message: ({ loadBalancer, entry, address, formerPod, sinceMs }) =>
      `load balancer ${loadBalancer}: entry ${entry} (${address}) follows ${formerPod === undefined ? 'no pod and no node' : `pod ${formerPod}, which does not have this address any more`}, for ${lagWords(sinceMs)}`,
    hint: () => 'remove the entry, or see why the program that keeps it has not',
  },
}

function managerWords(depth: number | undefined, putsPerSecond: number | undefined): string {
  const said = [
    ...(depth === undefined ? [] : [`${depth} in its queue`]),
    ...(putsPerSecond === undefined ? [] : [`${putsPerSecond} PUTs a second`]),
  ]
  return said.length === 0 ? '' : `; the controller manager says ${said.join(', ')}`
}

function kubectl(write: Writing, namespace: string, ...args: string[]): string {
  return write.command({ command: 'kubectl', namespace, args })
}

function wordsOf(finding: ObserverFinding): Words<never> {
  return observerFindingWords[finding.code] as Words<never>
}

export function observerFindingMessage(finding: ObserverFinding, write: Writing): string {
  return wordsOf(finding).message(finding as never, write)
}

/** How to correct the problem of a finding. A command is on a line of its own. */
export function observerFindingHint(finding: ObserverFinding, write: Writing): string {
  return wordsOf(finding).hint(finding as never, write)
}

export function observerFindingPage({ code }: { code: ObserverFindingCode }): string {
  return `docs/observe.md#${code}`
}
