import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { reasonOf } from '../errors.ts'
import type { Reason } from '../../reasons/reason.ts'
import { readProcessAccount } from '../../journal/account.ts'
import { readJournal, writeJournal } from '../../journal/journal.ts'
import { accountsOf } from '../../journal/ledger-accounts.ts'
import { LEDGER_LABEL, ledgerChunks, writeEntry } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Journal } from '../../pods/glossary.ts'
import { KubeError } from '../../kube/errors.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../../workloads/testing/manifests.ts'
import { leasePath } from '../../leases/lease.ts'
import { listLedgers } from '../ledgers/list-ledgers.ts'
import { resolvePod } from './resolve.ts'
import { entryOf } from '../testing/ledgers.ts'

const RUN = `/api/v1/namespaces/${NAMESPACE}/configmaps/sluice-run-r1`

interface Meanwhile {
  /** The number of owners that the Lease of the run's other workload has had. Absent: the run has one workload. */
  othersOwners?: number
  /** Another writer changes the entry before the statement is written, and the process is stopped for this long. */
  stoppedMs?: number
  /** The number of writes to the record of the run that are carried out. */
  writable?: number
  /** The next write loses its answer. Otherwise it is refused. */
  isLost?: boolean
}

/** The result of a statement about a gone pod. */
async function resolved({ stoppedMs, writable = 9, isLost = false, othersOwners }: Meanwhile) {
  const api = createFakeApi()
  const trouble: Reason[] = []
  const clock = createVirtualClock()
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'w' }
  const entry = entryOf('web-0', { state: 'abandoned', owner })
  const other = { ...STATEFUL_SET, name: 'other', uid: 'o' }
  const workloads = [{ ...STATEFUL_SET, name: 'web', uid: 'w' }, ...(othersOwners === undefined ? [] : [other])]
  if (othersOwners !== undefined)
    api.put(leasePath(NAMESPACE, 'sluice-statefulset-other'), {
      metadata: { name: 'sluice-statefulset-other', namespace: NAMESPACE, uid: 'l' },
      spec: { holderIdentity: '', leaseTransitions: othersOwners, leaseDurationSeconds: 1 },
    })
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
      if (writes > writable && isLost) throw new KubeError('no answer', { kind: 'ambiguous', method: 'PATCH', path })
      if (writes > writable) throw new KubeError('refused', { kind: 'definite', method: 'PATCH', path, status: 403 })
      if (writes === 1 && stoppedMs !== undefined) {
        api.edit(RUN, (raw) => (raw.data[entry.uid] = writeEntry({ ...entry, state: 'restore' })))
        await clock.advance(stoppedMs)
      }
      return api.client.patch(path, operations)
    },
  }
  const { signal } = new AbortController()
  const onTrouble = (error: Error): void => void trouble.push(reasonOf(error))
  const ports = { client, clock, random: { next: () => 0.5 }, identity: 'ann', signal, onWaiting() {}, onTrouble }
  let end: unknown
  const request = { namespace: NAMESPACE, pod: 'web-0', traffic: 'in' as const, loadBalancers: [] }
  resolvePod(request, ports).then(
    () => (end = 'said'),
    (error: unknown) => (end = reasonOf(error)),
  )
  await clock.runUntil(() => end !== undefined)
  const { state } = JSON.parse(api.get(RUN).data[entry.uid])
  const [found] = await listLedgers(api.client, NAMESPACE)
  if (found?.kind !== 'read') throw new Error('the ledger cannot be read')
  const { ledger } = found
  const told = accountsOf(ledger.entries.get(entry.uid)!, ledger.header)
  return { end, state, told, processes: ledger.header.accounts?.map(readProcessAccount), trouble }
}

test('a word is written over an edit of the record, and not over what a later owner has written', async () => {
  expect(await resolved({ stoppedMs: 0 })).toMatchObject({ end: 'said', state: 'closed' })
  const end = { code: 'lease-ran-out' }
  expect(await resolved({ stoppedMs: 20_000 })).toMatchObject({ end, state: 'restore', told: [] })
})

test('the record of the run tells of it, for the report: who, and what was said', async () => {
  const { told, processes, trouble } = await resolved({})
  const reason = { code: 'said-of-entries', traffic: 'in', entries: [{ loadBalancer: 'edge', target: 'web-0' }] }
  expect(told).toMatchObject([{ epoch: 2, phases: [], outcome: 'resolved', reason }])
  expect(processes).toMatchObject([{ by: 'ann', epoch: 2, resumed: true, outcome: 'resolved' }])
  expect(processes?.[0]?.reason).toMatchObject({ code: 'pods', pods: [{ pod: 'web-0', reason }] })
  // The Lease cannot be given back here.
  expect(trouble).toMatchObject([{ said: 'no answer' }])
})

