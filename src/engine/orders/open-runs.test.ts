import { idNamed } from '../../workloads/kinds/testing/id-named.ts'
import { resourceOf } from '../../workloads/resources.ts'
import { POD } from '../../workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { LedgerHeader } from '../../journal/ledger.ts'
import { LEDGER_LABEL, ledgerChunks, WORKLOADS_ANNOTATION } from '../../journal/ledger.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { FakeApi } from '../../workloads/testing/fake-api.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE, ownerOf, rawPod } from '../../workloads/testing/manifests.ts'
import type { OpenRuns } from './open-runs.ts'
import { awaitOpenRuns, forOpenRuns, readOpenRuns } from './open-runs.ts'
import type { RunRequest } from '../request.ts'

const WEB = { ...STATEFUL_SET, name: 'web', uid: 'w' }
const API = { ...STATEFUL_SET, name: 'api', uid: 'a' }
const CORE = `/api/v1/namespaces/${NAMESPACE}`

function addRun(api: FakeApi, run: string, header: Partial<LedgerHeader> = {}): void {
  const full: LedgerHeader = { run, workloads: [WEB], images: [], startedAt: `2026-01-0${run.slice(-1)}`, chunks: 1, ...header }
  const [data] = ledgerChunks({ header: full, entries: new Map() })
  const name = `sluice-run-${run}`
  api.put(`${CORE}/configmaps/${name}`, { metadata: { name, labels: { [LEDGER_LABEL]: run } }, data })
}

