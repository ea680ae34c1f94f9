import { deployment, REPLICA_SET } from '../workloads/kinds/deployment.ts'
import { KINDS } from '../workloads/kinds/index.ts'
import { POD } from '../workloads/kinds/pod.ts'
import { STATEFUL_SET, statefulSet } from '../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import { createMemoryAdapter, createMemoryBalancer } from '../../adapters/conformance/memory-adapter.ts'
import type { Target } from '../../adapters/contract.ts'
import type { Observation } from '../../machines/pod-upgrade/context.ts'
import type { LedgerEntry } from '../journal/ledger.ts'
import { LEDGER_LABEL, ledgerChunks } from '../journal/ledger.ts'
import { createVirtualClock } from '../kube/testing/virtual-clock.ts'
import type { JournalTarget, ReadJournal } from '../pods/glossary.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import { createFakeApi } from '../workloads/testing/fake-api.ts'
import { NAMESPACE } from '../workloads/testing/manifests.ts'
import { lonePods } from '../workloads/lone-pods.ts'
import type { Workload } from '../workloads/workload.ts'
import { createPlanning } from './planning.ts'
import type { PodStore } from '../observation/pod-store.ts'
import type { RunRequest } from './request.ts'
import type { Traffic } from './traffic/traffic.ts'
import { createScopeQueues } from './traffic/scope-queues.ts'
import { createTraffic } from './traffic/traffic.ts'

const WEB = { ...REPLICA_SET, name: 'web', uid: 'rs' } as const
const IMAGES = [{ container: 'app', image: 'app:v2' }]
const CORE = `/api/v1/namespaces/${NAMESPACE}`
const NOBODY = { all: () => [] }

interface Given {
  /** The containers whose change alone needs no drain, from the config. */
  notFor?: string[]
  /** The entry that has the target of the first pod out. */
  entry: Partial<LedgerEntry>
  finishedAt?: string
  /** The same entry in the ledger of a later, or earlier, run. */
  another?: { startedAt: string; state: LedgerEntry['state']; isUnfinished?: true; untouched?: true }
  /** The images of the pods. */
  images?: [string, string]
  /** The journal of the second pod. */
  stored?: ReadJournal
  /** The address of the second pod. */
  second?: string
  /** The name of another entry of the second pod. */
  added?: string
  /** Whether the config reaches the recorded target. */
  reaches?: boolean
  /** The entry of the second pod is out. */
  isRenamedOut?: boolean
  /** The phase of the second pod. */
  phase?: string
  /** The target of the first pod is not drained. */
  isIn?: boolean
  undo?: boolean
  abort?: boolean
}

const PRIOR = { state: 'ready', weight: 7 }
const OUT = { loadBalancer: 'edge', target: 'edge/a', scope: 'edge', prior: PRIOR, untouched: false }

const OPERATORS = { state: 'open', isUnfinished: true, untouched: true } as const

