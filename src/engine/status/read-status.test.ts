import { resourceOf } from '../../workloads/resources.ts'
import { REPLICA_SET } from '../../workloads/kinds/deployment.ts'
import { DEPLOYMENT } from '../../workloads/kinds/deployment.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import { createWriting } from '../../report/words/words.ts'
import { said } from '../testing/said.ts'
import type { Reason } from '../../reasons/reason.ts'
import type { NeedsOperator } from './status.ts'
import { writeJournal } from '../../journal/journal.ts'
import type { LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import { withAccounts } from '../../journal/ledger-accounts.ts'
import { LEDGER_LABEL, ledgerChunks } from '../../journal/ledger.ts'
import type { Journal, JournalStep } from '../../pods/glossary.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import type { FakeApi } from '../../workloads/testing/fake-api.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { NAMESPACE, ownerOf, replicaSet } from '../../workloads/testing/manifests.ts'
import { createColors } from '../../cli/output/color.ts'
import { statusLines } from '../../cli/output/status-view.ts'
import type { SingleOrder } from '../orders/order.ts'
import { writeOrder } from '../orders/order.ts'
import { readStatus } from './read-status.ts'
import { findUnrecorded } from '../unrecorded.ts'

const WEB = { ...STATEFUL_SET, name: 'web', uid: 'w' } as const
const TARGET = { loadBalancer: 'edge', target: 'web-0@10.0.0.1', scope: 'web', prior: 'ready', untouched: false }
const ENTRY = { loadBalancer: 'edge', target: TARGET.target }
const HALF_DONE = { code: 'half-done-without-record', pod: 'web-0' }
const person = { reason: said('look at it'), advice: [] }
const resolve = (flags: object) => ({ command: 'resolve', pod: 'web-0', namespace: NAMESPACE, ...flags })
const CORE = `/api/v1/namespaces/${NAMESPACE}`

function addRun(api: FakeApi, run: string, header: Partial<LedgerHeader> = {}, entries: LedgerEntry[] = []): void {
  const full: LedgerHeader = { run, workloads: [WEB], images: [], startedAt: `2026-01-0${run.slice(-1)}`, chunks: 1, ...header }
  const [data] = ledgerChunks({ header: full, entries: new Map(entries.map((entry) => [entry.uid, entry])) })
  const name = `sluice-run-${run}`
  api.put(`${CORE}/configmaps/${name}`, { metadata: { name, labels: { [LEDGER_LABEL]: run } }, data })
}

/** Adds a pod that r1 has drained, or brought further. */
function addPod(api: FakeApi, podIP: string, step: JournalStep = 'drain', over: Partial<Journal> = {}): void {
  const message = writeJournal({ run: 'r1', epoch: 1, attempt: 1, step, baseline: [], targets: [TARGET], ...over })
  const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'w', controller: true }]
  api.put(`${CORE}/pods/web-0`, {
    metadata: { name: 'web-0', namespace: NAMESPACE, uid: 'uid-0', ownerReferences },
    spec: { containers: [{ name: 'app', image: 'app:v1' }] },
    status: { podIP, conditions: [{ type: 'sluice.dev/journal', status: 'True', message }] },
  })
}

async function read(api: FakeApi) {
  const request = { namespace: NAMESPACE, refs: [WEB] }
  const { workloads } = await readStatus(request, { client: api.client, clock: createVirtualClock() })
  return workloads[0]!
}

describe('a pod that has another address than its entries, which a run has left to a person', () => {
  const entry: LedgerEntry = { uid: 'uid-0', pod: 'web-0', address: '10.0.0.1', targets: [TARGET], state: 'abandoned' }

  test('needs a person, with what there is to do', async () => {
    const api = createFakeApi()
    addRun(api, 'r1', {}, [entry])
    addPod(api, '10.0.0.9')
    const { pods } = await read(api)
    expect(pods.map(({ needsOperator }) => needsOperator)).toEqual([
      {
        advice: [
          {
            code: 'entries-mean-another-address',
            pod: 'web-0',
            entries: [ENTRY],
            address: '10.0.0.9',
            commands: [resolve({ traffic: 'in' })],
          },
        ],
      },
    ])
  })

  test('not once it is home', async () => {
    const api = createFakeApi()
    addRun(api, 'r1', {}, [{ ...entry, state: 'open' }])
    addPod(api, '10.0.0.1')
    expect((await read(api)).pods.map(({ needsOperator }) => needsOperator)).toEqual([undefined])
  })
})

