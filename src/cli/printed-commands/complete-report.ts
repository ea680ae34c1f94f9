import type { Report } from '../../report/report.ts'

/** What is kept in the cluster, with the commands in its words made complete by `complete`. */
export function completeReport(report: Report, complete: (text: string) => string): Report {
  return {
    ...report,
    reason: complete(report.reason),
    warnings: report.warnings.map(complete),
    pods: report.pods.map((pod) => ({
      ...pod,
      reason: complete(pod.reason),
      ...(pod.instructions === undefined ? {} : { instructions: complete(pod.instructions) }),
    })),
  }
}
