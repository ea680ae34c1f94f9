import type { Incident } from './incident.ts'
import type { IncidentResult } from './play.ts'

/** The reasons why the incident does not count as found and cured; empty where it does. */
export function incidentFaults({ expected }: Pick<Incident, 'expected'>, { before, withRules, after }: IncidentResult): string[] {
  const missing = expected.filter((one) => ![...before.found, ...before.noted].includes(one))
  return [
    ...missing.map((one) => `it was not found: ${one}`),
    ...(withRules === undefined || withRules.failed === 0
      ? []
      : [`with the rules ${withRules.failed} of ${withRules.requests} requests failed`]),
    ...(withRules?.found ?? []).map((one) => `with the rules it is still found: ${one}`),
    ...after.found.map((one) => `after the cure it is still found: ${one}`),
    ...([before, withRules, after].some((passage) => passage?.requests === 0) ? ['no request was sent'] : []),
  ]
}