function addLease(api: FakeApi, name: string, holderIdentity: string): void {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${name}`
  api.put(path, { metadata: { name, namespace: NAMESPACE }, spec: { holderIdentity } })
}

const named = (kind: 'StatefulSet' | 'Pod', name: string): RunRequest['select'] => ({ refs: [idNamed(kind, name)] })

async function read(api: FakeApi, select: RunRequest['select']): Promise<Record<Exclude<keyof OpenRuns, 'refs'>, unknown>> {
  const { asked, runs, leases } = await readOpenRuns(api.client, { namespace: NAMESPACE, select })
  return { asked, runs: runs.map(({ run }) => run), leases: leases.map(({ name }) => name) }
}

describe('what is open', () => {
  test('the runs of a workload that are not finished, the newest first, and the Leases of all that they upgrade', async () => {
    const api = createFakeApi()
    addRun(api, 'r1', { workloads: [WEB, API] })
    addRun(api, 'r2', { finishedAt: '2026-01-03' })
    addRun(api, 'r3')
    addRun(api, 'r4', { workloads: [API] })
    addLease(api, 'sluice-statefulset-web', 'me')
    addLease(api, 'sluice-statefulset-api', '')
    addLease(api, 'sluice-statefulset-other', 'me')
    expect(await read(api, named('StatefulSet', 'web'))).toEqual({
      asked: 'statefulset/web',
      runs: ['r3', 'r1'],
      leases: ['sluice-statefulset-api', 'sluice-statefulset-web'],
    })
  })

  test.each<[string, RunRequest['select']]>([
    ['a pod by its name', named('Pod', 'web-0')],
    ['pods by their labels', { labelSelector: 'app=web' }],
  ])('%s: of their owner', async (_, select) => {
    const api = createFakeApi()
    const pod = rawPod({ name: 'web-0', owner: ownerOf('apps/v1', 'StatefulSet', 'web', 'w') })
    api.put(`${CORE}/pods/web-0`, { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, app: 'web' } } })
    addRun(api, 'r1')
    expect(await read(api, select)).toMatchObject({ asked: 'statefulset/web', runs: ['r1'] })
  })

  test('a pod that is not there is an error, and no Lease is none', async () => {
    const api = createFakeApi()
    await expect(read(api, named('Pod', 'web-0'))).rejects.toMatchObject({ name: 'WorkloadError', kind: 'not-found' })
    api.put(resourceOf(STATEFUL_SET).object(NAMESPACE, 'web'), { metadata: { name: 'web' } })
    expect(await read(api, named('StatefulSet', 'web'))).toMatchObject({ runs: [], leases: [] })
  })

  test('a pod of its own that is not there any more is found by its record, beside one that is', async () => {
    const api = createFakeApi()
    addRun(api, 'r1', { workloads: ['web-0', 'web-1'].map((name) => ({ ...POD, name, uid: name })) })
    api.put(`${CORE}/pods/web-0`, rawPod({ name: 'web-0' }))
    expect(await read(api, named('Pod', 'web-1'))).toMatchObject({ asked: 'pod/web-1', runs: ['r1'] })
    const both = { refs: ['web-0', 'web-1'].map((name) => ({ ...POD, name })) }
    expect(await read(api, both)).toMatchObject({ runs: ['r1'] })
    await expect(read(api, named('Pod', 'web-2'))).rejects.toMatchObject({ kind: 'not-found' })
  })

  test('a workload that is not there is an error, unless there is a record of it', async () => {
    const api = createFakeApi()
    addRun(api, 'r1', { workloads: [API], finishedAt: '2026-01-03' })
    addLease(api, 'sluice-statefulset-db', '')
    await expect(read(api, named('StatefulSet', 'web'))).rejects.toMatchObject({
      kind: 'not-found',
      reason: { code: 'no-such-workload', workload: 'statefulset/web' },
    })
    expect(await read(api, named('StatefulSet', 'api'))).toMatchObject({ runs: [] })
    expect(await read(api, named('StatefulSet', 'db'))).toMatchObject({ runs: [] })
  })

  test('a selector that no pod matches is an error, and not a run of nothing', async () => {
    const nobody = read(createFakeApi(), { labelSelector: 'app=none' })
    await expect(nobody).rejects.toMatchObject({
      kind: 'not-found',
      reason: { code: 'no-pods-by-selector', selector: 'app=none' },
    })
  })
})

describe('a run that is about to begin', () => {
  const request = { namespace: NAMESPACE, select: named('StatefulSet', 'web') }

  test('is waited for, as long as somebody holds the Lease', async () => {
    const api = createFakeApi()
    const clock = createVirtualClock()
    addLease(api, 'sluice-statefulset-web', 'me')
    clock.setTimeout(() => addRun(api, 'r1'), 2_500)
    let open: OpenRuns | undefined
    void awaitOpenRuns(api.client, request, clock).then((found) => (open = found))
    await clock.runUntil(() => open !== undefined)
    expect(open!.runs.map(({ run }) => run)).toEqual(['r1'])
  })

  test('is not waited for where nobody does, and not for ever', async () => {
    const api = createFakeApi()
    const clock = createVirtualClock()
    addLease(api, 'sluice-statefulset-web', '')
    expect((await awaitOpenRuns(api.client, request, clock)).runs).toEqual([])
    addLease(api, 'sluice-statefulset-web', 'dead')
    const from = clock.now()
    let open: OpenRuns | undefined
    void awaitOpenRuns(api.client, request, clock).then((found) => (open = found))
    await clock.runUntil(() => open !== undefined)
    expect([open!.runs, clock.now() - from]).toEqual([[], 16_000])
  })
})

test('no order is given where a newer sluice has a run of the workload on record', async () => {
  const api = createFakeApi()
  addRun(api, 'r1')
  addRun(api, 'r2')
  const path = `${CORE}/configmaps/sluice-run-r2`
  const { metadata } = api.get(path) as { metadata: object }
  const annotations = { [WORKLOADS_ANNOTATION]: 'statefulset/web' }
  api.put(path, { metadata: { ...metadata, annotations }, data: { header: '{"v":2}' } })
  const asked = (name: string) =>
    awaitOpenRuns(api.client, { namespace: NAMESPACE, select: named('StatefulSet', name) }, createVirtualClock())
  await expect(asked('web')).rejects.toMatchObject({
    kind: 'preflight',
    reason: { code: 'ledger-of-newer-sluice', run: 'r2', problem: { code: 'record-newer', version: 2, reads: 1 } },
  })
  addRun(api, 'r3', { workloads: [API] })
  expect((await asked('api')).runs.map(({ run }) => run)).toEqual(['r3'])
})

describe('for all that is open', () => {
  const request = { namespace: NAMESPACE, select: named('StatefulSet', 'web') }

  async function act(
    api: FakeApi,
    meanwhile: (times: number) => void,
  ): Promise<{ done: string[]; open: () => Promise<OpenRuns> }> {
    const done: string[] = []
    const found = await readOpenRuns(api.client, request)
    const open = () =>
      forOpenRuns(api.client, request, found, async ({ runs }) => {
        done.push(runs.map(({ run }) => run).join())
        meanwhile(done.length)
      })
    return { done, open }
  }

  test('once; and once more where a run has been begun meanwhile', async () => {
    const api = createFakeApi()
    addRun(api, 'r1')
    const once = await act(api, () => {})
    expect([(await once.open()).runs.map(({ run }) => run), once.done]).toEqual([['r1'], ['r1']])
    const twice = await act(api, (times) => void (times === 1 && addRun(api, 'r2')))
    expect([(await twice.open()).runs.map(({ run }) => run), twice.done]).toEqual([
      ['r2', 'r1'],
      ['r1', 'r2,r1'],
    ])
  })

  test('one that has come to its end meanwhile is nothing new', async () => {
    const api = createFakeApi()
    addRun(api, 'r1')
    const { done, open } = await act(api, () => addRun(api, 'r1', { finishedAt: '2026-01-03' }))
    expect([(await open()).runs.map(({ run }) => run), done]).toEqual([['r1'], ['r1']])
  })

  test('done, and whether there is more cannot be known', async () => {
    const api = createFakeApi()
    addRun(api, 'r1')
    const { open } = await act(api, () => {
      api.faults.before = () => {
        throw new Error('the API server is away')
      }
    })
    await expect(open()).rejects.toMatchObject({
      kind: 'deadline',
      reason: { code: 'order-stands-unsure', because: { said: 'the API server is away' } },
    })
  })
})
