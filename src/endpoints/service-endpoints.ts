import { hasAddress } from './addresses.ts'
import { type ControllerRules, controllerRules } from './controller-rules.ts'
import { endpointsLabels, sliceLabels } from './endpoint-labels.ts'
import { endpointSubsetsOf, type Truncation, truncate } from './endpoint-subsets.ts'
import type { EndpointSubset, Node, Pod, Service, SliceGroup } from './objects.ts'
import { isFinished, membershipsOf, type PodMembership } from './pod-membership.ts'
import type { ServiceEndpointReason } from './reasons.ts'
import { hasSelector, selects } from './selectors.ts'
import { sliceGroupsOf } from './slice-groups.ts'

export interface ClusterObjects {
  readonly service: Service
  /** The pods of the namespace of the Service. */
  readonly pods: readonly Pod[]
  readonly nodes: readonly Node[]
  /** Default: the rules of the newest version. */
  readonly rules?: ControllerRules
}

/** The endpoints that the controllers of Kubernetes make for one Service, once they have seen these objects. */
export interface ServiceEndpoints {
  /** Absent where the controllers leave the Service alone. */
  readonly made?: {
    readonly slices: { readonly labels: Readonly<Record<string, string>>; readonly groups: readonly SliceGroup[] }
    readonly endpoints: {
      readonly labels: Readonly<Record<string, string>>
      readonly subsets: readonly EndpointSubset[]
      readonly truncation?: Truncation
    }
  }
  readonly reasons: readonly ServiceEndpointReason[]
  /** All pods of the input; empty where the controllers leave the Service alone. */
  readonly pods: readonly PodMembership[]
}

/** Makes the endpoints of a Service, without hints for zones, the trigger-time annotation and names of slices. */
export function serviceEndpoints({ service, pods, nodes, rules = controllerRules(Infinity) }: ClusterObjects): ServiceEndpoints {
  const { type, selector = {}, ports = [], clusterIP } = service.spec
  if (type === 'ExternalName') return { reasons: [{ code: 'external-name' }], pods: [] }
  if (!hasSelector(service)) return { reasons: [{ code: 'no-selector' }], pods: [] }

  const source = { service, nodes: new Map(nodes.map((node) => [node.metadata.name, node])), rules }
  const selected = pods.filter((pod) => selects(service, pod))
  const eligible = selected.filter((pod) => hasAddress(pod) && !isFinished(pod))
  const groups = sliceGroupsOf(source, eligible)
  const whole = endpointSubsetsOf(source, eligible)
  const truncated = truncate(whole)
  return {
    made: {
      slices: { labels: sliceLabels(service), groups },
      endpoints: { labels: endpointsLabels(service, rules), ...truncated },
    },
    reasons: [
      ...(selected.length === 0 ? [{ code: 'selects-nothing' as const, selector }] : []),
      ...(ports.length === 0 && clusterIP === 'None' ? [{ code: 'headless-without-ports' as const }] : []),
    ],
    pods: membershipsOf(source, pods, { groups, whole, ...truncated }),
  }
}
