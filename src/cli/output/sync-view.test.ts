import { expect, test } from 'vitest'
import { createWriting } from '../../report/words/words.ts'
import type { SyncSnapshot } from '../../sync/sync-run.ts'
import { createColors } from './color.ts'
import { isInOrder, syncStatusDocument, syncStatusLines } from './sync-view.ts'

const SOURCE = { source: 'east', is: 'known', wanted: 2, slices: 1, endpoints: 2, ready: 2, upgrading: 0 } as const
const snapshot: SyncSnapshot = {
  isLeader: false,
  isSettled: true,
  access: { is: 'current', sinceMs: 0 },
  sources: [{ name: 'east', is: 'current', sinceMs: 0, problems: [] }],
  services: [{ namespace: 'shop', name: 'web', sources: [SOURCE], problems: [], isPending: false }],
  leftBehind: [],
}
const linesOf = (one: SyncSnapshot): string => syncStatusLines(one, createColors(false), createWriting()).join('\n')

test('slices of a Service that was taken out of the config are not in order: status names them, and the command that deletes them', () => {
  expect([isInOrder(snapshot), linesOf(snapshot)]).toEqual([true, expect.not.stringContaining('‼')])
  const leftBehind = [{ namespace: 'shop', service: 'jobs', slices: ['jobs-east-1', 'jobs-east-2'] }]
  const left = { ...snapshot, leftBehind }
  expect(isInOrder(left)).toBe(false)
  expect(linesOf(left)).toContain('kubectl -n shop delete endpointslices jobs-east-1 jobs-east-2')
  expect(syncStatusDocument(left, createWriting())).toMatchObject({ isInOrder: false, leftBehind })
})

test('a Service that is behind is told with what may hold it up', () => {
  const [service] = snapshot.services
  const behind = { ...snapshot, services: [{ ...service!, isPending: true, pendingForMs: 1_000 }] }
  expect([isInOrder(behind), linesOf(behind)]).toEqual([false, expect.stringContaining('no sync runs with this config')])
})
