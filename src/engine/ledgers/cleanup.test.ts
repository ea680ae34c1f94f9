import { idOf } from '../../pods/workload-id.ts'
import { resourceOf } from '../../workloads/resources.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { Reason } from '../../reasons/reason.ts'
import { writeJournal } from '../../journal/journal.ts'
import { LEDGER_LABEL, ledgerChunks, writeHeader } from '../../journal/ledger.ts'
import type { Journal } from '../../pods/glossary.ts'
import { rawPod } from '../../pods/testing/raw-pod.ts'
import { JOURNAL_KEY } from '../../pods/view.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { DeleteOptions } from '../../kube/client.ts'
import { KubeError } from '../../kube/errors.ts'
import type { FakeApi } from '../../workloads/testing/fake-api.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../../workloads/testing/manifests.ts'
import type { CleanupReport, CleanupRequest } from './cleanup.ts'
import { cleanUp } from './cleanup.ts'
import { entryOf } from '../testing/ledgers.ts'

const CONFIG_MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`
const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/sluice-statefulset-web`
const WEB = { ...STATEFUL_SET, name: 'web', uid: 'w' }
const PART = 'sluice-run-r1-1'

/** Removes only the version that was read, as the API server does. */
async function removeAsRead(api: FakeApi, path: string, { resourceVersion }: DeleteOptions = {}): Promise<void> {
  if (api.get(path).metadata.resourceVersion === resourceVersion) return api.remove(path)
  throw new KubeError('409 Conflict', { kind: 'conflict', method: 'DELETE', path, status: 409, reason: 'Conflict' })
}

/** Lets time pass until the cleanup is done. */
async function cleanedUp(request: CleanupRequest, client: FakeApi['client']): Promise<CleanupReport> {
  const clock = createVirtualClock()
  const cleaning = cleanUp(request, { client, clock })
  let isDone = false
  void cleaning.then(
    () => (isDone = true),
    () => (isDone = true),
  )
  await clock.runUntil(() => isDone)
  return cleaning
}

/** A ledger whose second part exists without the first. `meanwhile` runs between the look and the removal. */
interface Meanwhile {
  holder?: string
  /** The holder renews its Lease. */
  renews?: boolean
  meanwhile?: (writeFirst: () => void) => void
  /** Runs before the call that removes the part arrives. */
  late?: (api: FakeApi) => void
}

const specOf = (holder: string) => ({ holderIdentity: holder, leaseDurationSeconds: holder === '' ? 1 : 15 })

async function cleaned({ holder = '', renews = false, meanwhile = () => {}, late = () => {} }: Meanwhile) {
  const api = createFakeApi()
  const put = (name: string, data: Record<string, string>): void =>
    void api.put(`${CONFIG_MAPS}/${name}`, { metadata: { name, labels: { [LEDGER_LABEL]: 'r1' } }, data })
  put(PART, {})
  api.put(LEASE, { metadata: { name: 'sluice-statefulset-web', namespace: NAMESPACE }, spec: specOf(holder) })
  const header = writeHeader({ run: 'r1', workloads: [], images: [], startedAt: '2026-01-01', chunks: 2 })
  api.faults.after = (_method, path) => {
    if (!path.endsWith('/leases')) return
    meanwhile(() => put('sluice-run-r1', { header }))
    if (renews) api.edit(LEASE, (raw) => (raw.spec = { ...specOf(holder), renewTime: '1' }))
  }
  const remove = (path: string, options?: DeleteOptions): ReturnType<typeof removeAsRead> => {
    late(api)
    return removeAsRead(api, path, options)
  }
  const client = { ...api.client, delete: remove }
  const report = await cleanedUp({ namespace: NAMESPACE, refs: [], dryRun: false }, client)
  return {
    removed: report.removed.map(({ name }) => name),
    kept: report.kept.map(({ name }) => name),
    parts: api.list(CONFIG_MAPS).length,
  }
}

