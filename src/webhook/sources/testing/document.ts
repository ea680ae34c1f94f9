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

/** Reads such a document by its lines. */
export function parse(text: string): RuleSet {
  const version = /^metadata: \{version: "(.+)"\}$/m.exec(text)?.[1]
  if (version === undefined || !/^rules:$/m.test(text))
    throw new RulesError('rules', [{ path: 'kind', message: 'is no document of rules', line: 1, column: 1 }])
  const rules = Array.from(text.matchAll(/^ {2}- \{name: ([-a-z0-9]+),.*\}$/gm), ([, name]) => ({
    name: name!,
    effect: 'notReady' as const,
    applies: () => true,
    reads: new Set<never>(),
    when: 'true',
    parts: [],
  }))
  return { version, mode: 'enforce', rules }
}
