import { Duration } from '@marcbachmann/cel-js/evaluator'
import { conditionPath, KUBELET, writerOf } from '../../endpoints/writers.ts'
import type { ManagedFields } from '../../endpoints/stored.ts'
import { RuleError } from './rules-error.ts'
import { isNewContainerReady, isUpgrading } from './upgrading.ts'
import { running } from './evaluation.ts'
import { spend } from './steps.ts'
import { countsOf, isThere, missing, sourceOf } from './values.ts'
import { CONDITION } from './variable-types.ts'
import type { Read } from './rule-set.ts'

/** A function that rules may call, in addition to those of CEL. */
export interface RuleFunction {
  readonly signature: string
  /** What the function gives, for the docs. */
  readonly says: string
  /** What it reads beyond its arguments. */
  readonly reads?: Read
  readonly handler: (...values: never[]) => unknown
}

interface ConditionRecord {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly lastTransitionTime?: Date
}

interface Conditioned {
  readonly status?: { readonly conditions?: readonly ConditionRecord[] }
}

/** Comparisons of a pattern that cost one step. */
const COMPARISONS_A_STEP = 16

/** A name with `*` for any text. The cost may be the length of the text times that of the pattern, and counts as steps. */
function matchesGlob(text: string, pattern: string): boolean {
  let [at, in_, star, resume] = [0, 0, -1, 0]
  for (let compared = 1; at < text.length; compared++) {
    if (compared % COMPARISONS_A_STEP === 0) spend(1)
    if (pattern[in_] === '*') {
      star = in_
      resume = at
      in_ += 1
    } else if (pattern[in_] === text[at]) {
      at += 1
      in_ += 1
    } else if (star >= 0) {
      resume += 1
      at = resume
      in_ = star + 1
    } else return false
  }
  while (pattern[in_] === '*') in_ += 1
  return in_ === pattern.length
}

function find(object: Conditioned, type: string): ConditionRecord | undefined {
  return object.status?.conditions?.find((one) => one.type === type)
}

function condition(object: Conditioned, type: string): object {
  return find(object, type) ?? missing(CONDITION, { type, status: 'Unknown' })
}

function ageOf(one: ConditionRecord): Duration {
  const { type = '', lastTransitionTime } = one
  if (lastTransitionTime === undefined) throw new RuleError('failed', `the condition ${type} has no lastTransitionTime`)
  return Duration.fromMilliseconds(running().facts.nowAt - lastTransitionTime.getTime())
}

function setBy(pod: object, type: string): string {
  const { metadata } = sourceOf(pod) as { metadata?: { managedFields?: ManagedFields[] } }
  return writerOf(metadata?.managedFields, conditionPath(type), KUBELET)?.is ?? ''
}

/** The node lifecycle controller sets no reason, and leaves ContainersReady as it is. */
function isSilenced(pod: object): boolean {
  const ready = find(pod, 'Ready')
  if (ready?.status !== 'False' || find(pod, 'ContainersReady')?.status !== 'True') return false
  const writer = setBy(pod, 'Ready')
  return ready.reason === undefined && (writer === 'controller-manager' || writer === '')
}

interface ReadinessFields extends Conditioned {
  readonly spec?: {
    readonly containers?: readonly { readonly name?: string }[]
    readonly initContainers?: readonly { readonly name?: string; readonly restartPolicy?: string }[]
    readonly readinessGates?: readonly { readonly conditionType?: string }[]
  }
  readonly status?: Conditioned['status'] & {
    readonly phase?: string
    readonly containerStatuses?: readonly { readonly name?: string; readonly ready?: boolean }[]
    readonly initContainerStatuses?: readonly { readonly name?: string; readonly ready?: boolean }[]
  }
}

/** The kubelet's rule for condition Ready, without these containers. A pod of which no container counts is not ready. */
function isReadyWithout(pod: ReadinessFields, names: readonly string[]): boolean {
  const left = new Set(names.map((name) => name.trim()))
  const sidecars = (pod.spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  const counting = [...(pod.spec?.containers ?? []), ...sidecars].filter(({ name = '' }) => !left.has(name))
  const statuses = [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])]
  const isOpen = ({ conditionType = '' }): boolean => find(pod, conditionType)?.status === 'True'
  return (
    counting.length > 0 &&
    pod.status?.phase === 'Running' &&
    counting.every(({ name }) => statuses.some((one) => one.name === name && one.ready === true)) &&
    (pod.spec?.readinessGates ?? []).every(isOpen)
  )
}

const EXISTS = {
  Pod: 'false for an endpoint without a pod, and for a pod that this process has not seen',
  Node: 'false where the node is not known',
  Service: 'false where the object names no Service, or the Service is not known',
  Condition: 'false for a condition that the object does not have',
  Request: 'false for a second look, which no request causes',
}

const DURATION = 'google.protobuf.Duration'

export const RULE_FUNCTIONS: readonly RuleFunction[] = [
  ...['Pod', 'Node', 'Service', 'Condition', 'Request'].map((type) => ({
    signature: `exists(${type}): bool`,
    says: EXISTS[type as keyof typeof EXISTS],
    handler: (value: object) => isThere(value),
  })),
  {
    signature: 'upgrading(Pod): bool',
    says: 'sluice has the pod out of rotation for an upgrade: from the record of the drain until it is back in all its load balancers',
    handler: (pod: object) => isThere(pod) && isUpgrading(sourceOf(pod)),
  },
  {
    signature: 'newContainerReady(Pod): bool',
    says: 'the containers that the upgrade changes are replaced, and the pod is ready; for a pod without an upgrade, the pod is ready',
    handler: (pod: object) => isThere(pod) && isNewContainerReady(sourceOf(pod)),
  },
  {
    signature: 'condition(Pod, string): Condition',
    says: 'the condition of this type; where there is none, its status is `Unknown` and it has no `lastTransitionTime`',
    handler: condition,
  },
  { signature: 'condition(Node, string): Condition', says: 'the same for a node', handler: condition },
  {
    signature: `ageOf(Condition): ${DURATION}`,
    says: 'the time since `lastTransitionTime`; fails where the condition has none',
    reads: 'clock',
    handler: ageOf,
  },
  {
    signature: 'setBy(Pod, string): string',
    says: 'the component that last wrote the status of this condition, by `managedFields`: `kubelet`, `controller-manager`, `sluice`, `person` (kubectl), `other`, or empty where it is not recorded',
    handler: setBy,
  },
  {
    signature: 'nodeSilent(Pod): bool',
    says: 'the node lifecycle controller has set `Ready` to False since the node does not report, while the containers are ready',
    handler: isSilenced,
  },
  {
    signature: 'readyWithout(Pod, list<string>): bool',
    says: 'the pod runs, and all other containers, sidecars and readiness gates are ready; false where no container is left',
    handler: isReadyWithout,
  },
  {
    signature: 'podsOf(Service): int',
    says: 'the number of pods that the selector of the Service matches',
    reads: 'pod',
    handler: (service: object) => BigInt(countsOf(service).all),
  },
  {
    signature: 'readyPodsOf(Service): int',
    says: 'the number of those pods whose condition `Ready` is True, whatever the rules decide',
    reads: 'pod',
    handler: (service: object) => BigInt(countsOf(service).ready),
  },
  {
    signature: 'glob(string, string): bool',
    says: 'the text matches the pattern, in which `*` stands for any text',
    handler: matchesGlob,
  },
]
