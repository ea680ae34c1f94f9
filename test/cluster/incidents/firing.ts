import { type Family, parseMetrics } from '../../../src/telemetry/testing/parse-metrics.ts'
import { rules } from '../../alerts/deployed.ts'

const TERM = /^(?:sum|max) by \([^)]*\) \((\w+)\{code="([^"]+)"\}\) > (0|time\(\) - (\d+))$/

/** The names of the alerts of findings whose expressions have a result at this instant. The `for` duration of a rule is not applied. */
export function firing(text: string, now: number): string[] {
  const families = parseMetrics(text)
  return rules()
    .filter(({ alert, expr }) => alert !== undefined && expr.includes('{code='))
    .filter(({ expr }) => expr.split(' or ').some((term) => hasResult(term, families, now)))
    .map(({ alert }) => alert!)
    .toSorted()
}

function hasResult(term: string, families: ReadonlyMap<string, Family>, now: number): boolean {
  const [, metric, code, bound, seconds] = TERM.exec(term) ?? []
  if (metric === undefined) throw new Error(`not a term that this test can tell: ${term}`)
  const values = (families.get(metric)?.samples ?? []).filter(({ labels }) => labels['code'] === code).map(({ value }) => value)
  return values.some((value) => value > (bound === '0' ? 0 : now / 1000 - Number(seconds)))
}
