import { until } from '../../../kube/testing/until.ts'
import { systemClock, systemRandom } from '../../../ports/system.ts'
import { openRules, type OpenRulesOptions } from '../open-rules.ts'
import type { RulesChange, RulesProblem, RulesSource } from '../rules-source.ts'

export interface OpenedRules {
  source: RulesSource
  /** The changes so far, in their order. */
  changes: RulesChange[]
  version(): string | undefined
  problemCode(): RulesProblem['code'] | undefined
  untilVersion(version: string): Promise<void>
  untilProblem(code: RulesProblem['code'] | undefined): Promise<void>
  close(): Promise<void>
}

/** Opens rules that are looked at often. */
export function open(options: Partial<OpenRulesOptions> & Pick<OpenRulesOptions, 'from'>): OpenedRules {
  const ending = new AbortController()
  const changes: RulesChange[] = []
  const source = openRules({
    clock: systemClock,
    random: systemRandom,
    everyMs: 20,
    signal: ending.signal,
    ...options,
  })
  source.onChange((change) => changes.push(change))
  const version = (): string | undefined => source.current()?.version
  const problemCode = (): RulesProblem['code'] | undefined => source.problem()?.code
  return {
    source,
    changes,
    version,
    problemCode,
    untilVersion: (wanted) => until(() => version() === wanted),
    untilProblem: (wanted) => until(() => problemCode() === wanted),
    close() {
      ending.abort()
      return source.ended
    },
  }
}
