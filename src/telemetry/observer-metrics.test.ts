import { expect, test } from 'vitest'
import type { ObserverSnapshot, Told } from '../observer/told.ts'
import { commandOf, METRICS } from './metric-list.ts'
import { createObserverMetrics } from './observer-metrics.ts'
import { parseMetrics } from './testing/parse-metrics.ts'

const because = { code: 'error', said: 'no answer' } as const
const AT = 1_700_000_000_000
const stale = {
  code: 'stale-address',
  cluster: 'east',
  namespace: 'shop',
  service: 'web',
  object: 'Endpoints',
  name: 'web',
  address: '10.0.0.1',
  why: 'pod-gone',
  sinceMs: 10_000,
} as const
const sweep = {
  code: 'sweep',
  cluster: 'east',
  object: 'Endpoints',
  writes: 40,
  objects: 20,
  startedAt: AT,
  lastAt: AT,
  isOver: false,
} as const
const NOTHING: ObserverSnapshot = { at: AT, clusters: [], loadBalancers: [], findings: [], backlogs: [] }
const EMPTY = { in: 0, unhealthy: 0, draining: 0, out: 0, unknown: 0, gone: 0 }

/** Returns the value of each series. The key is the name and the values of the labels, with spaces in between. */
async function samples(metrics: ReturnType<typeof createObserverMetrics>): Promise<Map<string, number>> {
  const all = [...parseMetrics(await metrics.text()).values()].flatMap((family) => family.samples)
  return new Map(all.map(({ name, labels, value }) => [`${name} ${Object.values(labels).join(' ')}`.trim(), value]))
}

test('each metric of the list has a series', async () => {
  let snapshot: ObserverSnapshot = {
    at: AT + 90_000,
    clusters: [
      { name: 'east', is: 'observed' },
      { name: 'west', is: 'unreachable' },
      { name: 'new', is: 'listing' },
    ],
    loadBalancers: [
      { name: 'edge', isRead: true, entries: EMPTY },
      { name: 'other', isRead: false, entries: EMPTY },
    ],
    findings: [
      { finding: stale, beganAt: AT },
      { finding: { ...stale, address: '10.0.0.2' }, beganAt: AT },
      { finding: { code: 'load-balancer-unread', loadBalancer: 'other', because }, beganAt: AT },
    ],
    backlogs: [{ cluster: 'east', object: 'Endpoints', services: 12, oldestMs: 7_500 }],
  }
  const metrics = createObserverMetrics(() => snapshot)
  const finding = (at: number, one: object): void => metrics.onTold({ type: 'finding', at, finding: one } as Told)
  finding(AT, stale)
  finding(AT + 1_000, sweep)
  finding(AT + 60_000, { ...sweep, isOver: true })
  metrics.onLag({ cluster: 'east', namespace: 'shop', service: 'web', leg: 'pod-endpoints' }, 300)
  metrics.onWrite({ cluster: 'east', object: 'Endpoints', effect: 'nothing' })
  metrics.onLease({ at: AT, cluster: 'east', type: 'node-renewed', node: 'n', gapMs: 10_250 })
  metrics.onLease({ at: AT, cluster: 'east', type: 'part-renewed', part: 'kube-scheduler' })
  const found = await samples(metrics)
  expect(Object.fromEntries([...found].filter(([name]) => !/_(bucket|sum)/.test(name)))).toEqual({
    'sluice_cluster_up east': 1,
    'sluice_cluster_up west': 0,
    'sluice_load_balancer_up edge': 1,
    'sluice_load_balancer_up other': 0,
    'sluice_findings east shop stale-address': 2,
    'sluice_findings   load-balancer-unread': 1,
    'sluice_finding_begun_timestamp_seconds east shop stale-address': AT / 1_000,
    'sluice_finding_begun_timestamp_seconds east  sweep': AT / 1_000 + 1,
    'sluice_endpoint_lag_seconds_count east pod-endpoints': 1,
    'sluice_endpoint_writes_total east Endpoints nothing': 1,
    'sluice_endpoint_backlog_services east Endpoints': 12,
    'sluice_endpoint_backlog_oldest_seconds east Endpoints': 7.5,
    'sluice_node_heartbeat_gap_seconds_count east': 1,
    'sluice_control_plane_lease_age_seconds east kube-scheduler': 90,
  })
  expect(found.get('sluice_endpoint_lag_seconds_sum east pod-endpoints')).toBe(0.3)
  for (const name of Object.keys(METRICS).filter((one) => commandOf(one) === 'observe'))
    expect(
      [...found.keys()].some((one) => one.startsWith(name)),
      name,
    ).toBe(true)

  // A state that is over has no series.
  snapshot = NOTHING
  metrics.onLease({ at: AT, cluster: 'east', type: 'part-unknown', part: 'kube-scheduler' })
  const later = [...(await samples(metrics)).keys()].filter((name) => /_up|findings|backlog|lease/.test(name))
  expect(later).toEqual([])
})