/** Plans for two pods. The target of the first is drained, and a ledger has the drain for a gone pod. */
async function planned({
  entry,
  finishedAt,
  another,
  images = ['app:v1', 'app:v1'],
  stored = { kind: 'none' },
  second = '10.0.0.2',
  added,
  reaches,
  isRenamedOut = false,
  phase,
  isIn = false,
  undo = false,
  abort = false,
  notFor,
}: Given) {
  const server = (name: string, at: number) => ({ name, address: `10.0.0.${at}`, port: 80 })
  const balancer = createMemoryBalancer([server('a', 1), server('b', 2), ...(added ? [server(added, 2)] : [])], 'edge')
  if (!isIn) balancer.set('edge/a', { state: 'drain' }, { kind: 'drain', operationId: '' })
  if (isRenamedOut) balancer.set('edge/b', { state: 'drain' }, { kind: 'drain', operationId: '' })
  const api = createFakeApi()
  const left: LedgerEntry = {
    uid: 'gone',
    pod: 'web-gone',
    state: 'open',
    targets: [OUT],
    ...entry,
  }
  function record(run: string, over: { startedAt: string; finishedAt?: string }, recorded: LedgerEntry): void {
    const header = { run, workloads: [WEB], images: IMAGES, chunks: 1, ...over }
    const [data] = ledgerChunks({ header, entries: new Map([[recorded.uid, recorded]]) })
    const metadata = { name: `sluice-run-${run}`, labels: { [LEDGER_LABEL]: run } }
    api.put(`${CORE}/configmaps/${metadata.name}`, { metadata, data })
  }
  record('r1', { startedAt: '2026-01-02', ...(finishedAt === undefined ? {} : { finishedAt }) }, left)
  if (another) {
    const { startedAt, state, isUnfinished, untouched = false } = another
    const header = { startedAt, ...(isUnfinished ? {} : { finishedAt: '2026-01-04' }) }
    record('r2', header, { ...left, state, targets: [{ ...OUT, untouched }] })
  }
  const pods = ['1', '2'].map((at): Observation => ({
    pod: testPod({
      name: `web-${at}`,
      uid: `uid-${at}`,
      ip: at === '2' ? second : '10.0.0.1',
      ...(at === '2' && phase !== undefined ? { phase, ready: false } : {}),
      containers: [{ name: 'app', image: images[Number(at) - 1]! }],
    }),
    stored: at === '2' ? stored : { kind: 'none' },
  }))
  const adapter = {
    ...createMemoryAdapter(balancer),
    entryOf: ({ id }: Target) => id.replace(/@.*/, ''),
    ...(reaches === undefined ? {} : { reaches: () => reaches }),
  }
  const loadBalancers = [{ name: 'edge', adapterName: 'memory', adapter, port: 80 }]
  const planning = createPlanning({
    kinds: KINDS,
    request: {
      namespace: NAMESPACE,
      select: { refs: [WEB] },
      images: IMAGES,
      ...(undo ? { undo: {} } : {}),
      ...(abort ? { abort: {} } : {}),
      settings: { maxUnavailable: { count: 1 }, ...(notFor && { drainNotFor: notFor }) },
    } as unknown as RunRequest,
    client: api.client,
    workloads: [
      {
        kind: deployment,
        ref: WEB,
        owns: () => true,
        desired: () => 0,
        minReadyMs: () => 0,
        assess: () => ({ images: IMAGES, refusals: [], warnings: ['of what would be upgraded'] }),
      } as unknown as Workload,
    ],
    store: { all: () => pods, get: (uid: string) => pods.find(({ pod }) => pod.uid === uid) } as unknown as PodStore,
    beside: NOBODY,
    traffic: createTraffic({
      clock: createVirtualClock(),
      queues: createScopeQueues(createVirtualClock()),
      loadBalancers,
      allowUnbalanced: false,
      assertOwned: () => {},
      tell: () => {},
    }),
    loadBalancers,
    includes: () => true,
    onFound() {},
    onLedgers() {},
    availability: { pendingOf: () => new Map() },
  })
  await planning.replan()
  return {
    reasons: planning.plan().pods.map(({ reason }) => reason),
    refusals: planning.plan().refusals.map(({ code }) => code),
    warnings: planning.plan().warnings,
    isOut: planning.operatorOut('uid-1') !== 'none',
    targets: planning.targetsOf('uid-1'),
    drainsNone: planning.drainsNone(),
  }
}

test.each<{ name: string } & Given>([
  { name: 'gone', entry: {} },
  { name: 'gone, and whose entry has another address now', entry: { targets: [{ ...OUT, target: 'edge/a@10.0.0.9' }] } },
  { name: 'gone, and settled before', entry: {}, another: { startedAt: '2026-01-01', state: 'closed' } },
  { name: 'gone, and an operator’s before', entry: {}, another: { ...OPERATORS, startedAt: '2026-01-01' } },
])('what sluice itself has out for a pod that is $name is no operator’s, and was as the ledger says', async (given) => {
  const { refusals, isOut, targets } = await planned(given)
  expect([refusals, isOut]).toEqual([[], false])
  expect(targets).toMatchObject([{ target: 'edge/a', prior: PRIOR, untouched: false }])
})

test('nothing is asked where no pod is to be upgraded', async () => {
  const { refusals, isOut, targets } = await planned({ entry: { state: 'closed' }, images: ['app:v2', 'app:v2'] })
  expect([refusals, isOut, targets]).toEqual([[], false, []])
})

test.each([
  { step: 'drain', image: 'v1', isKnown: true },
  // The pod is home on its present image, and is drained anew.
  { step: 'restore', image: 'v1', isKnown: true },
  { step: 'restore', image: 'v2', isKnown: false },
  // The pod is patched again in place, and takes no new place.
  { step: 'patched', image: 'v1', isKnown: false },
  { step: 'drain', image: 'v1', abort: true, isKnown: false },
] as const)('the first pod is done, and the second open ($step, on $image): who is out is asked: $isKnown', async (given) => {
  const { step, image, isKnown } = given
  const targets = [{ ...OUT, target: 'edge/b' }]
  const stored: ReadJournal = { kind: 'read', journal: { run: 'r1', epoch: 1, attempt: 1, step, baseline: [], targets } }
  const abort = 'abort' in given
  const found = await planned({ entry: { state: 'closed' }, images: ['app:v2', `app:${image}`], stored, abort })
  expect([found.refusals, found.isOut]).toEqual([[], isKnown])
})

