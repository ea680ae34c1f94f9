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

const DURATION = 'google.protobuf.Duration'

export const RULE_FUNCTIONS: readonly RuleFunction[] = [
  ...['Pod', 'Node', 'Service', 'Condition', 'Request'].map((type) => ({
    signature: `exists(${type}): bool`,
    handler: (value: object) => isThere(value),
  })),
  {
    signature: 'upgrading(Pod): bool',
    handler: (pod: object) => isThere(pod) && isUpgrading(sourceOf(pod)),
  },
  {
    signature: 'newContainerReady(Pod): bool',
    handler: (pod: object) => isThere(pod) && isNewContainerReady(sourceOf(pod)),
  },
  {
    signature: 'condition(Pod, string): Condition',
    handler: condition,
  },
  { signature: 'condition(Node, string): Condition', handler: condition },
  {
    signature: `ageOf(Condition): ${DURATION}`,
    reads: 'clock',
    handler: ageOf,
  },
  {
    signature: 'setBy(Pod, string): string',
    handler: setBy,
  },
  {
    signature: 'nodeSilent(Pod): bool',
    handler: isSilenced,
  },
  {
    signature: 'readyWithout(Pod, list<string>): bool',
    handler: isReadyWithout,
  },
  {
    signature: 'podsOf(Service): int',
    reads: 'pod',
    handler: (service: object) => BigInt(countsOf(service).all),
  },
  {
    signature: 'readyPodsOf(Service): int',
    reads: 'pod',
    handler: (service: object) => BigInt(countsOf(service).ready),
  },
  {
    signature: 'glob(string, string): bool',
    handler: matchesGlob,
  },
]