describe('a part of a ledger whose header is not there', () => {
  test('goes where nobody runs', async () => {
    expect(await cleaned({})).toEqual({ removed: [PART], kept: [], parts: 0 })
  })

  test('stays where somebody does, who may be about to write it', async () => {
    expect(await cleaned({ holder: 'somebody', renews: true })).toEqual({ removed: [], kept: [PART], parts: 1 })
  })

  test('goes where somebody did, and was killed', async () => {
    expect(await cleaned({ holder: 'somebody' })).toEqual({ removed: [PART], kept: [], parts: 0 })
  })

  test('stays where a run has written to it since', async () => {
    const late = (api: FakeApi): void => api.edit(`${CONFIG_MAPS}/${PART}`, (raw) => (raw.data = { uid: '{}' }))
    expect(await cleaned({ late })).toEqual({ removed: [], kept: [PART], parts: 1 })
  })

  test('stays where the run that was writing it has come to its end while it was looked for', async () => {
    expect(await cleaned({ meanwhile: (writeFirst) => writeFirst() })).toEqual({ removed: [], kept: [], parts: 2 })
  })
})

describe('a run that is not finished, of which a person has settled all', () => {
  interface Left {
    /** The group of the workload. */
    group?: string
    isThere?: boolean
    state?: 'closed' | 'open'
    /** The pod is in no load balancer. */
    isUnbalanced?: boolean
    /** The journal of the pod, which has outlived its workload. */
    journal?: Journal | 'none'
    /** The holder of the workload's Lease. */
    holder?: { name: string; renews: boolean }
  }

  async function cleanedRun({
    group = WEB.group,
    isThere = false,
    state = 'closed',
    isUnbalanced = false,
    journal,
    holder,
  }: Left) {
    const api = createFakeApi()
    if (holder) api.put(LEASE, { metadata: { name: 'sluice-statefulset-web', namespace: NAMESPACE }, spec: specOf(holder.name) })
    api.faults.after = (_method, path) => {
      if (holder?.renews && path.endsWith('/leases'))
        api.edit(LEASE, (raw) => (raw.spec = { ...specOf(holder.name), renewTime: '1' }))
    }
    if (journal !== undefined) {
      const annotations = journal === 'none' ? {} : { [JOURNAL_KEY]: writeJournal(journal) }
      api.put(`/api/v1/namespaces/${NAMESPACE}/pods/web-0`, rawPod({ name: 'web-0', uid: 'uid-0', annotations }))
    }
    const header = { run: 'r1', workloads: [{ ...WEB, group }], images: [], startedAt: '2026-01-01', chunks: 1 }
    const entry = entryOf('web-0', { uid: 'uid-0', state, ...(isUnbalanced ? { targets: [] } : {}) })
    const [data] = ledgerChunks({ header, entries: new Map([[entry.uid, entry]]) })
    const name = 'sluice-run-r1'
    api.put(`${CONFIG_MAPS}/${name}`, { metadata: { name, labels: { [LEDGER_LABEL]: 'r1' } }, data })
    if (isThere)
      api.put(resourceOf(STATEFUL_SET).object(NAMESPACE, 'web'), { metadata: { name: 'web', namespace: NAMESPACE }, spec: {} })
    const remove = (path: string, options?: DeleteOptions): Promise<void> => removeAsRead(api, path, options)
    const client = { ...api.client, delete: remove }
    const report = await cleanedUp({ namespace: NAMESPACE, refs: [], dryRun: false }, client)
    return report.removed.map(({ reason }) => reason)
  }

  test('goes where its workload is gone: no command could go on with it', async () => {
    expect(await cleanedRun({})).toEqual([{ code: 'workload-gone-for-good', run: 'r1', workloads: ['statefulset/web'] }])
  })

  test('goes where the process that had its Lease was killed; control: not while somebody is at work', async () => {
    expect(await cleanedRun({ holder: { name: 'ann', renews: false } })).toHaveLength(1)
    expect(await cleanedRun({ holder: { name: 'ann', renews: true } })).toEqual([])
  })

  test('stays where its workload is of a kind that is not known here: whether that is gone nobody can ask', async () => {
    expect(await cleanedRun({ group: 'apps.example.dev' })).toEqual([])
  })

  test('stays where the workload is there, or something may be open', async () => {
    expect(await cleanedRun({ isThere: true })).toEqual([])
    // A ledger also stays where it decides how the journal of a pod counts.
    const late: Journal = { run: 'r1', epoch: 1, attempt: 1, step: 'drain', baseline: [], targets: [] }
    expect(await cleanedRun({ journal: late })).toEqual([])
    expect(await cleanedRun({ journal: { ...late, step: 'closed' } })).toHaveLength(1)
    expect(await cleanedRun({ state: 'open' })).toEqual([])
  })

  test('goes where a pod that is gone with it had nothing to drain: a word on it is refused, since nothing is open', async () => {
    expect(await cleanedRun({ state: 'open', isUnbalanced: true })).toHaveLength(1)
    const left: Journal = { run: 'r1', epoch: 1, attempt: 1, step: 'patched', baseline: [], targets: [] }
    expect(await cleanedRun({ state: 'open', isUnbalanced: true, journal: left })).toEqual([])
  })

  test('goes where the pods that its workload was deleted without are home, and stays where one is half done', async () => {
    const left: Journal = { run: 'r1', epoch: 1, attempt: 1, step: 'closed', baseline: [], targets: [] }
    expect(await cleanedRun({ state: 'open', journal: left })).toHaveLength(1)
    expect(await cleanedRun({ state: 'open', journal: 'none' })).toHaveLength(1)
    expect(await cleanedRun({ state: 'open', journal: { ...left, step: 'patched' } })).toEqual([])
  })
})

