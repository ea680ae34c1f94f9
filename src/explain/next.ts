import { SERVICE_NAME } from '../endpoints/endpoint-labels.ts'
import { NODE_LEASES } from '../endpoints/nodes.ts'
import type { Command } from '../reasons/command.ts'
import type { Reason } from '../reasons/reason.ts'

export interface About {
  namespace: string
  pod?: string
  service?: string
  workload?: string
}

/** The commands to run next, for a finding. */
export function nextOf(reason: Reason, { namespace, pod, service, workload }: About): Command[] {
  const kubectl = (...args: string[]): Command => ({ command: 'kubectl', namespace, args })
  const describePod = pod === undefined ? [] : [kubectl('describe', 'pod', pod)]
  const describeService = service === undefined ? [] : [kubectl('describe', 'service', service)]
  const describeNode = (name: string): Command => kubectl('describe', 'node', name)
  const status: Command = { command: 'status', namespace, workloads: workload === undefined ? [] : [workload] }
  const fields = '--show-managed-fields'
  switch (reason.code) {
    case 'containers-not-ready': {
      const [first] = reason.containers
      if (pod === undefined || first === undefined) return describePod
      const previous = first.waiting === 'CrashLoopBackOff' ? ['--previous'] : []
      return first.waiting === undefined || previous.length > 0
        ? [...describePod, kubectl('logs', pod, '-c', first.name, ...previous)]
        : describePod
    }
    case 'readiness-gates-closed':
    case 'ready-condition':
    case 'pod-has-no-address':
    case 'terminating':
    case 'pod-finished':
    case 'entry-fails-check':
    case 'entry-in-and-pod-not-ready':
    case 'pod-without-address':
      return describePod
    case 'node-silent':
      return reason.node === undefined ? describePod : [describeNode(reason.node)]
    case 'node-not-ready':
    case 'node-cordoned':
      return [describeNode(reason.node)]
    case 'node-not-found':
      return [kubectl('get', 'nodes')]
    case 'node-lease-not-renewed':
      return [
        describeNode(reason.node),
        { command: 'kubectl', namespace: NODE_LEASES, args: ['get', 'lease', reason.node, '--watch', '-o', 'yaml'] },
      ]
    case 'condition-by-other':
      return [kubectl('get', 'pod', reason.pod, '-o', 'yaml', fields)]
    case 'selects-nothing':
    case 'selector-differs':
    case 'selector-nearly':
      return [kubectl('get', 'pods', '--show-labels'), ...describeService]
    case 'in-no-service':
      return [kubectl('get', 'services', '-o', 'wide'), kubectl('get', 'pods', '--show-labels')]
    case 'port-not-found':
    case 'no-port-in-endpoints':
    case 'no-port':
    case 'no-address-of-type':
    case 'headless-without-ports':
    case 'hostname-left-out':
      return [...describeService, ...describePod]
    case 'no-slice':
    case 'not-in-slices':
    case 'slice-differs':
    case 'slice-ports-differ':
    case 'slices-of-others':
    case 'no-address-given':
    case 'no-ready-endpoint': {
      const { service: name } = reason
      return [kubectl('get', 'endpointslices', '-l', `${SERVICE_NAME}=${name}`, '-o', 'yaml', fields)]
    }
    case 'written-by-other':
    case 'stale-address': {
      const { kind, name } = reason.object
      return [kubectl('get', kind.toLowerCase(), name, '-o', 'yaml', fields)]
    }
    case 'endpoints-differ':
    case 'endpoints-missing':
      return [kubectl('get', 'endpoints', reason.service, '-o', 'yaml', fields)]
    case 'fewer-pods':
      return [kubectl('describe', reason.workload)]
    case 'pod-in-run':
    case 'pod-needs-operator':
    case 'entry-out-by-run':
    case 'entry-out-before-run':
    case 'entry-out-by-others':
    case 'journal-unreadable':
    case 'gone-and-drained':
    case 'ledger-unreadable':
      return [status]
    default:
      return []
  }
}
