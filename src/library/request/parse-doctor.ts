import { z } from 'zod'
import { type FindingCode, SEVERITY } from '../../doctor/findings.ts'
import type { WorkloadId } from '../../pods/workload-id.ts'
import { choiceFields, type OfCluster, parseNamed } from './parse-choice.ts'
import { assertShape } from './parsed.ts'
import { RequestError } from './request-error.ts'
import type { WorkloadChoice } from './upgrade-request.ts'

/** The scope of `sluice.doctor`. */
export interface DoctorChoice extends Pick<WorkloadChoice, 'workload' | 'namespace'> {
  /** Examines all namespaces, in place of one. */
  allNamespaces?: boolean
  /** Creates a Service in the namespace, measures how long its endpoints take, and deletes it. Default: nothing is written. */
  probe?: boolean
  /** Codes of findings that are known and accepted. */
  ignore?: readonly FindingCode[]
}

export interface ParsedDoctor {
  refs: WorkloadId[]
  namespace?: string
  probeIn?: string
  ignore: readonly FindingCode[]
}

const FINDING_CODES = Object.keys(SEVERITY) as FindingCode[]

const Choice = z.strictObject({
  workload: choiceFields.workload,
  namespace: choiceFields.namespace,
  allNamespaces: z.boolean().optional(),
  probe: z.boolean().optional(),
  ignore: z.array(z.enum(FINDING_CODES)).optional(),
} satisfies Record<keyof DoctorChoice, z.ZodType>)

/** Throws a RequestError that lists every problem. */
export function parseDoctor(input: DoctorChoice, cluster: OfCluster): ParsedDoctor {
  assertShape(Choice, input, 'request')
  const { allNamespaces = false, probe = false, ignore = [], ...named } = input
  const { namespace, refs } = parseNamed(named, cluster)
  if (allNamespaces && (input.namespace !== undefined || refs.length > 0))
    throw new RequestError([
      { field: 'allNamespaces', message: 'it excludes a namespace and workloads', hint: 'a workload is of one namespace' },
    ])
  return { refs, ignore, ...(allNamespaces ? {} : { namespace }), ...(probe ? { probeIn: namespace } : {}) }
}
