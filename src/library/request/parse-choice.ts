import { z } from 'zod'
import type { RunRequest } from '../../engine/run.ts'
import { isSameWorkload, type WorkloadId } from '../../pods/workload-id.ts'
import type { Kinds } from '../../workloads/kinds/kinds.ts'
import { quote } from './quote.ts'
import { parsed } from './parsed.ts'
import type { RequestIssue } from './request-error.ts'
import { parseRef } from './selection.ts'
import { selectorProblem } from './selector-problem.ts'
import type { WorkloadChoice, WorkloadName } from './upgrade-request.ts'

/** The values that a request takes from its cluster. */
export interface OfCluster {
  namespace: string
  kinds: Kinds
}

/** The workloads and pods of a request, and their namespace. */
export type Choice = Pick<RunRequest, 'namespace' | 'select'>

const NAMESPACE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/

const optional = z.string().optional()
const objectFields = {
  group: optional,
  version: optional,
  kind: z.string(),
  plural: optional,
  name: z.string(),
  namespace: optional,
}
const Name = z.union([z.string(), z.strictObject(objectFields)])

const namedFields = { workload: z.union([Name, z.array(Name)]).optional(), namespace: z.string().optional() }

/** The fields that choose the workloads and pods of a request. */
export const choiceFields = { ...namedFields, labelSelector: z.string().optional() }

const Choice = z.strictObject(choiceFields)
const Named = z.strictObject(namedFields)
const Namespaced = z.strictObject({ namespace: namedFields.namespace })

/** Throws a RequestError that lists every problem. */
export function parseChoice(input: WorkloadChoice, cluster: OfCluster): Choice {
  return parsed(Choice, input, (issues) => choiceOf(input, cluster, issues))
}

/** Reads workloads by name; an empty result means all workloads of the namespace. Throws a RequestError that lists every problem. */
export function parseNamed(
  input: Pick<WorkloadChoice, 'workload' | 'namespace'>,
  cluster: OfCluster,
): { namespace: string; refs: WorkloadId[] } {
  return parsed(Named, input, (issues) => ({
    namespace: namespaceOf(input, cluster.namespace, issues),
    refs: refsOf(input.workload, cluster.kinds, issues),
  }))
}

/** The namespace of a call about a whole namespace. Throws a RequestError that lists every problem. */
export function parseNamespace(input: Pick<WorkloadChoice, 'namespace'>, cluster: OfCluster): string {
  return parsed(Namespaced, input, (issues) => namespaceOf(input, cluster.namespace, issues))
}

/** Reads the choice of a request, and adds its problems to `issues`. */
export function choiceOf(input: WorkloadChoice, { namespace, kinds }: OfCluster, issues: RequestIssue[]): Choice {
  return { namespace: namespaceOf(input, namespace, issues), select: selectionOf(input, kinds, issues) }
}

/** The one namespace of a request: its own, else that of its workloads. Different namespaces are a problem. */
function namespaceOf(
  { workload, namespace: asked }: Pick<WorkloadChoice, 'workload' | 'namespace'>,
  ofCluster: string,
  issues: RequestIssue[],
): string {
  const own = asked === undefined ? [] : [{ field: 'namespace', namespace: asked }]
  const named = namesOf(workload).flatMap((name, index) =>
    typeof name === 'string' || name.namespace === undefined
      ? []
      : [{ field: `${fieldOf(workload, index)}.namespace`, namespace: name.namespace }],
  )
  const [first, ...others] = [...own, ...named]
  if (first === undefined) return ofCluster
  if (!NAMESPACE.test(first.namespace))
    issues.push({ field: first.field, message: `${quote(first.namespace)} cannot be the name of a namespace` })
  for (const { field, namespace } of others)
    if (namespace !== first.namespace)
      issues.push({
        field,
        message: `${quote(namespace)} is another namespace than ${quote(first.namespace)} of ${first.field}`,
        hint: 'a request is of one namespace',
      })
  return first.namespace
}

function selectionOf(
  { workload, labelSelector }: Pick<WorkloadChoice, 'workload' | 'labelSelector'>,
  kinds: Kinds,
  issues: RequestIssue[],
): RunRequest['select'] {
  if (labelSelector === undefined) {
    const refs = refsOf(workload, kinds, issues)
    const isMissing = refs.length === 0 && issues.every(({ field }) => !field.startsWith('workload'))
    if (isMissing)
      issues.push({
        field: 'workload',
        message: 'is missing',
        hint: "write 'TYPE/NAME', such as 'statefulset/web', or give a labelSelector",
      })
    return { refs }
  }
  if (workload !== undefined)
    issues.push({ field: 'labelSelector', message: 'it and workload exclude each other', hint: 'give one of them' })
  const isEmpty = labelSelector.trim() === ''
  const problem = isEmpty ? 'an empty selector would mean every pod in the namespace' : selectorProblem(labelSelector)
  if (problem !== undefined) issues.push({ field: 'labelSelector', message: problem })
  return { labelSelector }
}

function refsOf(workload: WorkloadChoice['workload'], kinds: Kinds, issues: RequestIssue[]): WorkloadId[] {
  const refs: WorkloadId[] = []
  for (const [index, name] of namesOf(workload).entries()) {
    const read = parseRef(typeof name === 'string' ? name : `${name.kind}${name.group ? `.${name.group}` : ''}/${name.name}`, {
      kinds,
    })
    if (!read.ok) issues.push({ field: fieldOf(workload, index), message: read.problem })
    else if (!refs.some((ref) => isSameWorkload(ref, read.ref))) refs.push(read.ref)
  }
  return refs
}

function namesOf(workload: WorkloadChoice['workload']): readonly WorkloadName[] {
  if (workload === undefined) return []
  return Array.isArray(workload) ? (workload as readonly WorkloadName[]) : [workload as WorkloadName]
}

function fieldOf(workload: WorkloadChoice['workload'], index: number): string {
  return Array.isArray(workload) ? `workload[${index}]` : 'workload'
}