test('a record that cannot be read stays with all its parts, and does not keep another that is finished', async () => {
  const api = createFakeApi()
  const put = (name: string, run: string, data: Record<string, string>): void =>
    void api.put(`${CONFIG_MAPS}/${name}`, { metadata: { name, labels: { [LEDGER_LABEL]: run } }, data })
  const header = { run: 'r2', workloads: [WEB], images: [], startedAt: '2026-01-01', finishedAt: '2026-01-02', chunks: 1 }
  put('sluice-run-r1', 'r1', { header: '{' })
  put(PART, 'r1', {})
  put('sluice-run-r2', 'r2', ledgerChunks({ header, entries: new Map() })[0]!)
  const client = { ...api.client, delete: (path: string, options?: DeleteOptions) => removeAsRead(api, path, options) }
  const { removed, kept } = await cleanedUp({ namespace: NAMESPACE, refs: [], dryRun: false }, client)
  expect(removed.map(({ name }) => name)).toEqual(['sluice-run-r2'])
  const reason = { code: 'record-unreadable', problem: { code: 'record-not-json' } }
  expect(kept).toEqual([{ kind: 'ConfigMap', name: 'sluice-run-r1', reason }])
  expect(api.list(CONFIG_MAPS).map(([path]) => path.slice(CONFIG_MAPS.length + 1))).toEqual(['sluice-run-r1', PART])
})

test('a finished run that an undo takes back, which was killed, stays: the same command goes on by its record', async () => {
  const api = createFakeApi()
  const release = { run: 'r1', workloads: [WEB], images: [], startedAt: '2026-01-01', finishedAt: '2026-01-02', chunks: 1 }
  const undo = { run: 'r2', workloads: [WEB], images: [], startedAt: '2026-01-03', undoes: 'r1', chunks: 1 }
  for (const header of [release, undo]) {
    const name = `sluice-run-${header.run}`
    const [data] = ledgerChunks({ header, entries: new Map() })
    api.put(`${CONFIG_MAPS}/${name}`, { metadata: { name, labels: { [LEDGER_LABEL]: header.run } }, data })
  }
  api.put(resourceOf(STATEFUL_SET).object(NAMESPACE, 'web'), { metadata: { name: 'web', namespace: NAMESPACE }, spec: {} })
  const client = { ...api.client, delete: async (path: string) => api.remove(path) }
  const report = await cleanedUp({ namespace: NAMESPACE, refs: [], dryRun: false }, client)
  expect([report.removed, report.kept.map(({ reason }) => reason)]).toEqual([
    [],
    [
      { code: 'run-needed', run: 'r1', finished: true, by: { need: 'undo', run: 'r2' } },
      { code: 'run-not-finished', run: 'r2' },
    ],
  ])
})