test('a pod whose journal cannot be read needs a person, who is told of its entries by the newest run that is open', async () => {
  const api = createFakeApi()
  const entry: LedgerEntry = { uid: 'uid-0', pod: 'web-0', address: '10.0.0.1', targets: [TARGET], state: 'open' }
  addRun(api, 'r1', {}, [entry])
  addRun(api, 'r2', {}, [{ ...entry, targets: [{ ...TARGET, prior: 'weight 7' }] }])
  addRun(api, 'r0', { finishedAt: 'then' }, [{ ...entry, targets: [{ ...TARGET, prior: 'weight 9' }] }])
  addPod(api, '10.0.0.1')
  api.edit(`${CORE}/pods/web-0`, (raw) => {
    ;(raw as { status: { conditions: { message: string }[] } }).status.conditions[0]!.message = '{'
  })
  expect((await read(api)).pods[0]!.needsOperator).toEqual({
    advice: [
      {
        code: 'say-for-unreadable-journal',
        pod: 'web-0',
        problem: { code: 'record-in', place: 'condition', problem: { code: 'record-not-json' } },
        entries: [{ ...ENTRY, prior: 'weight 7' }],
        isOnRecord: true,
        commands: [resolve({ traffic: 'in' }), resolve({ traffic: 'out' })],
      },
    ],
  })
})

test('a pod that is gone, whose entries a run has left to a person: they are to be pointed at the one in its place', async () => {
  const api = createFakeApi()
  addRun(api, 'r1', {}, [{ uid: 'uid-old', pod: 'web-0', address: '10.0.0.1', targets: [TARGET], state: 'abandoned' }])
  const gone = { code: 'settle-for-gone-pod', pod: 'web-0', entries: [ENTRY], commands: [resolve({ gone: true, traffic: 'in' })] }
  expect((await read(api)).pods[0]!.needsOperator).toEqual({ advice: [gone] })
  addPod(api, '10.0.0.9')
  expect((await read(api)).pods.find(({ uid }) => uid === 'uid-old')!.needsOperator).toEqual({
    advice: [{ ...gone, replacementAt: '10.0.0.9' }],
  })
})

test('of a pod that a process has ended with it says why, and whether it is left to a person, until another has written its record', async () => {
  const entry: LedgerEntry = { uid: 'uid-0', pod: 'web-0', address: '10.0.0.1', targets: [TARGET], state: 'open' }
  const left = async (epoch: number, outcome: string): Promise<NeedsOperator | Reason | undefined> => {
    const header: LedgerHeader = { run: 'r1', workloads: [WEB], images: [], startedAt: '2026-01-01', chunks: 1 }
    const account = { epoch, startedAtMs: 0, phases: [], effects: [], restarts: [], outcome, reason: said('look at it') }
    const [told] = withAccounts({ header, entries: new Map([[entry.uid, entry]]) }, new Map([[entry.uid, account]]))
    const api = createFakeApi()
    addRun(api, 'r1', {}, [told!])
    // The owner of epoch 1 wrote the record.
    addPod(api, '10.0.0.1')
    const { needsOperator, reasons } = (await read(api)).pods[0]!
    return needsOperator ?? reasons.find(({ code }) => code === 'error')
  }
  expect(await left(1, 'needsOperator')).toEqual(person)
  expect(await left(1, 'failed')).toEqual(said('look at it'))
  expect(await left(1, 'interrupted')).toBeUndefined()
  expect(await left(0, 'needsOperator')).toBeUndefined()
  expect(await left(0, 'failed')).toBeUndefined()
})

test('a pod that is on its way back to its former images says so, and to which', async () => {
  const rollback = [{ container: 'app', image: 'app:v1' }]
  const reasons = async (over: Partial<Journal>): Promise<Reason[]> => {
    const api = createFakeApi()
    addRun(api, 'r1', {}, [{ uid: 'uid-0', pod: 'web-0', address: '10.0.0.1', targets: [TARGET], state: 'open' }])
    addPod(api, '10.0.0.1', 'patched', { generation: 2, ...over })
    return (await read(api)).pods[0]!.reasons
  }
  const [standing] = await reasons({})
  expect(await reasons({ rollback })).toEqual([standing, { code: 'on-way-back', images: rollback }])
  expect(await reasons({}), 'control').toEqual([standing])
})

