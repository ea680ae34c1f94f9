import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { Reason } from '../../reasons/reason.ts'
import { LEDGER_LABEL, ledgerChunks } from '../../journal/ledger.ts'
import { KubeError } from '../../kube/errors.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../../workloads/testing/manifests.ts'
import type { SeenLease } from '../leases/ownership.ts'
import type { RunRequest } from '../request.ts'
import type { World } from '../world.ts'
import { ORDER_ANNOTATION, writeOrder } from './order.ts'
import { standingOrders } from './standing-orders.ts'

const WEB = { ...STATEFUL_SET, name: 'web', uid: 'web' }
const V2 = [{ container: 'app', image: 'app:v2' }]

interface Given {
  /** The images of this request. */
  images?: typeof V2
  /** The runs that this request, and the ordered run, take back. */
  undo?: string
  undoes?: string
  exitWhenPaused?: true
  /** The ledgers cannot be listed. */
  isRefused?: true
}

async function reasons(
  order: 'pause' | 'abort' | undefined,
  { images = V2, undo, undoes, exitWhenPaused, isRefused }: Given = {},
): Promise<Reason[]> {
  const api = createFakeApi()
  const header = { run: 'r1', workloads: [WEB], images: V2, startedAt: '2026-01-01', chunks: 1, ...(undoes && { undoes }) }
  const [data] = ledgerChunks({ header, entries: new Map() })
  const metadata = { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }
  api.put(`/api/v1/namespaces/${NAMESPACE}/configmaps/sluice-run-r1`, { metadata, data })
  api.faults.before = (method, path) => {
    if (isRefused) throw new KubeError('no', { kind: 'definite', method, path, status: 403, reason: 'Forbidden' })
  }
  const annotations = order ? { [ORDER_ANNOTATION]: writeOrder({ order, runs: ['r1'], by: 'ann' }) } : {}
  const seen = new Map([['sluice-statefulset-web', { record: { annotations } } as unknown as SeenLease]])
  const world = {
    workloads: [{ workload: { uid: WEB.uid, ref: WEB } }],
    plan: () => ({ images }),
    undoing: () => undo && { run: undo },
  } as unknown as World
  const request = { namespace: NAMESPACE, exitWhenPaused, ...(undo ? { undo: { run: undo } } : {}) } as RunRequest
  return standingOrders(seen, { request, world }, api)
}

const ORDERED = { code: 'run-ordered', run: 'r1', by: 'ann', exitWhenPaused: false }

test('what an order makes of the run that is gone on with, an upgrade or an undo', async () => {
  expect(await reasons('abort')).toEqual([{ ...ORDERED, order: 'abort', command: 'upgrade' }])
  expect(await reasons('abort', { undo: 'r0', undoes: 'r0' })).toEqual([{ ...ORDERED, order: 'abort', command: 'undo' }])
  expect(await reasons('pause', { undo: 'r0', undoes: 'r0' })).toEqual([{ ...ORDERED, order: 'pause', command: 'undo' }])
})

test('one that ends where it is paused does not wait', async () => {
  expect(await reasons('pause', { exitWhenPaused: true })).toEqual([
    { ...ORDERED, order: 'pause', command: 'upgrade', exitWhenPaused: true },
  ])
})

test('whether an order is of the run that is gone on with is not known where the records cannot be read', async () => {
  expect(await reasons('abort', { isRefused: true })).toMatchObject([
    { code: 'orders-not-known', because: { code: 'api-error', status: 403 } },
  ])
  expect(await reasons(undefined, { isRefused: true }), 'control: there is none').toEqual([])
})

test('a pause of a run that is taken over is told: it does not hold for this one', async () => {
  const behind = [{ code: 'pause-left-behind', run: 'r1', by: 'ann' }]
  expect(await reasons('pause', { images: [{ container: 'app', image: 'app:v3' }] })).toEqual(behind)
  expect(await reasons('pause', { undo: 'r1' })).toEqual(behind)
})

test('control: nothing of an abort of a run that this leaves behind: of other images, or that is taken back itself', async () => {
  expect(await reasons('abort', { images: [{ container: 'app', image: 'app:v3' }] })).toEqual([])
  expect(await reasons('abort', { undo: 'r1' })).toEqual([])
})
