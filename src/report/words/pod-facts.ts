import type { PodFacts } from '../../reasons/pod-facts.ts'
import type { Reason, ReasonOf } from '../../reasons/reason.ts'
import type { WordsOf } from './writing.ts'

export function nodeSilent(node: string | undefined): string {
  return `${node === undefined ? 'its node' : `node ${node}`} does not report`
}

export function terminating({ dueAt, finalizers }: Omit<ReasonOf<'terminating'>, 'code'>): string {
  return `is Terminating, due to be gone at ${dueAt}${finalizers.length === 0 ? '' : `, held by finalizers ${finalizers.join(', ')}`}`
}

function gates({ gates: some }: Omit<ReasonOf<'readiness-gates-closed'>, 'code'>): string {
  return some.map(({ type, status, message }) => `readiness gate ${type} is ${status}${message ? `: ${message}` : ''}`).join(', ')
}

const silent = (node: string | undefined): string => (node === undefined ? '' : `; ${nodeSilent(node)}`)

/** The words for the observed state of a pod. */
export const podFacts: WordsOf<PodFacts> = {
  'container-waiting': ({ container, waiting, said }) => `container ${container} ${waiting}${said ? `: ${said}` : ''}`,
  'containers-not-ready': ({ containers }) =>
    containers.map(({ name, waiting }) => `container ${name} is not ready${waiting ? ` (${waiting})` : ''}`).join(', '),
  'pod-not-ready': () => 'the pod is not Ready',
  'readiness-gates-closed': (facts) => gates(facts),
  'node-silent': ({ node }) => nodeSilent(node),
  'ready-condition-false': () => 'Ready is False though all containers are',
  'ready-for-too-short': () => 'has been Ready for less than minReadySeconds',
  terminating: (facts) => terminating(facts),
  'endpoints-not-back': ({ slices }) => `its Service endpoint is not back yet: not ready in EndpointSlice ${slices.join(', ')}`,
  'images-changed': () => 'somebody else has changed its images meanwhile',
  'restart-unproven': () => 'the restart is not proven',
  'container-not-replaced': ({ silentNode }) => `the container was not replaced${silent(silentNode)}`,
  'kubelet-behind': ({ generation, observed, node, silentNode }) =>
    `the kubelet${node === undefined ? '' : ` of node ${node}`} has not seen the patch (generation ${generation}, it reports ${observed})${silent(silentNode)}`,
}

/** The state of a pod in a list of pods, after its name. */
export function standing(reason: Reason | undefined): string {
  switch (reason?.code) {
    case 'terminating':
      return terminating(reason)
    case 'readiness-gates-closed':
      return `is not ready (${gates(reason)})`
    case 'node-silent':
      return `is not ready (${nodeSilent(reason.node)})`
    case 'ready-for-too-short':
      return 'has been Ready for less than minReadySeconds'
    default:
      return 'is not ready'
  }
}
