import type { ExplainReasons, InEndpoints, StaleAddress } from '../../reasons/explain-reasons.ts'
import type { ObjectName, Writer } from '../../reasons/fields.ts'
import { labelsThatDiffer } from './endpoints.ts'
import { agreeing, entryReading, podNames, type WordsOf } from './writing.ts'

function object({ kind, name }: ObjectName): string {
  return `${kind} ${name}`
}

const CLIENTS: Record<Writer['is'], string> = {
  kubelet: 'the kubelet',
  'controller-manager': 'the controller manager',
  person: 'a person',
  sluice: 'sluice',
  other: 'another client',
}

/** The writer, such as `a person (kubectl-edit)`. */
export function writerWords({ manager, is }: Omit<Writer, 'at'>): string {
  const isNamed = is === 'person' || is === 'other'
  return isNamed ? `${CLIENTS[is]} (${manager})` : CLIENTS[is]
}

/** The writer of a pod's condition. Within the controller manager, only the node lifecycle controller writes Ready. */
export function conditionWriterWords(writer: Omit<Writer, 'at'>): string {
  return writer.is === 'controller-manager' ? 'the node lifecycle controller' : writerWords(writer)
}

const STALE: Record<StaleAddress, (pod: string) => string> = {
  'pod-gone': (pod) => `${pod}, which is gone`,
  'pod-replaced': (pod) => `an earlier ${pod}, in whose place another has come`,
  'not-selected': (pod) => `${pod}, which the selector of the Service does not match`,
  'pod-finished': (pod) => `${pod}, whose containers have ended`,
  'other-address': (pod) => `${pod}, which has another address`,
  'not-made': (pod) => `${pod}, which the controllers would leave out`,
  'no-pod-named': () => 'no pod',
}

const IN_ENDPOINTS: Record<InEndpoints, string> = { ready: 'ready', 'not-ready': 'not ready', absent: 'absent' }

const yes = (is: boolean | undefined): string => (is === undefined ? 'not set' : String(is))

/** The words for the findings of `sluice explain`. */
export const explain: WordsOf<ExplainReasons> = {
  'no-slice': ({ service }) =>
    `service/${service} has no EndpointSlice, though one is made for each Service with a selector: its controller is behind, or does not run`,
  'not-in-slices': ({ service, pod, addresses }) =>
    `no EndpointSlice of service/${service} has ${pod} (${addresses.join(', ')}), and one should: its controller is behind, or does not run`,
  'slice-differs': ({ slice, pod, differs }) =>
    `EndpointSlice ${slice} has ${pod} as ${differs.map(({ field, is, made }) => `${field} ${yes(is)} and should have ${field} ${made}`).join(', ')}`,
  'slice-ports-differ': ({ slice, pod, ports, made }) =>
    `EndpointSlice ${slice} has ${pod} with ${ports.length === 0 ? 'no port' : `port ${ports.join(', ')}`}, and should have it with ${made.length === 0 ? 'none' : made.join(', ')}`,
  'stale-address': ({ object: where, address, pod, because }) =>
    `${object(where)} has the address ${address} of ${STALE[because](pod ?? 'a pod')}`,
  'endpoints-differ': ({ service, pods }) =>
    `Endpoints ${service} differ from what the pods are: ${pods.map(({ pod, is, made }) => `${pod} is ${IN_ENDPOINTS[is]} there and should be ${IN_ENDPOINTS[made]}`).join('; ')}`,
  'endpoints-missing': ({ service }) =>
    `there is no Endpoints object for service/${service}: what reads EndpointSlices does not miss it`,
  'written-by-other': ({ object: where, writer }) =>
    `${object(where)} was last written by ${writerWords(writer)}${writer.at === undefined ? '' : ` at ${writer.at}`}: the controller of Kubernetes overwrites it when something of the Service changes`,
  'slices-of-others': ({ service, slices, managedBy }) =>
    `${managedBy ?? 'another writer'} keeps ${agreeing(slices, 'the EndpointSlice', 'the EndpointSlices')} ${slices.join(', ')} of service/${service}: what is in there counts too`,
  'no-ready-endpoint': ({ service, pods }) =>
    `service/${service} has no ready endpoint${pods === 0 ? '' : `, of ${pods} ${agreeing(pods, 'pod', 'pods')}`}: requests to it fail`,
  'no-address-given': ({ service }) =>
    `service/${service} has no selector and no address: whoever is to give it its EndpointSlices has not`,
  'selector-nearly': ({ pods, labels }) =>
    `the selector misses ${podNames(pods)} by ${agreeing(labels, 'a label', `${labels.length} labels`)}: ${labelsThatDiffer(labels)}`,
  'in-no-service': ({ pods }) => `no Service of the namespace selects ${podNames(pods)}`,
  'condition-by-other': ({ pod, condition, status, writer }) =>
    `condition ${condition} of ${pod} was set to ${status} by ${writerWords(writer)}${writer.at === undefined ? '' : ` at ${writer.at}`}, and is the kubelet's: it stays so until the kubelet writes the status again`,
  'node-not-ready': ({ node, status, reason, since }) =>
    `condition Ready of node ${node} is ${status}${reason === undefined ? '' : ` (${reason})`}${since === undefined ? '' : ` since ${since}`}`,
  'node-lease-not-renewed': ({ node, renewedAt, watchedMs }) =>
    `the Lease of node ${node} was not renewed in ${Math.round(watchedMs / 1000)} s of watching${renewedAt === undefined ? '' : `; the last renewal was at ${renewedAt} by the clock of the node`}`,
  'node-cordoned': ({ node }) => `node ${node} is cordoned: it takes no new pods, and its pods run on`,
  'fewer-pods': ({ workload, pods, wanted }) => `${workload} has ${pods} of ${wanted} pods`,
  'pod-in-run': ({ pod, run, holder, because }, write) =>
    `run ${run}${holder === undefined ? '' : ` of ${holder}`} has ${pod}: ${write.reason(because)}`,
  'pod-needs-operator': ({ pod, run }) => `a person has to look at ${pod}: run ${run} cannot go on with it by itself`,
  'entry-out-by-run': ({ entry, run }, write) => `run ${run} has it out of rotation: ${entryReading(entry, write)}`,
  'entry-out-by-others': ({ entry }, write) =>
    `out of rotation, and no run of sluice has it out: an operator has, or another tool, such as one that follows the endpoints of a Service; if it stays out once the pod is ready, put it back at the load balancer: ${entryReading(entry, write)}`,
  'entry-out-before-run': ({ entry, run }, write) =>
    `an operator had it out of rotation when run ${run} came to the pod, and the run leaves it so: ${entryReading(entry, write)}`,
  'entry-fails-check': ({ entry }, write) =>
    `in rotation, and the load balancer sends it no requests, by its own health check: ${entryReading(entry, write)}`,
  'entry-in-and-pod-not-ready': ({ entry }, write) =>
    `the load balancer sends requests to it, though the pod is not ready, or is going: ${entryReading(entry, write)}`,
}
