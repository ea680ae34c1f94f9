import type {
  ConditionExplanation,
  Explanation,
  Finding,
  NodeExplanation,
  Place,
  PodExplanation,
  Rotation,
  ServiceExplanation,
  Unread,
} from '../../explain/explanation.ts'
import type { Writer } from '../../reasons/fields.ts'
import { worded } from '../../report/words/document.ts'
import { conditionWriterWords, writerWords } from '../../report/words/explain.ts'
import type { Writing } from '../../report/words/writing.ts'
import { API_VERSION } from './api-version.ts'
import type { Colors } from './color.ts'
import { table } from './columns.ts'
import { inert } from './inert.ts'

/** The number of pods that a screen has room for. Above it, only pods with findings or out of rotation are shown. */
const MOST_PODS = 20
const FEW = 3

/** The document of `explain -o json`. */
export function explainDocument(explanation: Explanation, write: Writing): unknown {
  return worded({ apiVersion: API_VERSION, kind: 'Explanation', ...explanation }, write)
}

export function explainLines(explanation: Explanation, colors: Colors, write: Writing): string[] {
  const { about, pods, services, nodes, findings, unread } = explanation
  const [only] = pods
  const isOne = about.type === 'pod' && only !== undefined
  const sections = [
    isOne ? podSection(only, write) : podsSection(pods, findings),
    about.type === 'pod' ? [] : servicesSection(services),
    isOne ? conditionsSection(only) : [],
    nodesSection(nodes),
    findingsSection(findings, write, colors),
    unreadSection(unread, write),
  ]
  const shown = sections.filter((lines) => lines.length > 0)
  return [headline(explanation, colors), ...shown.flatMap((lines) => ['', ...lines])]
}

const ROTATION: Record<Rotation, string> = {
  in: 'in rotation',
  out: 'out of rotation',
  partly: 'in rotation in a part of its places',
  nowhere: 'nothing routes to it',
  unknown: 'whether it is in rotation is not known',
}

function headline({ about, verdict, pods, services, unread }: Explanation, colors: Colors): string {
  const { object, namespace, type } = about
  const paint = verdict === 'right' ? colors.green : verdict === 'wrong' ? colors.red : colors.yellow
  const [only] = pods
  const counted = `${pods.filter(({ rotation }) => rotation === 'in').length} of ${pods.length} pods in rotation`
  // Another program keeps the endpoints of such a Service.
  const ready = services.flatMap(({ slices }) => slices).reduce((sum, slice) => sum + slice.ready, 0)
  const alone = ready === 0 ? 'no pods' : `no pods, and addresses that are ready: ${ready}`
  const none = unread.some(({ what }) => what === 'pods') ? 'whether it has pods is not known' : alone
  const told = type === 'pod' && only !== undefined ? ROTATION[only.rotation] : pods.length === 0 ? none : counted
  const more = verdict === 'right' ? '' : verdict === 'wrong' ? '; not all is as it should be' : '; not all could be read'
  return `${inert(object)} in namespace ${inert(namespace)}: ${paint(`${told}${more}`)}`
}

function podSection({ address, node, places, run }: PodExplanation, write: Writing): string[] {
  const rows = places.map((place) => [...placeCells(place, write), ...sinceCells(place, run)])
  return [
    `  address ${inert(address ?? 'none')}, node ${inert(node ?? 'none')}`,
    ...(rows.length === 0 ? [] : ['', ...table([['WHERE', 'IN ROTATION', 'STATE', 'SINCE', 'BY'], ...rows], { indent: '  ' })]),
  ]
}

function placeCells(place: Place, write: Writing): [where: string, isIn: string, state: string] {
  switch (place.in) {
    case 'slice': {
      const by = place.managedBy === undefined ? '' : ` of ${place.managedBy || 'another writer'}`
      return [inert(`service/${place.service}, slice ${place.slice}${by}`), place.ready ? 'yes' : 'no', sliceState(place)]
    }
    case 'no-slice':
      return [inert(`service/${place.service}`), 'no', 'in no slice']
    case 'endpoints':
      return [inert(`service/${place.service}, Endpoints`), place.is === 'ready' ? 'yes' : 'no', place.is.replace('-', ' ')]
    case 'load-balancer': {
      const { loadBalancer, target, admin, routable } = place
      const isIn = admin === 'unknown' ? 'unknown' : admin === 'in' && routable ? 'yes' : 'no'
      return [inert(`${loadBalancer}, ${target}`), isIn, inert(entryState(place, write))]
    }
    case 'no-entry':
      return [inert(place.loadBalancer), 'no', inert(write.reason(place.because))]
  }
}

