import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { ORDER_ANNOTATION, writeOrder } from '../../engine/orders/order.ts'
import type { LedgerHeader } from '../../journal/ledger.ts'
import { LEDGER_LABEL, ledgerChunks } from '../../journal/ledger.ts'
import type { FakeApi } from '../../workloads/testing/fake-api.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { isRunOver } from './is-run-over.ts'
import { createFakeClock } from '../testing/fake-clock.ts'
import { said } from '../testing/samples.ts'

const WEB = { ...STATEFUL_SET, name: 'web', uid: 'w' }
const plan = { namespace: 'shop', workloads: [{ ...STATEFUL_SET, name: 'web', namespace: 'shop' }] }

function addRun(api: FakeApi, run: string, header: Partial<LedgerHeader> = {}): void {
  const full: LedgerHeader = { run, workloads: [WEB], images: [], startedAt: `2026-01-0${run.slice(-1)}`, chunks: 1, ...header }
  const [data] = ledgerChunks({ header: full, entries: new Map() })
  const name = `sluice-run-${run}`
  api.put(`/api/v1/namespaces/shop/configmaps/${name}`, { metadata: { name, labels: { [LEDGER_LABEL]: run } }, data })
}

function order(api: FakeApi, runs: string[]): void {
  const others = [{ order: 'abort', runs, by: 'ann' } as const]
  const annotations = { [ORDER_ANNOTATION]: writeOrder({ order: 'pause', runs: ['r4'], by: 'bob', others }) }
  api.put('/apis/coordination.k8s.io/v1/namespaces/shop/leases/sluice-statefulset-web', {
    metadata: { name: 'sluice-statefulset-web', namespace: 'shop', annotations },
    spec: { holderIdentity: '' },
  })
}

const finished = { finishedAt: '2026-01-09', aborted: { by: 'ann', left: [said('the template')] } }
const look = (api: FakeApi) => isRunOver('r2', plan, { client: api.client, clock: createFakeClock() })

test('a run whose record is closed is over, also where another has begun since', async () => {
  const api = createFakeApi()
  addRun(api, 'r2', finished)
  expect(await look(api)).toBe(true)
  addRun(api, 'r3')
  expect(await look(api)).toBe(true)
})

test('one that is open is not, as where a pod stays out', async () => {
  const api = createFakeApi()
  addRun(api, 'r2')
  expect(await look(api)).toBe(false)
})

test('nor one before it is, which the order means too', async () => {
  const api = createFakeApi()
  addRun(api, 'r1')
  addRun(api, 'r2', finished)
  addRun(api, 'r4')
  order(api, ['r2'])
  expect(await look(api)).toBe(true)
  order(api, ['r2', 'r1'])
  expect(await look(api)).toBe(false)
})

test('where it cannot be told it is not', async () => {
  const api = createFakeApi()
  addRun(api, 'r2', finished)
  api.faults.before = () => {
    throw new Error('the API server is away')
  }
  expect(await look(api)).toBe(false)
})