test('of a run of several workloads it is told of a pod with the epoch of its own Lease', async () => {
  const { told, processes } = await resolved({ othersOwners: 7 })
  expect(told).toMatchObject([{ epoch: 2, processEpoch: 8 }])
  expect(processes).toMatchObject([{ epoch: 8 }])
})

test('a word that may stand is not said to be refused', async () => {
  expect((await resolved({ writable: 0, isLost: true })).end).toMatchObject({
    code: 'not-all-recorded',
    because: { said: 'no answer' },
  })
  expect((await resolved({ writable: 0 })).end).toMatchObject({ said: 'refused' })
})

test('a word that no report can tell of counts all the same', async () => {
  const { end, state, told, trouble } = await resolved({ writable: 1 })
  expect([end, state, told]).toEqual(['said', 'closed', []])
  expect(trouble).toContainEqual(
    expect.objectContaining({ code: 'report-not-told', because: expect.objectContaining({ said: 'refused' }) as unknown }),
  )
})

/**
 * The result of a statement about a present pod, and its record after that. With `isWritten`, another writer changes the record just
 * before.
 */
async function resolvedThere(isWritten: boolean) {
  const api = createFakeApi()
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/web-0`
  const entry = entryOf('web-0', { owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'w' } })
  const journal: Journal = { run: 'r1', epoch: 1, attempt: 1, step: 'drain', baseline: [], targets: entry.targets }
  const storedAs = (one: Journal) => [{ type: 'sluice.dev/journal', status: 'True', message: writeJournal(one) }]
  api.put(path, {
    metadata: { name: 'web-0', namespace: NAMESPACE, uid: entry.uid, ownerReferences: [{ ...entry.owner, controller: true }] },
    spec: { containers: [{ name: 'app', image: 'app:v1' }] },
    status: { podIP: '10.0.0.1', conditions: storedAs(journal) },
  })
  const header = {
    run: 'r1',
    workloads: [{ ...STATEFUL_SET, name: 'web', uid: 'w' }],
    images: [],
    startedAt: '2026-01-01',
    chunks: 1,
  }
  const [data] = ledgerChunks({ header, entries: new Map([[entry.uid, entry]]) })
  api.put(RUN, { metadata: { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }, data })
  const client: KubeClient = {
    ...api.client,
    create: async (at, body) => {
      const { metadata, ...lease } = body as { metadata: { name: string } }
      return api.put(leasePath(NAMESPACE, metadata.name), { ...lease, metadata: { ...metadata, uid: at } })
    },
    replace: async (at, body) => api.put(at, body),
    patch(at, operations) {
      if (isWritten && at.startsWith(path))
        api.edit(path, (raw) => (raw.status.conditions = storedAs({ ...journal, attempt: 2 })))
      return api.client.patch(at.replace(/\/status$/, ''), operations)
    },
  }
  const clock = createVirtualClock()
  const { signal } = new AbortController()
  const ports = { client, clock, random: { next: () => 0.5 }, identity: 'ann', signal, onWaiting() {}, onTrouble() {} }
  let end: unknown
  resolvePod({ namespace: NAMESPACE, pod: 'web-0', traffic: 'out', loadBalancers: [] }, ports).then(
    () => (end = 'said'),
    (error: unknown) => (end = error),
  )
  await clock.runUntil(() => end !== undefined)
  const stored = readJournal(api.get(path).status.conditions[0].message)
  return { end, stored }
}

test('a word on a pod that is there is not written over what somebody has written into its record meanwhile', async () => {
  const said = await resolvedThere(false)
  expect(said.end).toBe('said')
  expect(said.stored).toMatchObject({ journal: { attempt: 1, targets: [{ said: 'out' }] } })
  const { end, stored } = await resolvedThere(true)
  const reason = { code: 'record-changed-meanwhile', pod: 'web-0', because: { code: 'api-error', status: 422 } }
  expect(end).toMatchObject({ kind: 'conflict', reason })
  expect(stored).toMatchObject({ journal: { attempt: 2, targets: [{ target: 'web-0' }] } })
  expect(JSON.stringify(stored)).not.toContain('"said"')
})