function sliceState({ ready, serving, terminating }: Extract<Place, { in: 'slice' }>): string {
  if (terminating) return serving ? 'terminating, serving' : 'terminating'
  return ready ? 'ready' : 'not ready'
}

function entryState(place: Extract<Place, { in: 'load-balancer' }>, write: Writing): string {
  const { admin, routable, weight, inFlight, said, by } = place
  return [
    admin,
    ...(admin === 'in' && !routable ? ['fails its health check'] : []),
    ...(inFlight === null ? [] : [`${inFlight} in flight`]),
    ...(said !== undefined ? [said] : weight === undefined ? [] : [`weight ${weight}`]),
    ...(by === undefined ? [] : [write.reason(by)]),
  ].join(', ')
}

/** The time and the writer of a place. A load balancer reports neither, so those of an entry come from the run. */
function sinceCells(place: Place, run: PodExplanation['run']): [since: string, by: string] {
  if (place.in === 'slice') return [inert(place.since ?? '-'), conditionBy(place)]
  if (place.in === 'load-balancer' && place.outBy !== undefined)
    return place.outBy === 'run' && run !== undefined
      ? [inert(place.since ?? `${run.startedAt ?? '-'} or later`), inert(`run ${run.run}`)]
      : ['-', 'no run of sluice']
  return ['-', '-']
}

/** The message of a condition that is True says nothing, except where it tells why the pod is going. */
function whyWords({ type, status, reason, message }: ConditionExplanation): string {
  const isTold = status !== 'True' || type === 'DisruptionTarget'
  return [...(reason === undefined ? [] : [reason]), ...(isTold && message !== undefined ? [message] : [])].join(': ')
}

function conditionBy(condition: Pick<ConditionExplanation, 'writtenBy'> | undefined): string {
  const writer = condition?.writtenBy
  return writer === undefined ? '-' : inert(conditionWriterWords(writer))
}

function byWords(writer: Writer | undefined): string {
  return writer === undefined ? '-' : inert(writerWords(writer))
}

function podsSection(pods: readonly PodExplanation[], findings: readonly Finding[]): string[] {
  if (pods.length === 0) return []
  const told = new Set(findings.flatMap(({ pod }) => pod ?? []))
  // Pods with findings stay, in their order.
  const shown = pods.length <= MOST_PODS ? pods : pods.filter(({ name, rotation }) => told.has(name) || rotation !== 'in')
  const some = shown.slice(0, MOST_PODS)
  const rows = some.map(({ name, rotation, conditions: [ready], node, places, run }) => [
    inert(name),
    rotation,
    inert(ready?.status ?? '-'),
    inert(ready?.since ?? '-'),
    conditionBy(ready),
    inert(node ?? '-'),
    inert(places.flatMap(shortPlace).join(', ') || '-'),
    inert(run?.run || '-'),
  ])
  const head = ['POD', 'ROTATION', 'READY', 'SINCE', 'WRITTEN BY', 'NODE', 'PLACES', 'RUN']
  return [
    ...(rows.length === 0 ? [] : table([head, ...rows], { indent: '  ' })),
    ...hiddenLines(pods.length - some.length, shown.length === some.length),
  ]
}

function hiddenLines(hidden: number, areRight: boolean): string[] {
  if (hidden === 0) return []
  return [`  and ${hidden} more${areRight ? ', in rotation, of which there is nothing to say' : ''}; -o json has all`]
}

function shortPlace(place: Place): string[] {
  switch (place.in) {
    case 'slice':
      return [`${place.service} ${sliceState(place)}`]
    case 'no-slice':
      return [`${place.service} in no slice`]
    case 'load-balancer':
      return [`${place.loadBalancer} ${place.admin === 'in' && !place.routable ? 'fails its check' : place.admin}`]
    case 'no-entry':
      return [`${place.loadBalancer} no entry`]
    case 'endpoints':
      return []
  }
}

