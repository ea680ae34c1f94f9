import { describe, expect, test } from 'vitest'
import { LIMITS } from './limits.ts'
import { parseRuleSet } from './parse-rule-set.ts'
import { RulesError } from './rules-error.ts'

const HEAD = 'apiVersion: sluice.dev/v1\nkind: EndpointRules\n'
const document = (rules: string): string => `${HEAD}rules:\n${rules}\n`
const rule = (when: string): string => document(`  - {name: x, when: ${JSON.stringify(when)}, effect: ready}`)

function mistakes(text: string): string[] {
  try {
    parseRuleSet(text, 'rules.yaml')
  } catch (error) {
    if (!(error instanceof RulesError)) throw error
    return error.issues.map(({ path, message, hint }) => [path, message, hint].filter(Boolean).join(' | '))
  }
  return []
}

test('a document is rules, a mode and a version', () => {
  const text = `${HEAD}metadata: {name: edge, version: v7}\nmode: audit\nrules:\n  - {name: x, when: endpoint.ready, effect: notReady}\n`
  const set = parseRuleSet(text, 'rules.yaml')
  expect(set).toMatchObject({ version: 'v7', mode: 'audit', rules: [{ name: 'x', effect: 'notReady', when: 'endpoint.ready' }] })
  expect(parseRuleSet(document('  []'), 'x')).toMatchObject({ mode: 'enforce', rules: [] })
})

test.each(['now', 'now - duration("1s")'])('since: %s moves with the clock, and would keep an endpoint for ever', (since) => {
  expect(mistakes(document(`  - {name: x, when: 'true', effect: keepPrevious, since: '${since}', for: 1m}`))).toEqual([
    'rules[0].since | reads the clock, so that the endpoint would be kept for ever | ' +
      'write an instant that stays, such as condition(pod, "Ready").lastTransitionTime',
  ])
})

test('JSON is YAML', () => {
  const json = JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'EndpointRules', rules: [{ use: 'upgrading-not-ready' }] })
  expect(parseRuleSet(json, 'x').rules).toMatchObject([{ name: 'upgrading-not-ready', effect: 'notReady' }])
})

test('without a version, the content gives one', () => {
  const [one, same, other] = [rule('true'), rule('true'), rule('false')].map((text) => parseRuleSet(text, 'x').version)
  expect(one).toMatch(/^sha-[0-9a-f]{8}$/)
  expect(same).toBe(one)
  expect(other).not.toBe(one)
})

test('all mistakes are named at once, each with its line and a way out', () => {
  const text = `apiVersion: sluice.dev/v1
kind: EndpointRule
mod: audit
rules:
  - {name: A b, when: pdo.metadata.name == "x", effect: redy}
  - {name: b, when: 'pod.metadata.lables == {}', effect: keepPrevious}
  - {use: late-heartbet}
  - {use: late-heartbeat, with: {within: 5, floor: x, z: 1}}
  - {name: c, when: upgradng(pod), effect: ready, for: 5m}
  - {name: c, when: 'true', effect: ready, with: {}}
  - {use: upgrading-not-ready, when: 'true'}
`
  expect(mistakes(text)).toEqual([
    'kind | "EndpointRule" is not understood | did you mean "EndpointRules"?',
    'mod | unknown key | did you mean "mode"?',
    'rules[0].name | is no name of a rule | write at most 63 lower case letters, digits and -, such as drain-first',
    expect.stringMatching(/^rules\[0\]\.when \| the expression .* is wrong: Unknown variable: pdo \(at character 1\) \| /),
    expect.stringMatching(/^rules\[0\]\.effect \| "redy" is none of ready, .* \| did you mean "ready"\?$/),
    'rules[1].since | is missing, and effect: keepPrevious needs it | write since when, such as condition(pod, "Ready").lastTransitionTime',
    'rules[1].for | is missing, and effect: keepPrevious needs it | write for how long, such as 2m',
    expect.stringMatching(/^rules\[1\]\.when \| .* No such key: lables \(at character 14\) \| did you mean "labels"\?$/),
    expect.stringMatching(/^rules\[2\]\.use \| "late-heartbet" is none of .* \| did you mean "late-heartbeat"\?$/),
    expect.stringMatching(/^rules\[3\]\.with\.within \| 5 has no unit \| /),
    'rules[3].with.floor | "x" is no number of pods | write a number of pods from 1, or a percentage such as "50%"',
    'rules[3].with.z | unknown key | known here: within, floor',
    expect.stringMatching(/^rules\[4\]\.when \| .* 'upgradng\(Pod\)' \(at character 1\) \| did you mean "upgrading"\?$/),
    'rules[4].for | means nothing with effect: ready | remove it, or write effect: keepPrevious',
    'rules[5].with | unknown key | only a rule with use: has parameters',
    'rules[6].when | unknown key | a shipped rule brings its own; remove it, or remove use',
  ])
})