test('a pod that no load balancer has refuses the run, unless that has left out what it goes on with first', async () => {
  const given = { images: ['app:v1', 'app:v2'], second: '10.0.0.9', isIn: true } satisfies Partial<Given>
  expect((await planned({ ...given, entry: {} })).refusals).toEqual([])
  expect((await planned({ ...given, entry: { state: 'closed' } })).refusals).toEqual(['window-full'])
})

function drained(
  target: Partial<JournalTarget> = {},
  step: 'drain' | 'patched' | 'restore' = 'drain',
): Extract<ReadJournal, { kind: 'read' }> {
  const targets = [{ ...OUT, ...target }]
  return { kind: 'read', journal: { run: 'r1', epoch: 1, attempt: 1, step, baseline: [], targets } }
}

test.each(['drain', 'patched', 'restore'] as const)(
  'one that was drained in an instance which the config does not have is refused (%s)',
  async (step) => {
    const given = { entry: { state: 'closed' }, stored: drained({ target: 'edge/b' }, step), reaches: false } satisfies Given
    await expect(planned(given)).rejects.toMatchObject({
      kind: 'preflight',
      reason: { code: 'half-done-not-in-config', pod: 'web-2', place: { loadBalancer: 'edge', scope: 'edge' } },
    })
    await expect(planned({ ...given, abort: true })).rejects.toMatchObject({ kind: 'preflight' })
    // Controls: the config has the instance, or sluice has not touched the entry there.
    expect((await planned({ ...given, reaches: true })).refusals).toEqual([])
    const untouched = drained({ target: 'edge/b', untouched: true }, step)
    // The missing load balancer itself is refused for another reason.
    expect((await planned({ ...given, stored: untouched })).refusals).toEqual(['load-balancer-dropped'])
  },
)

test.each([
  { step: 'drain', abort: false },
  { step: 'patched', abort: false },
  { step: 'restore', abort: true },
] as const)('a record ($step, abort: $abort) that names a load balancer the config does not have is refused', async (given) => {
  const targets = [
    { ...OUT, target: 'edge/b' },
    { ...OUT, loadBalancer: 'former', target: 'former/b' },
  ]
  const { step, abort } = given
  const stored: ReadJournal = { kind: 'read', journal: { run: 'r1', epoch: 1, attempt: 1, step, baseline: [], targets } }
  await expect(planned({ entry: { state: 'closed' }, stored, abort })).rejects.toMatchObject({
    kind: 'preflight',
    reason: {
      code: 'half-done-not-in-config',
      pod: 'web-2',
      place: { loadBalancer: 'former' },
      resolve: { command: 'resolve', pod: 'web-2', namespace: 'shop', traffic: 'in' },
    },
  })
})

test.each([
  [
    'another load balancer',
    { entry: { targets: [{ ...OUT, loadBalancer: 'former', target: 'former/a' }] } },
    { loadBalancer: 'former' },
  ],
  ['another instance', { entry: {}, reaches: false }, { loadBalancer: 'edge', scope: 'edge' }],
] as const)('what was drained in %s for a pod that is gone is refused, also in an abort', async (_, given, place) => {
  for (const abort of [false, true])
    for (const images of [
      ['app:v1', 'app:v1'],
      ['app:v2', 'app:v2'],
    ])
      await expect(planned({ ...given, images, abort } as unknown as Given)).rejects.toMatchObject({
        kind: 'preflight',
        reason: {
          code: 'gone-not-in-config',
          pod: 'web-gone',
          place,
          resolve: { command: 'resolve', pod: 'web-gone', gone: true, loadBalancers: [place.loadBalancer], traffic: 'in' },
        },
      })
})

test('of it all are named that the command is about, and it is about no other load balancer', async () => {
  const former = (target: string, untouched = false) => ({ ...OUT, loadBalancer: 'former', target, untouched })
  const targets = [OUT, former('former/a'), former('former/b'), former('former/c', true)]
  await expect(planned({ entry: { targets } })).rejects.toMatchObject({
    reason: {
      code: 'gone-not-in-config',
      place: { loadBalancer: 'former' },
      targets: ['former/a', 'former/b'],
      resolve: { command: 'resolve', pod: 'web-gone', gone: true, loadBalancers: ['former'], traffic: 'in' },
    },
  })
})