test('a pod that is gone is left to a person where the process that had it last has said so', async () => {
  const entry: LedgerEntry = { uid: 'uid-old', pod: 'web-0', address: '10.0.0.1', targets: [TARGET], state: 'open' }
  const left = async (...outcomes: string[]): Promise<NeedsOperator | undefined> => leftOf(entry, ...outcomes)
  const leftOf = async (first: LedgerEntry, ...outcomes: string[]): Promise<NeedsOperator | undefined> => {
    const header: LedgerHeader = { run: 'r1', workloads: [WEB], images: [], startedAt: '2026-01-01', chunks: 1 }
    let told = first
    for (const [index, outcome] of outcomes.entries()) {
      const account = { epoch: index, startedAtMs: 0, phases: [], effects: [], restarts: [], outcome, reason: said('look at it') }
      told = withAccounts({ header, entries: new Map([[told.uid, told]]) }, new Map([[told.uid, account]]))[0]!
    }
    const api = createFakeApi()
    addRun(api, 'r1', {}, [told])
    return (await read(api)).pods[0]?.needsOperator
  }
  const leftOut: LedgerEntry = { ...entry, state: 'closed', leftOut: true }
  expect(await leftOf(leftOut, 'needsOperator')).toEqual(person)
  expect(await leftOf(leftOut, 'settled'), 'nothing has come in its place').toBeUndefined()
  expect(await leftOf({ ...entry, state: 'closed' }, 'needsOperator'), 'somebody has said how it stands').toBeUndefined()
  expect(await left('needsOperator')).toEqual(person)
  expect(await left('interrupted', 'needsOperator')).toEqual(person)
  expect(await left('needsOperator', 'interrupted')).toBeUndefined()
  expect(await left()).toBeUndefined()
})

test('a pod that is half done where no ledger tells of it, and a ledger that cannot be read, are no "nothing"', async () => {
  const unrecorded = (api: FakeApi) =>
    findUnrecorded({ client: api.client, clock: createVirtualClock(), namespace: NAMESPACE, refs: [WEB] })
  const api = createFakeApi()
  api.put(resourceOf(STATEFUL_SET).object(NAMESPACE, 'web'), { metadata: { name: 'web', namespace: NAMESPACE }, spec: {} })
  expect(await unrecorded(api)).toEqual([])
  addPod(api, '10.0.0.1', 'closed')
  expect(await unrecorded(api)).toEqual([])
  addPod(api, '10.0.0.1')
  expect(await unrecorded(api)).toEqual([HALF_DONE])
  api.put(`${CORE}/configmaps/sluice-run-r1`, {
    metadata: { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } },
    data: { header: '{' },
  })
  expect(await unrecorded(api)).toEqual([HALF_DONE, { code: 'record-of-run-unreadable', run: 'r1' }])
})

test('a pod of a Deployment that is half done where no ledger tells of it is the Deployment’s, and not its ReplicaSet’s', async () => {
  const api = createFakeApi()
  addPod(api, '10.0.0.1')
  const made = replicaSet('web-6f9', ownerOf('apps/v1', 'Deployment', 'web'))
  const { uid } = api.put(resourceOf(REPLICA_SET).object(NAMESPACE, 'web-6f9'), made).metadata
  const ownerReferences = [ownerOf('apps/v1', 'ReplicaSet', 'web-6f9', uid)]
  api.edit(`${CORE}/pods/web-0`, (raw) => (raw.metadata.ownerReferences = ownerReferences))
  const web = { ...DEPLOYMENT, name: 'web' }
  for (const refs of [[], [web]]) {
    const { workloads } = await readStatus({ namespace: NAMESPACE, refs }, { client: api.client, clock: createVirtualClock() })
    expect(workloads).toMatchObject([{ workload: web, pods: [{ name: 'web-0', state: 'drain' }] }])
  }
})

test('an order is shown of the runs that it means, and of no other', async () => {
  const api = createFakeApi()
  addRun(api, 'r1')
  addRun(api, 'r2')
  addRun(api, 'r3')
  const other: SingleOrder = { order: 'abort', runs: ['r3'], by: 'bob@desk' }
  const order = writeOrder({ order: 'pause', runs: ['r1'], by: 'ann@desk', others: [other] })
  const metadata = { name: 'sluice-statefulset-web', namespace: NAMESPACE, annotations: { 'sluice.dev/order': order } }
  api.put(`/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases/${metadata.name}`, { metadata, spec: {} })
  const report = await read(api)
  const lines = statusLines(NAMESPACE, { workloads: [report], unreadable: [] }, createColors(false), createWriting()).map(
    (line) => line.trim(),
  )
  expect(lines.filter((line) => /^r\d/.test(line)).map((line) => line.split(/\s+/).at(-1))).toEqual([
    'aborting',
    'open',
    'paused',
  ])
  expect(report.lease?.order).toEqual({ order: 'abort', by: 'bob@desk' })
})