test('a name is given once', () => {
  const twice = document('  - {name: x, when: "true", effect: ready}\n  - {name: x, when: "true", effect: ready}')
  expect(mistakes(twice)).toEqual(['rules[1].name | "x" is the name of an earlier rule too | give each rule a name of its own'])
  expect(mistakes(document('  - {use: upgrading-not-ready}\n  - {use: upgrading-not-ready, name: again}'))).toEqual([])
})

describe('an expression that is wrong is a mistake of the document', () => {
  test.each([
    ['pod.status.phase', 'gives string, not true or false'],
    ['pod.spec.replicas > 3', 'No such key: replicas'],
    ['has(pod.metadta)', 'No such key: metadta'],
    ['pod.spec.containers.exists(c, has(c.imgae))', 'No such key: imgae'],
    ['pod.metadata.generation == "x"', 'no such overload: int == string'],
    ['upgrading(node)', "found no matching overload for 'upgrading(Node)'"],
    ['pod == null', 'no such overload: Pod == null'],
    ['pod.metadata.labels.app = "x"', 'Unexpected character: ='],
    ['', 'Unexpected token: EOF'],
    ['pod.metadata.name.matches("(a+)+b")', 'matches is not available'],
    ['cel.bind(x, 1, x == 1)', 'cel.bind is not available'],
    ['now', 'gives google.protobuf.Timestamp'],
    ['dyn(pod).x', 'gives dyn, not true or false'],
  ])('%s', (when, message) => {
    const [only, ...others] = mistakes(rule(when))
    expect(only).toContain(message)
    expect(others).toEqual([])
  })

  test('`since` is a time', () => {
    const keep = (since: string): string =>
      document(`  - {name: x, when: "true", effect: keepPrevious, since: '${since}', for: 1m}`)
    expect(mistakes(keep('pod.metadata.name'))).toEqual([expect.stringContaining('gives string, not a time')])
    expect(mistakes(keep('pod.metadata.creationTimestamp'))).toEqual([])
  })
})

describe('a document has limits', () => {
  test('of bytes, rules, and the size of an expression', () => {
    expect(mistakes(`# ${'x'.repeat(LIMITS.documentBytes)}`)).toEqual([
      expect.stringMatching(/^has \d+ bytes \| at most 262144$/),
    ])
    const many = (count: number): string =>
      document(Array.from({ length: count }, (_, at) => `  - {name: r${at}, when: "true", effect: ready}`).join('\n'))
    expect(mistakes(many(LIMITS.rules))).toEqual([])
    expect(mistakes(many(LIMITS.rules + 1))).toEqual(['rules | is too long | entries: at most 100'])
    const long = Array.from({ length: 251 }, () => 'true').join(' || ')
    expect(mistakes(rule(long))).toEqual([expect.stringContaining('at most 500 parts')])
    expect(mistakes(rule(`${'('.repeat(60)}true${')'.repeat(60)}`))).toEqual([expect.stringContaining('nested at most 50 deep')])
    expect(mistakes(rule(`"${'x'.repeat(LIMITS.expressionCharacters)}" == ""`))).toEqual([
      expect.stringContaining('an expression has at most 4096'),
    ])
  })

  test('of the time that keepPrevious keeps', () => {
    const keep = (text: string): string =>
      document(`  - {name: x, when: "true", effect: keepPrevious, since: service.metadata.creationTimestamp, for: ${text}}`)
    expect(mistakes(keep('24h'))).toEqual([])
    expect(mistakes(keep('25h'))).toEqual(['rules[0].for | 25h is too long | between 1ms and 24h'])
    expect(mistakes(keep('0s'))).toEqual(['rules[0].for | 0s is too short | between 1ms and 24h'])
  })
})

test.each([
  '',
  '- x',
  'text',
  '%',
  'a: &a [*a]',
  'a: 1\na: 2',
  `${HEAD}rules: {}`,
  `${HEAD}rules: [3, null, []]`,
  `${HEAD}metadata: {version: 7}\nrules: []`,
])('the document %j is a RulesError', (text) => {
  expect(mistakes(text).length).toBeGreaterThan(0)
})

test('`reads` tells what a later look depends on', () => {
  const reads = (when: string): string[] => [...parseRuleSet(rule(when), 'x').rules[0]!.reads].toSorted()
  expect(reads('true')).toEqual([])
  expect(reads('address.ready && has(node.spec)')).toEqual(['endpoint', 'node'])
  expect(reads('ageOf(condition(pod, "Ready")) < duration("1m")')).toEqual(['clock', 'pod'])
  expect(reads('readyPodsOf(service) < 3 || object.size > 1')).toEqual(['object', 'pod', 'service'])
  expect(reads('[1].exists(x, request.dryRun)')).toEqual(['request'])
  expect(reads('now > timestamp("2026-11-30T10:00:00Z")')).toEqual(['clock'])
})
