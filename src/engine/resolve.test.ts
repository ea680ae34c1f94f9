import { expect, test } from 'vitest'
import { LEDGER_LABEL, ledgerChunks, writeEntry } from '../journal/ledger.ts'
import type { KubeClient } from '../kube/client.ts'
import { KubeError } from '../kube/errors.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import { createFakeApi } from '../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../workloads/testing/manifests.ts'
import { leasePath } from './lease.ts'
import { resolvePod } from './resolve.ts'
import { entryOf } from './testing/ledgers.ts'

const RUN = `/api/v1/namespaces/${NAMESPACE}/configmaps/sluice-run-r1`

/** What a word on a pod that is gone comes to, where somebody writes its entry first, and the process is stopped for so long. */
async function resolved(stoppedMs: number): Promise<unknown[]> {
  const api = createFakeApi()
  const clock = createVirtualClock()
  const entry = entryOf('web-0', { state: 'abandoned' })
  const workloads = [{ kind: 'StatefulSet', name: 'web', uid: 'w' }]
  const header = { run: 'r1', workloads, images: [], startedAt: '2026-01-01', chunks: 1 }
  const [data] = ledgerChunks({ header, entries: new Map([[entry.uid, entry]]) })
  api.put(RUN, { metadata: { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }, data })
  let writes = 0
  const client: KubeClient = {
    ...api.client,
    create: async (path, body) => {
      const { metadata, ...lease } = body as { metadata: object }
      return api.put(leasePath(NAMESPACE, 'sluice-statefulset-web'), { ...lease, metadata: { ...metadata, uid: path } })
    },
    async replace(path, body) {
      if (writes === 0) return api.put(path, body)
      throw new KubeError('no answer', { kind: 'ambiguous', method: 'PUT', path })
    },
    async patch(path, operations) {
      writes++
      if (writes === 1) {
        api.edit(RUN, (raw) => (raw.data[entry.uid] = writeEntry({ ...entry, state: 'restore' })))
        await clock.advance(stoppedMs)
      }
      return api.client.patch(path, operations)
    },
  }
  const { signal } = new AbortController()
  const ports = { client, clock, random: { next: () => 0.5 }, identity: 'ann', signal, onWaiting() {}, onTrouble() {} }
  let end: unknown
  const request = { namespace: NAMESPACE, pod: 'web-0', traffic: 'in' as const, loadBalancers: [] }
  resolvePod(request, ports).then(
    () => (end = 'said'),
    (error: Error) => (end = error.message),
  )
  await clock.runUntil(() => end !== undefined)
  return [end, JSON.parse(api.get(RUN).data[entry.uid]).state]
}

test('a word is written over an edit of the record, and not over what a later owner has written', async () => {
  expect(await resolved(0)).toEqual(['said', 'closed'])
  expect(await resolved(20_000)).toEqual(['another owner has taken the Lease meanwhile', 'restore'])
})
