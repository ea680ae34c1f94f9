import { expect, test } from 'vitest'
import { LEDGER_LABEL, ledgerChunks } from '../../journal/ledger.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../../workloads/testing/manifests.ts'
import type { SeenLease } from '../leases/ownership.ts'
import { ORDER_ANNOTATION, writeOrder } from './order.ts'
import { standingOrders } from './standing-orders.ts'

async function words(order: 'pause' | 'abort', undo?: object): Promise<string[]> {
  const api = createFakeApi()
  const header = { run: 'r1', workloads: [], images: [], startedAt: '2026-01-01', chunks: 1 }
  const [data] = ledgerChunks({ header, entries: new Map() })
  const metadata = { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }
  api.put(`/api/v1/namespaces/${NAMESPACE}/configmaps/sluice-run-r1`, { metadata, data })
  const annotations = { [ORDER_ANNOTATION]: writeOrder({ order, runs: ['r1'], by: 'ann' }) }
  const seen = new Map([['sluice-statefulset-web', { record: { annotations } } as unknown as SeenLease]])
  return standingOrders(seen, { namespace: NAMESPACE, ...(undo ? { undo } : {}) }, api)
}

// Found by a fresh user: the plan of an undo spoke of an upgrade.
test('what an order makes of the run that is planned, an upgrade or an undo', async () => {
  expect(await words('abort')).toEqual([
    'run r1 is being aborted (by ann): an upgrade that goes on with it ends it, and upgrades nothing',
  ])
  expect(await words('abort', {})).toEqual([
    'run r1 is being aborted (by ann): an undo that goes on with it ends it, and takes back nothing',
  ])
  expect(await words('pause', {})).toEqual([
    'run r1 is paused (by ann): an undo that goes on with it waits until sluice resume, or sluice abort',
  ])
})