test('control: what was left alone there, or is closed, is not; nor is what the config has', async () => {
  const former = { ...OUT, loadBalancer: 'former', target: 'former/a' }
  // No half-done entry is missing. The refusal still tells that pods were there and would not be drained.
  for (const [refusals, given] of [
    [['load-balancer-dropped'], { entry: { targets: [{ ...former, untouched: true }] }, isIn: true }],
    [['load-balancer-dropped'], { entry: { targets: [former], state: 'closed' }, isIn: true }],
    [[], { entry: {}, reaches: true }],
  ] as const)
    expect((await planned(given as unknown as Given)).refusals).toEqual(refusals)
})

test('control: a record that names one where it was left alone, or that is closed, is none of those', async () => {
  const former = { loadBalancer: 'former', target: 'former/b' }
  const alone = drained({ target: 'edge/b' })
  alone.journal.targets.push({ ...OUT, ...former, untouched: true })
  const closed = drained(former)
  closed.journal.step = 'closed'
  for (const stored of [alone, closed]) expect((await planned({ entry: {}, stored })).refusals).toEqual([])
})

test('one that was to be drained, and has another entry since, is refused: by its name where the others have kept theirs', async () => {
  const refusal = (stored: ReadJournal) => planned({ entry: { state: 'closed' }, stored, added: 'c' })
  await expect(refusal(drained({ target: 'edge/b' }))).rejects.toMatchObject({
    kind: 'preflight',
    reason: { code: 'half-done-elsewhere', pod: 'web-2', entry: { loadBalancer: 'edge', target: 'edge/c' } },
  })
  await expect(refusal(drained({ target: 'edge/renamed' }))).rejects.toMatchObject({ kind: 'preflight' })
  // Control: an entry whose name has changed.
  await planned({ entry: { state: 'closed' }, stored: drained({ target: 'edge/renamed' }) })
  const both = drained({ target: 'edge/b' })
  both.journal.targets.push({ ...OUT, target: 'edge/renamed' })
  await refusal(both)
})

test.each(['patched', 'restore'] as const)('so is one whose entry was made anew under another name (%s)', async (step) => {
  const stored = drained({ target: 'edge/renamed' }, step)
  const given = { entry: { state: 'closed' }, stored, images: ['app:v2', 'app:v1'] } satisfies Given
  await expect(planned(given)).rejects.toMatchObject({
    kind: 'preflight',
    reason: { code: 'half-done-elsewhere', pod: 'web-2', entry: { loadBalancer: 'edge', target: 'edge/b' } },
  })
})

test.each(['drain', 'patched'] as const)('control: one that was evicted (%s) is patched no more', async (step) => {
  const stored = drained({ target: 'edge/b' }, step)
  const given = { entry: { state: 'closed' }, stored, added: 'c', images: ['app:v2', 'app:v1'], phase: 'Failed' } satisfies Given
  expect((await planned(given)).refusals).toEqual([])
})

test.each(['patched', 'restore'] as const)('so is one that is to get other images once more (%s)', async (step) => {
  const given = { entry: { state: 'closed' }, stored: drained({ target: 'edge/b' }, step), added: 'c' } as const
  await expect(planned({ ...given, images: ['app:v2', 'app:v1'] })).rejects.toMatchObject({ kind: 'preflight' })
  // Control: the pod comes home on its patched image.
  await planned({ ...given, images: ['app:v2', 'app:v2'] })
})

test('what sluice itself has out for a pod that has moved since is no operator’s either', async () => {
  const { refusals, isOut, targets } = await planned({ entry: { state: 'closed' }, stored: drained() })
  expect([refusals, isOut]).toEqual([[], false])
  expect(targets).toMatchObject([{ target: 'edge/a', prior: PRIOR, untouched: false }])
})

test.each<{ name: string } & Given>([
  { name: 'settled since', entry: { state: 'closed' } },
  { name: 'settled by a later run', entry: {}, another: { startedAt: '2026-01-03', state: 'closed' } },
  { name: 'an operator’s for a later run', entry: {}, another: { ...OPERATORS, startedAt: '2026-01-03' } },
  { name: 'of a pod that is there', entry: { uid: 'uid-2' } },
  { name: 'an operator’s already then', entry: { targets: [] } },
  { name: 'of a run that is finished', entry: {}, finishedAt: '2026-01-02' },
  { name: 'of a pod that runs the images already', entry: { state: 'closed' }, images: ['app:v2', 'app:v1'] },
])('control: $name, it is an operator’s', async (given) => {
  const { refusals, isOut, targets } = await planned(given)
  expect([refusals, isOut]).toEqual([['window-full'], true])
  expect(targets).toMatchObject([{ prior: { state: 'drain' }, untouched: true }])
})