test('of two finished runs that have settled the same pod of one that is not finished, one stays', async () => {
  const api = createFakeApi()
  const entry = { uid: 'uid-0', pod: 'web-0', targets: [], state: 'open' as const }
  for (const [run, ending] of [
    ['r1', {}],
    ['r2', { finishedAt: '2026-01-09' }],
    ['r3', { finishedAt: '2026-01-09' }],
  ] as const) {
    const header = { run, workloads: [WEB], images: [], startedAt: `2026-01-0${run.slice(1)}`, chunks: 1, ...ending }
    const [data] = ledgerChunks({ header, entries: new Map([[entry.uid, entry]]) })
    api.put(`${CONFIG_MAPS}/sluice-run-${run}`, {
      metadata: { name: `sluice-run-${run}`, labels: { [LEDGER_LABEL]: run } },
      data,
    })
  }
  api.put(resourceOf(STATEFUL_SET).object(NAMESPACE, 'web'), { metadata: { name: 'web', namespace: NAMESPACE }, spec: {} })
  for (const dryRun of [true, false]) {
    const remove = (path: string, options?: DeleteOptions): Promise<void> => removeAsRead(api, path, options)
    const client = { ...api.client, delete: remove }
    const report = await cleanedUp({ namespace: NAMESPACE, refs: [], dryRun }, client)
    expect(report.removed.map(({ name }) => name)).toEqual(['sluice-run-r2'])
    expect(report.kept.map(({ reason }) => reason)).toEqual([
      { code: 'run-not-finished', run: 'r1' },
      { code: 'run-needed', run: 'r3', finished: true, by: { need: 'settled', run: 'r1' } },
    ])
  }
})

test('a run that is not finished, of a workload that is gone, stays while it has settled pods of another that is not', async () => {
  const api = createFakeApi()
  const put = (run: string, workloads: (typeof WEB)[], state: 'open' | 'closed'): void => {
    const entry = entryOf('web-0', { state })
    const header = { run, workloads, images: [], startedAt: `2026-01-0${run.slice(1)}`, chunks: 1 }
    const [data] = ledgerChunks({ header, entries: new Map([[entry.uid, entry]]) })
    api.put(`${CONFIG_MAPS}/sluice-run-${run}`, {
      metadata: { name: `sluice-run-${run}`, labels: { [LEDGER_LABEL]: run } },
      data,
    })
  }
  put('r1', [WEB, { ...WEB, name: 'api', uid: 'a' }], 'open')
  put('r2', [WEB], 'closed')
  api.put(resourceOf(STATEFUL_SET).object(NAMESPACE, 'api'), { metadata: { name: 'api', namespace: NAMESPACE }, spec: {} })
  const client = { ...api.client, delete: async (path: string) => api.remove(path) }
  const report = await cleanedUp({ namespace: NAMESPACE, refs: [], dryRun: false }, client)
  expect([report.removed, report.kept.map(({ reason }) => reason)]).toEqual([
    [],
    [
      { code: 'run-not-finished', run: 'r1' },
      { code: 'run-needed', run: 'r2', finished: false, by: { need: 'settled', run: 'r1' } },
    ],
  ])
})

test('a finished run of two workloads stays where one of them is named alone, and goes where both are', async () => {
  const api = createFakeApi()
  const both = [WEB, { ...STATEFUL_SET, name: 'api', uid: 'a' }]
  const header = { run: 'r1', workloads: both, images: [], startedAt: '2026-01-01', finishedAt: '2026-01-02', chunks: 1 }
  const [data] = ledgerChunks({ header, entries: new Map() })
  api.put(`${CONFIG_MAPS}/sluice-run-r1`, { metadata: { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }, data })
  const client = { ...api.client, delete: async (path: string) => api.remove(path) }
  const clean = async (names: string[]) => {
    const refs = names.map((name) => ({ ...STATEFUL_SET, name }))
    const { removed, kept } = await cleanedUp({ namespace: NAMESPACE, refs, dryRun: true }, client)
    return [removed.length, ...kept.map(({ reason }) => reason)]
  }
  expect(await clean(['web'])).toEqual([
    0,
    { code: 'run-needed', run: 'r1', finished: true, by: { need: 'workloads', workloads: ['statefulset/api'] } },
  ])
  expect(await clean(['web', 'api'])).toEqual([1])
})

