import { expect, test } from 'vitest'
import { currentRulesPage } from '../../scripts/write-rules-page.ts'
import { condition, decided, before, endpoint, node, pod, service, slice } from '../../src/webhook/decide/testing/world.ts'
import { parseRuleSet } from '../../src/webhook/rules/parse-rule-set.ts'
import { blocks, page } from './pages.ts'

const yaml = blocks(page('docs/rules.md')).filter(({ language }) => language === 'yaml')
const examples = yaml.filter(({ code }) => code.startsWith('- ')).map(({ code }) => code.replaceAll(/^(?=.)/gm, '  '))
const READY = { ready: true, serving: true }
const OUT = { ready: false, serving: false }
const lost = (status: object): object => pod(1, { status })
const named = (metadata: object): object =>
  pod(1, { metadata: { name: 'web-1', namespace: 'shop', uid: 'uid-of-web-1', labels: {}, ...metadata } })
const unready = [condition('ContainersReady', 'True'), condition('Ready', 'False', { lastTransitionTime: before(10_000) })]
const others = [pod(2), pod(3), pod(4)]

/** For each example that has no test of its own: a pod that it is about, the wish, and what it makes of it. */
const CASES: Readonly<Record<string, [object[], object, object | 'removed']>> = {
  'late-heartbeat': [[lost({ conditions: unready }), node], OUT, READY],
  marked: [[named({ labels: { 'example.com/out': 'true' } }), node], READY, OUT],
  finishing: [[lost({ conditions: [condition('example.com/finishing', 'True')] }), node], READY, { ready: false, serving: true }],
  'bad-image': [[pod(1, { spec: { containers: [{ name: 'app', image: 'app:v1.2.3' }] } }), node], READY, 'removed'],
  'warm-up': [[lost({ conditions: [condition('Ready', 'True', { lastTransitionTime: before(10_000) })] }), node], READY, OUT],
  'short-failure': [[lost({ conditions: unready }), node], OUT, READY],
  canaries: [[named({ name: 'web-canary-1' }), node], READY, OUT],
}

test('the tables of docs/rules.md are of now: node scripts/write-rules-page.ts', () => {
  expect(page('docs/rules.md').text).toBe(currentRulesPage())
})

test('the page has a document and ten examples, each valid', () => {
  expect(examples).toHaveLength(10)
  expect(parseRuleSet(yaml[0]!.code, 'docs/rules.md').rules).toHaveLength(2)
  for (const example of examples)
    expect(parseRuleSet(`apiVersion: sluice.dev/v1\nkind: EndpointRules\nrules:\n${example}`, 'x').rules).toHaveLength(1)
})

test.each(Object.entries(CASES))('the example %s decides as it says, and not about a usual pod', (name, [objects, wish, as]) => {
  const example = examples.find((one) => new RegExp(`(name|use): ${name}$`, 'm').test(one))!
  const old = slice([endpoint(1, READY)])
  const { decision } = decided(example, slice([endpoint(1, wish)]), { objects: [...objects, service], old })
  expect(decision.endpoints).toMatchObject([{ as, failed: [] }])
  const usual = decided(example, slice([endpoint(1, READY)]), { objects: [pod(1), ...others, service, node], old })
  expect(usual.decision.endpoints).toEqual([])
})
