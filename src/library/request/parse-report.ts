import { z } from 'zod'
import type { WorkloadId } from '../../pods/workload-id.ts'
import type { ReportFailure } from '../../report/report.ts'
import { type OfCluster, parseNamed } from './parse-choice.ts'
import { parsed } from './parsed.ts'
import { RequestError } from './request-error.ts'
import type { WorkloadName } from './upgrade-request.ts'

/** One run by its id, or the newest run of a workload that changed something. */
export interface ReportRequest {
  run?: string
  workload?: WorkloadName
  /** The namespace of the run. Default: that of the workload, else that of the cluster handle. */
  namespace?: string
  /** Failed requests that clients have reported; the report shows them beside the steps of the run. */
  failures?: readonly ReportFailure[]
}

const Request = z.strictObject({
  run: z.string().min(1).optional(),
  workload: z.unknown().optional(),
  namespace: z.string().optional(),
  failures: z.array(z.unknown()).optional(),
} satisfies Record<keyof ReportRequest, z.ZodType>)

export interface ParsedReport {
  wanted: { run: string } | { ref: WorkloadId }
  namespace: string
}

/** Throws a RequestError that lists every problem. */
export function parseReport(input: ReportRequest, cluster: OfCluster): ParsedReport {
  const {
    run,
    workload,
    namespace: asked,
  } = parsed(Request, input, (issues) => {
    if (input.run !== undefined && input.workload !== undefined)
      issues.push({ field: 'run', message: 'it and workload exclude each other', hint: 'give one of them' })
    if (Array.isArray(input.workload)) issues.push({ field: 'workload', message: 'a report is of one workload' })
    return input
  })
  const named = parseNamed({ ...(workload && { workload }), ...(asked === undefined ? {} : { namespace: asked }) }, cluster)
  const [ref] = named.refs
  if (run !== undefined) return { wanted: { run }, namespace: named.namespace }
  if (ref === undefined) throw new RequestError([{ field: 'workload', message: 'is missing', hint: 'name one, or a run' }])
  return { wanted: { ref }, namespace: named.namespace }
}
