import { expect, test } from 'vitest'
import { writeJournal } from '../../src/journal/journal.ts'
import { JOURNAL_KEY } from '../../src/pods/view.ts'
import { fieldWords, functionWords, shippedRuleWords, variableWords } from '../../src/report/words/rule-language.ts'
import { currentRulesPage } from '../../scripts/write-rules-page.ts'
import { condition, decided, before, endpoint, node, pod, service, slice } from '../../src/webhook/decide/testing/world.ts'
import { TYPES, VARIABLES } from '../../src/webhook/rules/environment.ts'
import { parseRuleSet } from '../../src/webhook/rules/parse-rule-set.ts'
import { RULE_FUNCTIONS } from '../../src/webhook/rules/rule-functions.ts'
import { DOES_NOT_COUNT, SHIPPED_RULES } from '../../src/webhook/rules/shipped.ts'
import { blocks, page } from './pages.ts'

const yaml = blocks(page('docs/rules.md')).filter(({ language }) => language === 'yaml')
const examples = yaml.filter(({ code }) => code.startsWith('- ')).map(({ code }) => code.replaceAll(/^(?=.)/gm, '  '))
const READY = { ready: true, serving: true }
const OUT = { ready: false, serving: false }
const named = (metadata: object): object =>
  pod(1, { metadata: { name: 'web-1', namespace: 'shop', uid: 'uid-of-web-1', labels: { app: 'web' }, ...metadata } })
const withStatus = (...conditions: object[]): object => pod(1, { status: { conditions } })
/** The node lifecycle controller has set `Ready` to False, and the containers are ready. */
const silentFor = (ms: number): object =>
  withStatus(condition('ContainersReady', 'True'), condition('Ready', 'False', { lastTransitionTime: before(ms) }))
const readyFor = (ms: number): object => withStatus(condition('Ready', 'True', { lastTransitionTime: before(ms) }))
const image = (name: string): object => pod(1, { spec: { containers: [{ name: 'app', image: name }] } })
const cordoned = { ...node, spec: { unschedulable: true } }
const others = [pod(2), pod(3), pod(4)]

/** A pod of an upgrade whose record is at this step, and whose old container is Ready still. */
function upgraded(step: 'drain' | 'closed'): object {
  const baseline = [{ name: 'app', image: 'registry.example/app:v1', containerId: 'containerd://A', imageId: 'sha256:1' }]
  const journal = { run: 'k3m9x7p2qa', epoch: 1, attempt: 1, step, generation: 2, baseline, targets: [] }
  return named({ annotations: { [JOURNAL_KEY]: writeJournal(journal, 'uid-of-web-1') } })
}

/** A pod whose sidecar is not ready, and whose annotation names the container. */
function withSidecar(doesNotCount: string): object {
  const annotations = { 'sluice.dev/does-not-count': doesNotCount }
  return {
    ...pod(1, {
      spec: { containers: [{ name: 'app' }, { name: 'proxy' }] },
      status: {
        conditions: [condition('ContainersReady', 'False'), condition('Ready', 'False', { reason: 'ContainersNotReady' })],
        containerStatuses: [
          { name: 'app', ready: true },
          { name: 'proxy', ready: false },
        ],
      },
    }),
    metadata: { name: 'web-1', namespace: 'shop', uid: 'uid-of-web-1', labels: { app: 'web' }, annotations },
  }
}

interface Case {
  /** What the example is about. */
  objects: object[]
  /** Nearly the same, which the example is not about. */
  near: object[]
  wish: object
  as: object | 'removed'
}

/** By the name of the example. */
const CASES: Readonly<Record<string, Case>> = {
  'upgrading-not-ready': { objects: [upgraded('drain'), node], near: [upgraded('closed'), node], wish: READY, as: OUT },
  'late-heartbeat': { objects: [silentFor(299_000), node], near: [silentFor(301_000), node], wish: OUT, as: READY },
  'container-does-not-count': {
    objects: [withSidecar('proxy'), node],
    near: [withSidecar('other'), node],
    wish: OUT,
    as: READY,
  },
  marked: {
    objects: [named({ labels: { 'example.com/out': 'true' } }), node],
    near: [named({ labels: { 'example.com/out': 'false' } }), node],
    wish: READY,
    as: OUT,
  },
  finishing: {
    objects: [withStatus(condition('example.com/finishing', 'True')), node],
    near: [withStatus(condition('example.com/finishing', 'False')), node],
    wish: READY,
    as: { ready: false, serving: true },
  },
  'bad-image': { objects: [image('app:v1.2.3'), node], near: [image('app:v1.2.30'), node], wish: READY, as: 'removed' },
  'warm-up': { objects: [readyFor(59_000), node], near: [readyFor(61_000), node], wish: READY, as: OUT },
  cordoned: {
    objects: [pod(1), pod(2), pod(3), cordoned],
    near: [pod(1), pod(2), cordoned],
    wish: READY,
    as: { ready: false, serving: true },
  },
  'short-failure': { objects: [silentFor(29_000), node], near: [silentFor(31_000), node], wish: OUT, as: READY },
  canaries: {
    objects: [named({ name: 'web-canary-1' }), node],
    near: [named({ name: 'web-canary' }), node],
    wish: READY,
    as: OUT,
  },
}

test('the tables of docs/rules.md are of now: node scripts/write-rules-page.ts', () => {
  expect(page('docs/rules.md').text).toBe(currentRulesPage())
})

test('there are words for what the language has, and for nothing else', () => {
  const fields = TYPES.flatMap(({ name, fields: own }) => Object.keys(own).map((field) => `${name}.${field}`))
  expect(Object.keys(variableWords)).toEqual(Object.keys(VARIABLES))
  expect(Object.keys(functionWords)).toEqual(RULE_FUNCTIONS.map(({ signature }) => signature))
  expect(Object.keys(shippedRuleWords)).toEqual(Object.keys(SHIPPED_RULES))
  expect(fields).toEqual(expect.arrayContaining(Object.keys(fieldWords)))
  expect(shippedRuleWords['container-does-not-count']!.parameters['annotation']).toContain(`\`${DOES_NOT_COUNT}\``)
})

test('the page has a document and ten examples, each valid, and each decides in a test', () => {
  expect(parseRuleSet(yaml[0]!.code, 'docs/rules.md').rules).toHaveLength(2)
  const names = examples.map((example) => {
    const { rules } = parseRuleSet(`apiVersion: sluice.dev/v1\nkind: EndpointRules\nrules:\n${example}`, 'x')
    expect(rules).toHaveLength(1)
    return rules[0]!.name
  })
  expect(names).toEqual(Object.keys(CASES))
  expect(names).toHaveLength(10)
})

test.each(Object.entries(CASES))(
  'the example %s decides as it says, and about nothing else',
  (name, { objects, near, wish, as }) => {
    const example = examples.find((one) => new RegExp(`(name|use): ${name}$`, 'm').test(one))!
    const wished = slice([endpoint(1, wish)])
    const old = slice([endpoint(1, READY)])
    expect(decided(example, wished, { objects: [...objects, service], old }).decision.endpoints).toMatchObject([
      { as, failed: [] },
    ])
    const other = decided(example, wished, { objects: [...near, service], old })
    expect([other.patch, other.decision.endpoints.flatMap(({ failed }) => failed)]).toEqual([[], []])
    const usual = decided(example, old, { objects: [pod(1), ...others, service, node], old })
    expect(usual.decision.endpoints).toEqual([])
  },
)
