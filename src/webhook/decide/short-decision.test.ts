import { expect, test } from 'vitest'
import type { Decision, EndpointDecision } from './decision.ts'
import { shortDecision } from './short-decision.ts'

const state = { ready: true, serving: true }
const one = (address: string, more: Partial<EndpointDecision> = {}): EndpointDecision => ({
  addresses: [address],
  wished: state,
  as: 'removed',
  rule: 'sidecar',
  effect: 'remove',
  failed: [],
  ...more,
})
const decision = (endpoints: EndpointDecision[], mode: Decision['mode'] = 'enforce'): Decision => ({
  kind: 'EndpointSlice',
  namespace: 'shop',
  name: 'web-1',
  ruleSet: 'v7',
  mode,
  endpoints,
  total: 9,
  unseenPods: 0,
})

test('a decision in one line has each rule with its effect and the first addresses, in an order of their own', () => {
  const { rule: _rule, effect: _effect, ...none } = one('10.0.0.9', { failed: [{ rule: 'late', code: 'failed', problem: 'x' }] })
  const all = [one('10.0.0.4'), one('10.0.0.1'), one('10.0.0.3'), one('10.0.0.2'), none]
  const line = 'v7: late=failed 10.0.0.9; sidecar=remove 10.0.0.1,10.0.0.2,10.0.0.3,+1'
  expect([shortDecision(decision(all)), shortDecision(decision(all.toReversed()))]).toEqual([line, line])
  expect(shortDecision(decision([one('::1')], 'audit'))).toBe('v7 audit: sidecar=remove ::1')
  const many = Array.from({ length: 100 }, (_, index) => one('10.0.0.1', { rule: `rule-with-a-long-name-${index}` }))
  expect(shortDecision(decision(many))).toHaveLength(1_000)
})
