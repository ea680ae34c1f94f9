import { expect, test } from 'vitest'
import type { Look } from '../../observer/read/observe.ts'
import type { LegSummary, ObserverSnapshot, Told } from '../../observer/told.ts'
import { createWriting } from '../../report/words/words.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { createScreen } from '../testing/screen.ts'
import { createColors } from './color.ts'
import { createObserveLive } from './observe-live.ts'
import { prefixOf, textView } from './observe-view.ts'

const AT = Date.parse('2026-11-30T00:00:00Z')
const ENTRIES = { in: 3, unhealthy: 0, draining: 1, out: 0, unknown: 0, gone: 0 }
const truncated = { code: 'endpoints-truncated', cluster: 'east', namespace: 'shop', service: 'web', addresses: 1_000 } as const
const leg = (service: string, p99Ms: number): LegSummary => ({
  cluster: 'east',
  namespace: 'shop',
  service,
  leg: 'pod-endpointslice',
  changes: 7,
  p50Ms: 4,
  p90Ms: 90,
  p99Ms,
  maxMs: p99Ms,
})

function setup({ rows = 24, columns = 90, clusters = ['east', 'west'] } = {}) {
  const screen = createScreen(columns, rows)
  const clock = createFakeClock()
  const seen = { snapshot: undefined as unknown as ObserverSnapshot, legs: [leg('api', 20), leg('web', 2_500)], asked: 0 }
  seen.snapshot = {
    at: AT,
    clusters: [
      { name: 'east', is: 'observed' },
      { name: 'west', is: 'unreachable' },
    ],
    loadBalancers: [{ name: 'edge', isRead: true, entries: ENTRIES }],
    findings: [],
    backlogs: [],
  }
  const look: Look = {
    snapshot: () => seen.snapshot,
    summary() {
      seen.asked += 1
      return { startedAt: AT, at: AT, legs: seen.legs, findings: [] }
    },
  }
  const [write, colors] = [createWriting(), createColors(false)]
  const live = createObserveLive({
    out: screen,
    clock,
    colors,
    write,
    view: textView(clusters, colors, () => write),
    prefix: prefixOf(clusters),
  })
  live.begin(look)
  return { screen, clock, seen, live }
}

const change = (index: number): Told => ({ type: 'node', at: AT + index, cluster: 'east', node: `node-${index}`, ready: 'True' })

test('clusters, load balancers, the longest lags first, and the last change first', () => {
  const { screen, clock, live } = setup()
  live.told(change(1))
  live.told(change(2))
  clock.advance(2_000)
  expect(screen.text()).toBe(
    [
      'observing for 2.0s, no finding holds',
      'cluster west: unreachable; cluster east: observed; load balancer edge: 3 in, 1 draining',
      'longest lags',
      '  east: shop/web  pod to EndpointSlice  p50 0.004 s  p99 2.5 s   7 changes',
      '  east: shop/api  pod to EndpointSlice  p50 0.004 s  p99 0.02 s  7 changes',
      'last changes',
      '  00:00:00.002  east: node node-2: condition Ready is True',
      '  00:00:00.001  east: node node-1: condition Ready is True',
    ].join('\n'),
  )
  live.close()
  expect(screen.text()).toBe('')
})

test('a finding is told for good above the screen with its page, and stands on it while it holds', () => {
  const { screen, clock, seen, live } = setup()
  clock.advance(1_000)
  seen.snapshot = { ...seen.snapshot, findings: [{ finding: truncated, beganAt: AT }] }
  live.told({ type: 'finding', at: AT, finding: truncated })
  live.notice('metrics at http://localhost:1/metrics')
  clock.advance(1_000)
  const [above, on] = screen.text().split('metrics at http://localhost:1/metrics\n')
  expect(above).toMatch(/^00:00:00\.000 {2}‼ east: Endpoints of shop\/web have 1000 addresses/)
  expect(above).toContain('see docs/observe.md#endpoints-truncated')
  expect(on).toMatch(/^observing for [\d.]+s, 1 finding holds\n/)
  expect(on).toMatch(/^findings\n {2}‼ east: Endpoints of shop\/web have 1000 addresses.*…$/m)
  seen.snapshot = { ...seen.snapshot, findings: [] }
  clock.advance(1_000)
  expect(screen.text()).toContain('no finding holds')
  expect(screen.text()).not.toContain('findings\n')
  live.close()
  expect(screen.text()).toBe(`${above}metrics at http://localhost:1/metrics`)
})

test.each([8, 12, 24])('a screen of %i rows is never longer than that, and tells of what has no room', (rows) => {
  const { screen, clock, seen, live } = setup({ rows })
  seen.legs = Array.from({ length: 500 }, (_, index) => leg(`s${index}`, index))
  seen.snapshot = {
    ...seen.snapshot,
    clusters: Array.from({ length: 40 }, (_, index) => ({ name: `cluster-${index}`, is: 'observed' as const })),
    findings: Array.from({ length: 30 }, () => ({ finding: truncated, beganAt: AT })),
  }
  for (let index = 0; index < 300; index += 1) live.told(change(index))
  clock.advance(2_000)
  const lines = screen.text().split('\n')
  expect(lines.length).toBeLessThan(rows)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(90)
  expect(screen.text()).toMatch(/more\)/)
})

test('a terminal that does not keep up gets no frame, and many changes are one', () => {
  const { screen, clock, live, seen } = setup()
  clock.advance(1_000)
  const asked = seen.asked
  for (let index = 0; index < 1_000; index += 1) live.told(change(index))
  clock.advance(300)
  expect(seen.asked - asked).toBeLessThanOrEqual(1)
  const before = screen.text()
  screen.backlog = 1
  live.told(change(5_000))
  clock.advance(5_000)
  expect(screen.text()).toBe(before)
})