// Without the ledger, a drain intent that comes late would count. See late-intents.ts.
test.each([
  { step: 'drain' as const, removed: [] },
  { step: 'closed' as const, removed: ['sluice-run-r1'] },
])('a finished run that the journal of a pod names ($step) stays while that is open', async ({ step, removed }) => {
  const api = createFakeApi()
  const journal: Journal = { run: 'r1', epoch: 1, attempt: 1, step, baseline: [], targets: [] }
  const annotations = { [JOURNAL_KEY]: writeJournal(journal, 'uid-0') }
  api.put(`/api/v1/namespaces/${NAMESPACE}/pods/web-0`, rawPod({ name: 'web-0', uid: 'uid-0', annotations }))
  const header = { run: 'r1', workloads: [WEB], images: [], startedAt: '2026-01-01', chunks: 1, finishedAt: '2026-01-02' }
  const [data] = ledgerChunks({ header, entries: new Map() })
  const name = 'sluice-run-r1'
  api.put(`${CONFIG_MAPS}/${name}`, { metadata: { name, labels: { [LEDGER_LABEL]: 'r1' } }, data })
  const client = { ...api.client, delete: (path: string, options?: DeleteOptions) => removeAsRead(api, path, options) }
  const report = await cleanedUp({ namespace: NAMESPACE, refs: [], dryRun: false }, client)
  expect(report.removed.map((one) => one.name)).toEqual(removed)
})

describe('a finished run that could be undone', () => {
  const CHANGED = { ...WEB, templates: [{ of: idOf(WEB), images: [{ container: 'app', image: 'r/app:v1' }] }] }

  async function reasons(header: { workloads: (typeof WEB)[]; undoes?: string }, dryRun: boolean): Promise<Reason[]> {
    const api = createFakeApi()
    const whole = { run: 'r1', images: [], startedAt: '2026-01-01', finishedAt: '2026-01-02', chunks: 1, ...header }
    const [data] = ledgerChunks({ header: whole, entries: new Map() })
    api.put(`${CONFIG_MAPS}/sluice-run-r1`, { metadata: { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }, data })
    const client = { ...api.client, delete: async (path: string) => api.remove(path) }
    const report = await cleanedUp({ namespace: NAMESPACE, refs: [], dryRun }, client)
    return report.removed.map(({ reason }) => reason)
  }

  test('goes with its way back, and that is said', async () => {
    const finished = { code: 'run-finished', run: 'r1', at: '2026-01-02' }
    expect(await reasons({ workloads: [CHANGED] }, true)).toEqual([{ ...finished, undo: 'not-then' }])
    expect(await reasons({ workloads: [CHANGED] }, false)).toEqual([{ ...finished, undo: 'no-more' }])
    expect(await reasons({ workloads: [WEB] }, true), 'control: nothing was changed').toEqual([{ ...finished, undo: 'never' }])
    expect(await reasons({ workloads: [CHANGED], undoes: 'r0' }, true), 'control: an undo').toEqual([
      { ...finished, undo: 'never' },
    ])
  })
})

describe('a workload of which there is no record', () => {
  const clean = async (fill: (api: FakeApi) => void) => {
    const api = createFakeApi()
    fill(api)
    const request = { namespace: NAMESPACE, refs: [{ ...STATEFUL_SET, name: 'web' }], dryRun: false }
    return cleanedUp(request, api.client)
  }
  const nothing = { removed: [], kept: [] }

  test('is no such workload where it is not there, and has no Lease', async () => {
    await expect(clean(() => {})).rejects.toMatchObject({ name: 'WorkloadError', kind: 'not-found' })
  })

  test('has nothing to remove where it is there, or a run has had its Lease', async () => {
    const lease = { metadata: { name: 'sluice-statefulset-web', namespace: NAMESPACE }, spec: {} }
    const workload = { metadata: { name: 'web', namespace: NAMESPACE }, spec: {} }
    expect(await clean((api) => api.put(resourceOf(STATEFUL_SET).object(NAMESPACE, 'web'), workload))).toEqual(nothing)
    expect(await clean((api) => api.put(LEASE, lease))).toEqual(nothing)
  })
})
