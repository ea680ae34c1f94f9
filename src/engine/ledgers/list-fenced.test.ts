import { expect, test } from 'vitest'
import { FENCE_KEY, LEDGER_LABEL, ledgerChunks } from '../../journal/ledger.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../../workloads/testing/manifests.ts'
import type { RunRequest } from '../request.ts'
import type { World } from '../world.ts'
import { listFenced } from './list-fenced.ts'

const WEB = { ...STATEFUL_SET, name: 'web', uid: 'web-uid' }
const IMAGES = [{ container: 'app', image: 'app:v2' }]
const PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps/sluice-run-r1`

/** Lists one open run. Another writer changes its record before each of the first `writes` fences. */
async function listedWhile(writes: number) {
  const api = createFakeApi()
  const header = { run: 'r1', workloads: [WEB], images: IMAGES, startedAt: '2026-01-01', chunks: 1 }
  const metadata = { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }
  api.put(PATH, { metadata, data: ledgerChunks({ header, entries: new Map() })[0]! })
  let left = writes
  api.faults.before = (method) => {
    if (method === 'PATCH' && left-- > 0) api.edit(PATH, (raw) => (raw.metadata.labels['seen'] = String(left)))
  }
  const world = {
    workloads: [{ workload: { ref: WEB, uid: WEB.uid } }],
    plan: () => ({ images: IMAGES }),
    undoing: () => undefined,
  } as unknown as World
  const request = { namespace: NAMESPACE } as RunRequest
  const listing = listFenced({ request, world, fence: 'next', client: api.client, namespace: NAMESPACE, assertOwned() {} })
  return { listing, fence: () => api.get(PATH).data[FENCE_KEY] as unknown }
}

test('a record that others write to all the time is not taken over, and nothing is fenced', async () => {
  const { listing, fence } = await listedWhile(Infinity)
  await expect(listing).rejects.toMatchObject({
    kind: 'conflict',
    reason: { code: 'ledgers-not-taken-over', namespace: NAMESPACE, tries: 5 },
  })
  expect(fence()).toBeUndefined()
})

test('control: one that was written to some times is', async () => {
  const { listing, fence } = await listedWhile(4)
  expect((await listing).same?.ledger.header.run).toBe('r1')
  expect(fence()).toBe('next')
})
