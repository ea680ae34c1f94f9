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