test('of a run of two workloads each has its own pods, those that are gone among them', async () => {
  const api = createFakeApi()
  const workloads = [WEB, { ...STATEFUL_SET, name: 'api', uid: 'a' }]
  const owner = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'api', uid: 'a' }
  addRun(api, 'r1', { workloads }, [
    { uid: 'uid-0', pod: 'web-0', owner: { ...owner, name: 'web', uid: 'w' }, targets: [TARGET], state: 'open' },
    { uid: 'uid-api', pod: 'api-0', owner, targets: [TARGET], state: 'abandoned' },
  ])
  addPod(api, '10.0.0.1')
  const refs = [WEB, { ...STATEFUL_SET, name: 'api' }]
  const { workloads: reports } = await readStatus(
    { namespace: NAMESPACE, refs },
    { client: api.client, clock: createVirtualClock() },
  )
  expect(reports.map(({ pods }) => pods.map(({ name }) => name))).toEqual([['web-0'], ['api-0']])
})

test('and so has a Deployment, whose pods are those of its ReplicaSets', async () => {
  const api = createFakeApi()
  const workloads = [WEB, { ...DEPLOYMENT, name: 'api', uid: 'a' }]
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'api-6f9', uid: 'r' }
  addRun(api, 'r1', { workloads }, [
    {
      uid: 'uid-0',
      pod: 'web-0',
      owner: { ...owner, kind: 'StatefulSet', name: 'web', uid: 'w' },
      targets: [TARGET],
      state: 'open',
    },
    { uid: 'uid-api', pod: 'api-6f9-x', owner, targets: [TARGET], state: 'abandoned' },
  ])
  addPod(api, '10.0.0.1')
  const request = { namespace: NAMESPACE, refs: [WEB, { ...DEPLOYMENT, name: 'api' }] }
  const { workloads: reports } = await readStatus(request, { client: api.client, clock: createVirtualClock() })
  expect(reports.map(({ pods }) => pods.map(({ name }) => name))).toEqual([['web-0'], ['api-6f9-x']])
})

test('a run whose ledger is there in part is not kept quiet about: what it has left open is not known', async () => {
  const api = createFakeApi()
  addRun(api, 'r1')
  addRun(api, 'r2')
  const path = `${CORE}/configmaps/sluice-run-r2`
  const { metadata, data } = api.get(path) as unknown as { metadata: object; data: { header: string } }
  api.put(path, { metadata, data: { ...data, header: JSON.stringify({ ...JSON.parse(data.header), chunks: 2 }) } })
  const status = await readStatus({ namespace: NAMESPACE, refs: [] }, { client: api.client, clock: createVirtualClock() })
  expect(status.unreadable).toEqual([
    {
      run: 'r2',
      problem: { code: 'record-part-missing', part: 'sluice-run-r2-1' },
      needsOperator: {
        advice: [
          {
            code: 'remove-unreadable-record',
            commands: [{ command: 'kubectl', namespace: NAMESPACE, args: ['delete', 'configmap', '-l', 'sluice.dev/ledger=r2'] }],
          },
        ],
      },
    },
  ])
})

test('of a closed record nobody says that its pod is in rotation: an operator may have it out', async () => {
  const api = createFakeApi()
  addRun(api, 'r1')
  addPod(api, '10.0.0.1', 'closed')
  const report = await read(api)
  expect(report.pods).toMatchObject([{ state: 'closed', out: null }])
  const lines = statusLines(NAMESPACE, { workloads: [report], unreadable: [] }, createColors(false), createWriting())
  expect(lines.find((line) => /^ +web-0/.test(line))).toMatch(/ closed +r1 +1 +- +nothing of it is open$/)
})

test('a pod that is changed without a drain is not out', async () => {
  const api = createFakeApi()
  addPod(api, '10.0.0.1', 'patched', { targets: [], undrained: ['app'] })
  expect((await read(api)).pods[0]).toMatchObject({
    state: 'patched',
    out: false,
    reasons: [{ code: 'changes-without-drain', containers: ['app'] }],
  })
  const drained = createFakeApi()
  addPod(drained, '10.0.0.1', 'patched')
  expect((await read(drained)).pods[0], 'control').toMatchObject({ state: 'patched', out: true })
})