function servicesSection(services: readonly ServiceExplanation[]): string[] {
  const rows = services.flatMap(({ name, slices, endpoints }) => [
    ...slices.map((slice) => [
      inert(`service/${name}`),
      inert(`EndpointSlice ${slice.name}`),
      inert(slice.managedBy ?? '-'),
      String(slice.ready),
      String(slice.notReady),
      byWords(slice.writtenBy),
      inert(slice.writtenBy?.at ?? '-'),
    ]),
    ...(endpoints === undefined
      ? []
      : [
          [
            inert(`service/${name}`),
            'Endpoints',
            '-',
            String(endpoints.ready),
            String(endpoints.notReady),
            byWords(endpoints.writtenBy),
            inert(endpoints.writtenBy?.at ?? '-'),
          ],
        ]),
  ])
  if (rows.length === 0) return []
  return table([['SERVICE', 'OBJECT', 'KEPT BY', 'READY', 'NOT READY', 'WRITTEN BY', 'AT'], ...rows], { indent: '  ' })
}

function conditionsSection({ conditions }: PodExplanation): string[] {
  const rows = conditions.map((one) => [
    inert(one.type),
    inert(one.status),
    inert(one.since ?? '-'),
    conditionBy(one),
    inert(whyWords(one)),
  ])
  return table([['CONDITION', 'STATUS', 'SINCE', 'WRITTEN BY', 'REASON'], ...rows], { indent: '  ' })
}

function nodesSection(nodes: readonly NodeExplanation[]): string[] {
  const isRight = ({ ready, heartbeat }: NodeExplanation): boolean => ready.status === 'True' && heartbeat?.seen !== 'silent'
  const shown = nodes.length <= FEW ? nodes : nodes.filter((node) => !isRight(node))
  if (shown.length === 0) return []
  const rows = shown.map(({ name, ready, heartbeat }) => [
    inert(name),
    inert(ready.status),
    inert(ready.since ?? '-'),
    inert(heartbeatWords(heartbeat)),
  ])
  const hidden = nodes.length - shown.length
  return [
    ...table([['NODE', 'READY', 'SINCE', 'HEARTBEAT'], ...rows], { indent: '  ' }),
    ...(hidden === 0 ? [] : [`  and ${hidden} more that are ready`]),
  ]
}

function heartbeatWords(heartbeat: NodeExplanation['heartbeat']): string {
  if (heartbeat === undefined) return 'no Lease was read'
  const { renewedAt, seen, watchedMs = 0 } = heartbeat
  const at = renewedAt === undefined ? 'never renewed' : `renewed at ${renewedAt} by the clock of the node`
  const watched = `${(watchedMs / 1000).toFixed(0)} s of watching`
  if (seen === undefined) return at
  return seen === 'renewed' ? `renewed within ${watched}; ${at}` : `not renewed in ${watched}; ${at}`
}

/** Prints findings of several pods once, where their words are equal. */
function findingsSection(findings: readonly Finding[], write: Writing, colors: Colors): string[] {
  const same = Map.groupBy(findings, ({ severity, reason, service = '' }) => [severity, service, write.reason(reason)].join('\n'))
  const told = new Set<string>()
  return [...same.values()].flatMap((some) => {
    const { severity, reason, service, next } = some[0]!
    // A command that several findings share stands below the first.
    const commands = next.map((command) => write.command(command)).filter((command) => !told.has(command) && told.add(command))
    const mark = severity === 'wrong' ? colors.red('×') : colors.yellow('‼')
    // A sentence that names the object needs no prefix with its name.
    const about = [
      ...(service === undefined || 'service' in reason ? [] : [`service/${service}`]),
      ...('pod' in reason ? [] : fewNames(some.flatMap(({ pod }) => pod ?? []))),
    ].join(', ')
    return [
      `${mark} ${inert(`${about === '' ? '' : `${about}: `}${write.reason(reason)}`)} [${reason.code}]`,
      ...commands.map((command) => `    ${inert(command)}`),
    ]
  })
}

function fewNames(names: readonly string[]): string[] {
  return names.length <= FEW ? [...names] : [...names.slice(0, FEW), `and ${names.length - FEW} more`]
}

const UNREAD: Record<Unread['what'], string> = {
  pods: 'the pods of the namespace',
  services: 'the Services of the namespace',
  endpointslices: 'the EndpointSlices',
  endpoints: 'the Endpoints',
  nodes: 'the nodes',
  leases: 'the Leases of the nodes, in kube-node-lease',
  records: 'the records of runs',
  workload: 'the workload itself',
  'load-balancer': 'the load balancer',
}

function unreadSection(unread: readonly Unread[], write: Writing): string[] {
  return unread.map(({ what, name, because }) =>
    inert(`? ${UNREAD[what]}${name === undefined ? '' : ` ${name}`} could not be read: ${write.reason(because)}`),
  )
}
