import { parseNode, parsePod, parseService } from '../../../endpoints/parse-objects.ts'
import { selects } from '../../../endpoints/selectors.ts'
import { isReady } from '../../../endpoints/readiness.ts'
import type { ClusterView, EntryState, PastState } from '../../cluster/cluster-view.ts'
import type { RuleSet } from '../../rules/rule-set.ts'
import { parseRuleSet } from '../../rules/parse-rule-set.ts'
import { decide } from '../decide.ts'
import type { Answer } from '../question.ts'

/** The time of decisions. */
export const NOW = Date.parse('2026-11-30T10:00:00Z')

export function before(ms: number): string {
  return new Date(NOW - ms).toISOString().replace('.000Z', 'Z')
}

interface PodFields {
  metadata?: object
  spec?: object
  status?: object
}

export function condition(type: string, status: string, more: object = {}): object {
  return { type, status, lastTransitionTime: before(3_600_000), ...more }
}

/** A pod of the Service `web` on `node-1`, as the API server has it: running and Ready. */
export function pod(index: number, { metadata, spec, status }: PodFields = {}): object {
  const name = `web-${index}`
  return {
    metadata: { name, namespace: 'shop', uid: `uid-of-${name}`, resourceVersion: '1', labels: { app: 'web' }, ...metadata },
    spec: { nodeName: 'node-1', containers: [{ name: 'app', image: 'registry.example/app:v1' }], ...spec },
    status: {
      phase: 'Running',
      podIP: `10.0.0.${index}`,
      podIPs: [{ ip: `10.0.0.${index}` }],
      conditions: [condition('ContainersReady', 'True'), condition('Ready', 'True')],
      containerStatuses: [{ name: 'app', ready: true }],
      ...status,
    },
  }
}

export const service = {
  metadata: { name: 'web', namespace: 'shop', uid: 'uid-of-service' },
  spec: { type: 'ClusterIP', selector: { app: 'web' }, ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
}

export const node = { metadata: { name: 'node-1' }, status: { conditions: [condition('Ready', 'True')] } }

export function endpoint(index: number, conditions?: object, more: object = {}): object {
  const targetRef = { kind: 'Pod', namespace: 'shop', name: `web-${index}`, uid: `uid-of-web-${index}` }
  return {
    addresses: [`10.0.0.${index}`],
    ...(conditions && { conditions: { ...conditions } }),
    nodeName: 'node-1',
    targetRef,
    ...more,
  }
}

export function slice(endpoints: readonly object[] | undefined, more: object = {}): object {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-1', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
    ...(endpoints && { endpoints }),
    ...more,
  }
}

export function address(index: number, more: object = {}): object {
  const targetRef = { kind: 'Pod', namespace: 'shop', name: `web-${index}`, uid: `uid-of-web-${index}` }
  return { ip: `10.0.0.${index}`, nodeName: 'node-1', targetRef, ...more }
}

export function endpointsOf(subsets: readonly object[]): object {
  return { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web', namespace: 'shop' }, subsets }
}

/** A view of these objects. `previous` is what other objects of the Service hold, and `stateBefore` what the entry of a pod was at an instant. */
export function viewOf(
  objects: readonly object[],
  previous: Readonly<Record<string, EntryState>> = {},
  stateBefore?: (podUid: string, at: number) => PastState | undefined,
): ClusterView {
  const isPod = (one: object): boolean => 'spec' in one && 'containers' in (one.spec as object)
  const pods = objects.filter(isPod).map(parsePod)
  const services = objects.filter((one) => 'spec' in one && 'selector' in (one.spec as object)).map(parseService)
  const nodes = objects.filter((one) => !('namespace' in (one as { metadata: object }).metadata)).map(parseNode)
  return {
    pod: (uid) => pods.find((one) => one.metadata.uid === uid),
    node: (name) => nodes.find((one) => one.metadata.name === name),
    service: (namespace, name) => services.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    podsOf: (of) => {
      const own = pods.filter((one) => selects(of, one))
      return { all: own.length, ready: own.filter(isReady).length }
    },
    previousOf: (_namespace, _service, _kind, uid) => previous[uid],
    stateBefore: (_namespace, _service, _kind, uid, since) => stateBefore?.(uid, since.at),
  }
}

/** The rules of a document, from its list alone. */
export function rules(list: string, mode = 'enforce'): RuleSet {
  return parseRuleSet(`apiVersion: sluice.dev/v1\nkind: EndpointRules\nmode: ${mode}\nrules:\n${list}`, 'rules.yaml')
}

interface Given {
  objects?: readonly object[]
  old?: object
  previous?: Readonly<Record<string, EntryState>>
  stateBefore?: (podUid: string, at: number) => PastState | undefined
  nowAt?: number
}

export function decided(
  list: string | RuleSet,
  object: object,
  { objects = [pod(1), pod(2), service, node], old, previous, stateBefore, nowAt = NOW }: Given = {},
): Answer {
  return decide({
    rules: typeof list === 'string' ? rules(list) : list,
    kind: 'subsets' in object ? 'Endpoints' : 'EndpointSlice',
    object,
    ...(old && { old }),
    cluster: viewOf(objects, previous, stateBefore),
    nowAt,
    request: {
      operation: old ? 'UPDATE' : 'CREATE',
      username: 'system:serviceaccount:kube-system:endpointslice-controller',
      groups: [],
      dryRun: false,
    },
  })
}
