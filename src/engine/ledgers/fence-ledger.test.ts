import { beforeEach, expect, test } from 'vitest'
import type { LedgerEntry, PlacedLedger } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../../workloads/testing/manifests.ts'
import { fenceLedger } from './fence-ledger.ts'
import { listLedgers } from './list-ledgers.ts'

const PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps/sluice-run-abc`

let api: ReturnType<typeof createFakeApi>
let sent: number
let fails: KubeError | undefined
let client: KubeClient

beforeEach(() => {
  api = createFakeApi()
  sent = 0
  fails = undefined
  const header = { v: 1, run: 'abc', workloads: [], images: [], startedAt: '2026-01-01T00:00:00.000Z', chunks: 1 }
  const labels = { 'sluice.dev/ledger': 'abc' }
  // A ledger of an older sluice has no fence.
  api.put(PATH, { metadata: { name: 'sluice-run-abc', labels }, data: { header: JSON.stringify(header) } })
  client = {
    ...api.client,
    async patch(path, operations) {
      sent += 1
      if (fails) throw fails
      return api.client.patch(path, operations)
    },
  }
})

const listed = async (): Promise<PlacedLedger> => (await listLedgers(client, NAMESPACE))[0] as PlacedLedger
const fence = async (found: PlacedLedger, assertOwned = (): void => {}) =>
  fenceLedger(found, 'next', { client, namespace: NAMESPACE }, assertOwned)
const error = (kind: KubeError['kind'], answer: { status?: number; reason?: string } = {}) =>
  new KubeError('no', { kind, method: 'PATCH', path: PATH, ...answer })

test('is written once, and known from then on', async () => {
  expect((await fence(await listed()))?.places.parts).toMatchObject([{ fence: 'next' }])
  expect((await listed()).places.parts).toMatchObject([{ fence: 'next' }])
  await fence(await listed())
  expect(sent).toBe(1)
})

test('is not written over what somebody has written since it was read: that is read first', async () => {
  const found = await listed()
  const entry: Omit<LedgerEntry, 'uid'> = { pod: 'web-0', targets: [], state: 'open', idle: true }
  await api.client.patch(PATH, [{ op: 'add', path: '/data/uid-0', value: JSON.stringify(entry) }])
  expect(await fence(found)).toBeUndefined()
  expect((await fence(await listed()))?.ledger.entries.get('uid-0')).toMatchObject({ idle: true })
})

test.each([
  ['whose answer is lost', error('ambiguous')],
  ['of one that somebody has removed', error('definite', { status: 404, reason: 'NotFound' })],
])('a write %s is looked at', async (_, failure) => {
  fails = failure
  expect(await fence(await listed())).toBeUndefined()
})

test('a refusal is told', async () => {
  fails = error('definite', { status: 403 })
  await expect(fence(await listed())).rejects.toBe(fails)
})

test('one that cannot be changed is told, and no sign that somebody has written to it', async () => {
  fails = error('definite', { status: 422, reason: 'Invalid' })
  const found = await listed()
  await expect(fence(found)).rejects.toBe(fails)
  api.edit(PATH, (raw) => (raw.data.other = '1'))
  expect(await fence(found)).toBeUndefined()
})

test('is not written by who has lost the Lease', async () => {
  const lost = (): never => {
    throw new Error('not held')
  }
  await expect(fence(await listed(), lost)).rejects.toThrow('not held')
  expect(sent).toBe(0)
})
