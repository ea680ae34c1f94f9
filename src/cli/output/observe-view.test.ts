import { expect, test } from 'vitest'
import type { ObserverSummary, Told } from '../../observer/told.ts'
import { shellForm } from '../../report/words/shell.ts'
import { createWriting } from '../../report/words/words.ts'
import { createColors } from './color.ts'
import { jsonView, textView } from './observe-view.ts'

const write = createWriting()
const colors = createColors(false)
const at = Date.parse('2026-11-29T22:58:01.708Z')
const of = { cluster: 'east', namespace: 'shop', service: 'web' }
const stale: Told = {
  type: 'finding',
  at,
  finding: {
    code: 'stale-address',
    ...of,
    object: 'Endpoints',
    name: 'web',
    address: '10.0.0.1',
    why: 'pod-gone',
    sinceMs: 10_000,
  },
}
const change: Told = { type: 'pod', at, cluster: 'east', namespace: 'shop', pod: 'web-0', change: 'gone' }
const summary: ObserverSummary = {
  startedAt: at,
  at: at + 90_000,
  legs: [
    { ...of, leg: 'pod-endpointslice', changes: 3, p50Ms: 4, p90Ms: 5, p99Ms: 5, maxMs: 61_000 },
    {
      ...of,
      leg: 'endpointslice-load-balancer',
      loadBalancer: 'edge',
      changes: 1,
      p50Ms: 900,
      p90Ms: 900,
      p99Ms: 900,
      maxMs: 900,
    },
  ],
  findings: [{ code: 'stale-address', times: 2 }],
}

test('text: a line a change, and a finding with what to do; the cluster is named where there are several', () => {
  expect(textView(['east'], colors, () => write).told(change)).toEqual(['22:58:01.708  pod shop/web-0 is gone'])
  const both = textView(['east', 'west'], colors, () => write)
  expect(both.told(change)).toEqual(['22:58:01.708  east: pod shop/web-0 is gone'])
  const [line, hint, , page] = both.told(stale)
  expect(line).toBe(
    '22:58:01.708  ‼ east: the endpoints of shop/web (Endpoints web) have 10.0.0.1 of a pod, which is gone, for 10 s',
  )
  expect([hint, page]).toEqual([
    expect.stringContaining('requests to this address are lost'),
    '                see docs/observe.md#stale-address',
  ])
})

test('the commands of a finding lead to its cluster', () => {
  const writingOf = (cluster?: string) =>
    createWriting((command) =>
      shellForm(command, {
        program: 'sluice',
        cluster: cluster === undefined ? [] : ['--context', cluster],
        config: [],
      }),
    )
  const expected = 'kubectl --context east -n shop get endpoints/web'
  expect(textView(['east', 'west'], colors, writingOf).told(stale).join('\n')).toContain(expected)
  expect(jsonView(writingOf).told(stale).join('\n')).toContain(expected)
})

test('text: a name from the cluster cannot steer the terminal', () => {
  const told = textView(['east'], colors, () => write).told({ ...change, pod: 'web\u001B[2J' })
  expect(told.join()).not.toContain('\u001B')
})

test('text: the summary has a row a leg', () => {
  expect(textView(['east'], colors, () => write).summary(summary)).toEqual([
    'observed for 1m30s; 2 × stale-address',
    '  service   leg                                  changes  p50      p90      p99      longest',
    '  shop/web  pod to EndpointSlice                 3        0.004 s  0.005 s  0.005 s  1m01s',
    '  shop/web  EndpointSlice to load balancer edge  1        0.9 s    0.9 s    0.9 s    0.9 s',
  ])
})

test('text: of many legs the twenty with the longest lags are shown', () => {
  const [leg] = summary.legs
  const legs = Array.from({ length: 500 }, (_, index) => ({ ...leg!, service: `s${index}`, p99Ms: index }))
  const lines = textView(['east'], colors, () => write).summary({ ...summary, legs })
  expect(lines.slice(2, -1).map((line) => line.trim().split(' ')[0])).toEqual(
    Array.from({ length: 20 }, (_, index) => `shop/s${499 - index}`),
  )
  expect(lines.at(-1)).toBe('  and 480 more with shorter lags: -o json has all')
})

test('JSON: a document a line; a finding has its own words, though its code may be that of a reason', () => {
  const view = jsonView(() => write)
  expect(view.told(change).map((line) => JSON.parse(line) as unknown)).toEqual([
    { apiVersion: 'sluice.dev/v1', kind: 'ObservedChange', ...change },
  ])
  expect(view.told(stale).map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      kind: 'ObserverFinding',
      at,
      code: 'stale-address',
      message: 'the endpoints of shop/web (Endpoints web) have 10.0.0.1 of a pod, which is gone, for 10 s',
      hint: expect.any(String),
      page: 'docs/observe.md#stale-address',
    },
  ])
  expect(view.summary(summary).map((line) => JSON.parse(line) as unknown)).toEqual([
    { apiVersion: 'sluice.dev/v1', kind: 'ObserverSummary', ...summary },
  ])
})