test.each([
  { name: 'left alone for it', stored: drained({ untouched: true }) },
  { name: 'another than its own', stored: drained({ target: 'edge/c' }) },
])('control: a pod has moved, and this target is $name', async ({ stored }) => {
  const { isOut, targets } = await planned({ entry: { state: 'closed' }, stored })
  expect(isOut).toBe(true)
  expect(targets).toMatchObject([{ prior: { state: 'drain' }, untouched: true }])
})

test('a bare pod that the run to be undone had nothing to do with stays as it is, and refuses nobody', async () => {
  const pods = ['old', 'new'].map((name) => testPod({ name, uid: name, containers: [{ name: 'app', image: 'app:v2' }] }))
  const api = createFakeApi()
  const before = { images: [{ container: 'app', image: 'app:v1' }] }
  const header = { run: 'r1', workloads: [{ ...POD, name: 'old', uid: 'old' }], images: IMAGES, startedAt: '', chunks: 1 }
  const entry: LedgerEntry = { uid: 'old', pod: 'old', targets: [], before, state: 'closed' }
  const [data] = ledgerChunks({ header, entries: new Map([['old', entry]]) })
  const metadata = { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }
  api.put(`${CORE}/configmaps/${metadata.name}`, { metadata, data })
  const planning = createPlanning({
    kinds: KINDS,
    request: {
      namespace: NAMESPACE,
      select: { labelSelector: 'app=web' },
      images: [],
      settings: { maxUnavailable: { count: 1 } },
      undo: {},
    } as unknown as RunRequest,
    client: api.client,
    workloads: pods.map((pod) => lonePods({ pods: [pod], ownership: { type: 'none' }, acceptTemplateDrift: false })),
    store: { all: () => pods.map((pod) => ({ pod, stored: { kind: 'none' } })), get: () => undefined } as unknown as PodStore,
    beside: NOBODY,
    traffic: { find: async () => pods.map(() => ({ found: true, targets: [] })) } as unknown as Traffic,
    loadBalancers: [],
    includes: () => true,
    onFound() {},
    onLedgers() {},
    availability: { pendingOf: () => new Map() },
  })
  await planning.replan()
  const plan = planning.plan()
  expect([plan.refusals, plan.pods.map(({ name, action }) => `${action} ${name}`)]).toEqual([[], ['upgrade old', 'skip new']])
  expect(plan.undoes).toEqual({ run: 'r1', images: IMAGES })
})

test('a template that stays is not given what one of several pods had had', async () => {
  const asked: unknown[] = []
  const workload = {
    kind: statefulSet,
    ref: { ...WEB, ...STATEFUL_SET },
    uid: WEB.uid,
    owns: () => true,
    desired: () => 2,
    minReadyMs: () => 0,
    assess(images: unknown) {
      asked.push(images)
      return { images: [], refusals: [], warnings: [] }
    },
  } as unknown as Workload
  const api = createFakeApi()
  // The template had the new images before the run.
  const header = {
    run: 'r1',
    workloads: [{ ...STATEFUL_SET, name: 'web', uid: WEB.uid }],
    images: IMAGES,
    startedAt: '',
    chunks: 1,
  }
  const owner = { kind: 'StatefulSet', name: 'web', uid: WEB.uid, apiVersion: 'apps/v1' }
  const entries = ['v1', 'v3'].map((tag): LedgerEntry => {
    const before = { images: [{ container: 'app', image: `app:${tag}` }] }
    return { uid: `had ${tag}`, pod: `had ${tag}`, owner, targets: [], before, state: 'closed' }
  })
  const [data] = ledgerChunks({ header, entries: new Map(entries.map((entry) => [entry.uid, entry])) })
  const metadata = { name: 'sluice-run-r1', labels: { [LEDGER_LABEL]: 'r1' } }
  api.put(`${CORE}/configmaps/${metadata.name}`, { metadata, data })
  const pods = entries.map(({ uid }) => testPod({ name: uid, uid, containers: [{ name: 'app', image: 'app:v2' }] }))
  const planning = createPlanning({
    kinds: KINDS,
    request: {
      namespace: NAMESPACE,
      select: { refs: [workload.ref] },
      images: [],
      settings: { maxUnavailable: { count: 1 } },
      undo: {},
    } as unknown as RunRequest,
    client: api.client,
    workloads: [workload],
    store: { all: () => pods.map((pod) => ({ pod, stored: { kind: 'none' } })), get: () => undefined } as unknown as PodStore,
    beside: NOBODY,
    traffic: { find: async () => pods.map(() => ({ found: true, targets: [] })) } as unknown as Traffic,
    loadBalancers: [],
    includes: () => true,
    onFound() {},
    onLedgers() {},
    availability: { pendingOf: () => new Map() },
  })
  await planning.replan()
  expect(asked).toEqual([[]])
  expect(pods.map((pod) => planning.imagesFor(pod)[0]?.image)).toEqual(['app:v1', 'app:v3'])
})

