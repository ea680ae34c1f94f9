import { resourceOf } from '../../workloads/resources.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { LedgerHeader } from '../../journal/ledger.ts'
import { LEDGER_LABEL, ledgerChunks } from '../../journal/ledger.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../../workloads/testing/manifests.ts'
import { LEASE_DURATION_MS, leasePath } from '../../leases/lease.ts'
import { orderAbort } from './order-abort.ts'
import { ORDER_ANNOTATION, readOrder, writeOrder } from './order.ts'

const LEASE = leasePath(NAMESPACE, 'sluice-statefulset-web')
const LEDGER = `/api/v1/namespaces/${NAMESPACE}/configmaps/sluice-run-r1`

function createBed({ isOpen = true, isLeased = true, holder = 'owner' } = {}) {
  const api = createFakeApi()
  const clock = createVirtualClock()
  const writeRun = (change: Partial<LedgerHeader> = {}): void => {
    const workloads = [{ ...STATEFUL_SET, name: 'web', uid: 'w' }]
    const header: LedgerHeader = { run: 'r1', workloads, images: [], startedAt: '2026-01-01', chunks: 1, ...change }
    const [data] = ledgerChunks({ header, entries: new Map() })
    api.put(LEDGER, { metadata: { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }, data })
  }
  api.put(resourceOf(STATEFUL_SET).object(NAMESPACE, 'web'), { metadata: { name: 'web' } })
  if (isOpen) writeRun()
  const spec = { leaseDurationSeconds: LEASE_DURATION_MS / 1_000, leaseTransitions: 1 }
  if (isLeased) {
    api.put(LEASE, {
      metadata: { name: 'sluice-statefulset-web', namespace: NAMESPACE },
      spec: { ...spec, holderIdentity: holder, renewTime: '0' },
    })
  }
  const told: string[] = []
  const order = (wait = true) =>
    orderAbort(
      {
        namespace: NAMESPACE,
        select: { refs: [{ ...STATEFUL_SET, name: 'web' }] },
        by: 'ann',
        wait,
        onOrdered: ({ runs }) => told.push(`ordered ${runs.map(({ run }) => run).join()}`),
        onLook: (_, seen) => told.push(`held by ${seen}`),
      },
      { client: api.client, clock },
    )
  return {
    api,
    clock,
    told,
    order,
    given: () => readOrder(api.get(LEASE).metadata.annotations ?? {}),
    isWritten: () => api.calls.some(({ method }) => method === 'PATCH'),
    /** Ends the run, as its owner does after the abort. */
    end() {
      writeRun({ finishedAt: '2026-01-02' })
      api.edit(LEASE, (lease) => (lease.spec.holderIdentity = ''))
    },
  }
}

test('where no run is open nothing is ordered', async () => {
  const { order, isWritten, told } = createBed({ isOpen: false, holder: '' })
  expect(await order()).toMatchObject({ kind: 'none', open: { runs: [] } })
  expect([isWritten(), told]).toEqual([false, []])
})

test('without waiting: it stands on the Lease when this ends', async () => {
  const { order, given, told } = createBed()
  expect(await order(false)).toMatchObject({ kind: 'ordered' })
  expect(given()).toEqual({ order: 'abort', runs: ['r1'], by: 'ann', epoch: 1 })
  expect(told).toEqual(['ordered r1'])
})

test('without waiting, and without a Lease that it could stand on: refused', async () => {
  const { order, told, isWritten } = createBed({ isLeased: false })
  await expect(order(false)).rejects.toMatchObject({ kind: 'preflight' })
  expect([isWritten(), told]).toEqual([false, []])
})

test('done by whoever has the run: its records as they are at the end', async () => {
  const { order, clock, told, end } = createBed()
  const ordered = order()
  await clock.advance(3_000)
  end()
  await clock.advance(1_000)
  expect(await ordered).toMatchObject({ kind: 'ended', records: [{ run: 'r1', finishedAt: '2026-01-02' }] })
  expect(told.slice(0, 2)).toEqual(['ordered r1', 'held by owner'])
})

test('of a dead owner it is left, with what was seen of its Lease', async () => {
  const { order, clock } = createBed()
  const ordered = order()
  await clock.advance(LEASE_DURATION_MS + 2_000)
  const left = await ordered
  expect(left).toMatchObject({ kind: 'left', runs: ['r1'], open: { runs: [{ run: 'r1' }] } })
  expect(left.kind === 'left' && [...left.seen.keys()]).toEqual(['sluice-statefulset-web'])
})

test('given back without having been done, it is left, and nothing was seen that would have to be waited out', async () => {
  const { order } = createBed({ holder: '' })
  const left = await order()
  expect(left).toMatchObject({ kind: 'left', runs: ['r1'] })
  expect(left.kind === 'left' && left.seen.size).toBe(0)
})

test('of a dead owner that had named the run it was to begin: that is left too', async () => {
  const { order, clock, api, given } = createBed()
  const ordered = order()
  await clock.advance(2_000)
  const text = writeOrder({ ...given()!, runs: ['r2', 'r1'] })
  api.edit(LEASE, (lease) => (lease.metadata.annotations = { [ORDER_ANNOTATION]: text }))
  await clock.advance(LEASE_DURATION_MS + 2_000)
  expect(await ordered).toMatchObject({ kind: 'left', runs: ['r2', 'r1'] })
})
