import { expect, test } from 'vitest'
import type { SyncEvent, SyncSnapshot } from '../sync/sync-run.ts'
import { commandOf, METRICS } from './metric-list.ts'
import { createSyncMetrics } from './sync-metrics.ts'
import { parseMetrics } from './testing/parse-metrics.ts'

const because = { code: 'error', said: 'no answer' } as const
const slice = { namespace: 'shop', service: 'web', source: 'east', slice: 'web-east-0' }
const counts = { is: 'known' as const, wanted: 12, slices: 1, endpoints: 12, ready: 9, upgrading: 1 }
const SNAPSHOT: SyncSnapshot = {
  isLeader: true,
  isSettled: true,
  leftBehind: [],
  access: { is: 'current', sinceMs: 1 },
  sources: [
    { name: 'east', is: 'current', sinceMs: 1, clock: { offsetMs: -1_500, uncertaintyMs: 500 }, problems: [] },
    {
      name: 'west',
      is: 'away',
      sinceMs: 60_000,
      because: { is: 'unanswered', because },
      problems: [{ code: 'pods-unread', because }],
    },
    { name: 'new', is: 'listing', sinceMs: 1, problems: [] },
  ],
  services: [
    { namespace: 'shop', name: 'web', sources: [{ source: 'east', ...counts }], problems: [], isPending: false },
    {
      namespace: 'shop',
      name: 'api',
      sources: [{ source: 'east', ...counts }],
      problems: [{ code: 'service-missing' }],
      isPending: true,
      pendingForMs: 2_500,
    },
    { namespace: 'shop', name: 'jobs', sources: [], problems: [{ code: 'service-missing' }], isPending: true, pendingForMs: 500 },
  ],
}

async function samples(snapshot: SyncSnapshot | undefined, events: SyncEvent[] = []): Promise<Map<string, number>> {
  const metrics = createSyncMetrics(() => snapshot)
  for (const event of events) metrics.onEvent(event)
  const all = [...parseMetrics(await metrics.text()).values()].flatMap((family) => family.samples)
  return new Map(all.map(({ name, labels, value }) => [`${name} ${Object.values(labels).join(' ')}`.trim(), value]))
}

test('the snapshot and the events have all metrics of a sync', async () => {
  const found = await samples(SNAPSHOT, [
    { type: 'written', effect: 'update', endpoints: 1, lag: { sourceMs: 30, decideMs: 1, sendMs: 2, acceptMs: 7 }, ...slice },
    { type: 'written', effect: 'delete', endpoints: 0, ...slice },
    { type: 'write-failed', effect: 'update', because, againInMs: 500, ...slice },
    { type: 'put-right', was: 'deleted', ...slice },
    { type: 'leader', isLeader: true },
  ])
  const wanted = {
    sluice_sync_leader: 1,
    'sluice_sync_cluster_up access': 1,
    'sluice_sync_cluster_up east': 1,
    'sluice_sync_cluster_up west': 0,
    'sluice_sync_clock_offset_seconds east': -1.5,
    'sluice_sync_copies east ready': 18,
    'sluice_sync_copies east not-ready': 4,
    'sluice_sync_copies east upgrading': 2,
    sluice_sync_pending_services: 2,
    sluice_sync_pending_oldest_seconds: 2.5,
    'sluice_sync_problems shop service-missing': 2,
    'sluice_sync_problems  pods-unread': 1,
    'sluice_sync_writes_total east update': 1,
    'sluice_sync_writes_total east delete': 1,
    'sluice_sync_write_failures_total east': 1,
    'sluice_sync_put_right_total east': 1,
    'sluice_sync_lag_seconds_sum east stated-seen': 0.03,
    'sluice_sync_lag_seconds_sum east seen-accepted': 0.01,
  }
  expect(Object.fromEntries(Object.keys(wanted).map((key) => [key, found.get(key)]))).toEqual(wanted)
  // A cluster that is being listed is not known to be up or down.
  expect(found.has('sluice_sync_cluster_up new')).toBe(false)
  const names = Object.keys(METRICS).filter((name) => commandOf(name) === 'sync')
  for (const name of names)
    expect(
      [...found.keys()].some((key) => key.startsWith(name)),
      name,
    ).toBe(true)
})

test('before the first snapshot, no cluster is up or down', async () => {
  expect([...(await samples(undefined)).keys()].filter((key) => key.startsWith('sluice_sync_cluster_up'))).toEqual([])
})