test('of a pod that came up after the run which is undone it is not said that it runs the images already', async () => {
  const { reasons } = await planned({ entry: { before: { images: IMAGES } }, finishedAt: '2026-01-03', undo: true })
  expect(reasons.length).toBeGreaterThan(0)
  for (const reason of reasons) expect(reason).toEqual({ code: 'not-of-undone-run', run: 'r1' })
})

test.each([true, false])('warned of what would be upgraded, unless it is an abort: %s', async (abort) => {
  const { warnings } = await planned({ entry: {}, abort })
  expect(warnings).toEqual(abort ? [] : ['of what would be upgraded'])
})

test('a plan says what a person has to do first, and an abort, which warns of nothing, does not', async () => {
  const said = {
    code: 'awaits-person',
    pod: 'web-gone',
    entries: [{ loadBalancer: 'edge', target: 'edge/a' }],
    resolve: { command: 'resolve', pod: 'web-gone', namespace: 'shop', gone: true, traffic: 'in' },
  }
  expect((await planned({ entry: { state: 'abandoned' } })).warnings).toEqual(['of what would be upgraded', said])
  expect((await planned({ entry: {} })).warnings).toEqual(['of what would be upgraded'])
  expect((await planned({ entry: { state: 'abandoned' }, abort: true })).warnings).toEqual([])
})

describe('a container that needs no drain', () => {
  const KEPT = { code: 'to-upgrade', rotation: 'kept' }
  const undrained = (step: 'drain' | 'patched' | 'restore'): ReadJournal => ({
    kind: 'read',
    journal: {
      run: 'r1',
      epoch: 1,
      attempt: 1,
      step,
      baseline: [],
      targets: [],
      undrained: ['app'],
      ...(step === 'drain' ? {} : { generation: 2 }),
    },
  })

  test('nobody is asked who is out where it alone changes, and a pod that no load balancer has is no reason to refuse', async () => {
    const given = { entry: { state: 'closed' }, second: '10.0.0.9', isIn: true } satisfies Partial<Given>
    const { reasons, refusals, targets, drainsNone } = await planned({ ...given, notFor: ['app'] })
    expect([reasons, refusals, targets, drainsNone]).toMatchObject([[KEPT, KEPT], [], [], true])
    const other = await planned({ ...given, notFor: ['log-agent'] })
    expect([other.refusals, other.drainsNone], 'control').toEqual([['not-in-load-balancer'], false])
  })

  test.each(['drain', 'patched', 'restore'] as const)(
    'an earlier run has left it at %s: gone on with, and looked for nowhere',
    async (step) => {
      const given = { entry: { state: 'closed' }, isIn: true, stored: undrained(step), notFor: ['app'] } satisfies Given
      expect((await planned(given)).reasons).toContainEqual({ code: 'goes-on-without-drain', containers: ['app'] })
    },
  )

  test('it was patched, and the config does not name it any more: other images of it are refused', async () => {
    const given = { entry: { state: 'closed' }, isIn: true } satisfies Given
    await expect(planned({ ...given, stored: undrained('patched') })).rejects.toMatchObject({
      kind: 'preflight',
      reason: { code: 'half-done-undrained', pod: 'web-2', containers: ['app'] },
    })
    // Controls: there is nothing to patch; the pod is not patched yet; the run is to be ended.
    await planned({ ...given, stored: undrained('patched'), images: ['app:v1', 'app:v2'] })
    await planned({ ...given, stored: undrained('drain') })
    await planned({ ...given, stored: undrained('patched'), abort: true })
  })
})
