import { parse as parseYaml } from 'yaml'
import type { RuleSet } from '../../rules/rule-set.ts'
import { RulesError } from '../../rules/rules-error.ts'

/** A document with `count` rules, each of which names the version. */
export function ruleDocument(version: number | string, count = 1): string {
  const rules = Array.from(
    { length: count },
    (_, index) => `  - {name: rule-${index}-of-${version}, when: 'true', effect: notReady}`,
  )
  return ['apiVersion: sluice.dev/v1', 'kind: EndpointRules', `metadata: {version: "${version}"}`, 'rules:', ...rules, ''].join(
    '\n',
  )
}

export function parse(text: string): RuleSet {
  const document = parseYaml(text) as { kind?: string; metadata: { version: string }; rules: { name: string }[] } | null
  if (document?.kind !== 'EndpointRules' || !Array.isArray(document.rules))
    throw new RulesError('rules', [{ path: 'kind', message: 'is no document of rules', line: 1, column: 1 }])
  const rules = document.rules.map(({ name }) => ({
    name,
    effect: 'notReady' as const,
    applies: () => true,
    reads: new Set<never>(),
  }))
  return { version: document.metadata.version, mode: 'enforce', rules }
}
