import { KINDS } from '../../src/workloads/kinds/index.ts'
import { expect, test } from 'vitest'
import type { PodState, RunEvent, RunResult } from '../../src/engine/events.ts'
import { NotOnRecordError, PlanChangedError, RunInterruptedError, SluiceClosedError } from '../../src/library/errors.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { ReportRequest } from '../../src/library/request/parse-report.ts'
import { parseUpgrade } from '../../src/library/request/parse-upgrade.ts'
import { RequestError } from '../../src/library/request/request-error.ts'
import type { Run } from '../../src/library/run.ts'
import { type LibraryBed, NOTHING, openLibraryBed, REQUEST } from './library-bed.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import { openStage } from './stage.ts'

/* The library, with everything that it opens counted. */

/** Reads the events of a run as they come. */
function follow({ events }: Run): RunEvent[] {
  const seen: RunEvent[] = []
  void (async () => {
    for await (const event of events) seen.push(event)
  })()
  return seen
}

interface Settled {
  outcome?: RunResult['outcome']
  error?: unknown
}

async function settled({ stage }: LibraryBed, run: Run): Promise<Settled> {
  return stage.ask(
    run.result.then(
      ({ outcome }) => ({ outcome }),
      (error: unknown) => ({ error }),
    ),
  )
}

/** Closes the library, and waits until nothing is open any more. */
async function closed({ stage, sluice, open }: LibraryBed): Promise<void> {
  await stage.ask(sluice.close())
  // A load balancer takes its time to answer.
  await stage.until(() => open.asked === 0)
  expect(open).toEqual(NOTHING)
}

const effects = ({ stage }: LibraryBed): string[] =>
  stage.history.flatMap((entry) => (entry.type === 'effect' ? [entry.effect as string] : []))

test('plan, then upgrade: each pod is drained and restored once, and nothing is left open', async () => {
  const bed = await openLibraryBed()
  const { stage, sluice, writes } = bed
  const plan = await stage.ask(sluice.plan(REQUEST))
  expect(plan).toMatchObject({ request: REQUEST, holders: [], refusals: [], window: 1 })
  expect(writes).toEqual([])
  // A plan may have been kept as JSON.
  const run = sluice.upgrade(JSON.parse(JSON.stringify(plan)) as typeof plan)
  const events = follow(run)
  expect(await settled(bed, run)).toEqual({ outcome: 'done' })
  expect(events.at(-1)).toMatchObject({ type: 'finished' })
  expect(effects(bed).toSorted()).toEqual([...Array(3).fill('drain'), ...Array(3).fill('restore')])
  await closed(bed)
})

test('a plan that is not of now is refused before anything is touched, and the error says what differs', async () => {
  const bed = await openLibraryBed()
  const { stage, sluice, writes } = bed
  const plan = await stage.ask(sluice.plan(REQUEST))
  const pod = stage.world.pods()[0]!
  await stage.ask(stage.client.delete(`/api/v1/namespaces/${NAMESPACE}/pods/${pod.metadata.name}`))
  const before = writes.length
  await stage.until(() => {
    const pods = stage.world.pods()
    return pods.length === 3 && pods.every(({ metadata }) => metadata.uid !== pod.metadata.uid)
  })
  const run = sluice.upgrade(plan)
  const { error } = await settled(bed, run)
  expect(error).toBeInstanceOf(PlanChangedError)
  const { changes } = error as PlanChangedError
  expect(
    changes.map((change) => (change.what === 'pod' ? [change.uid, change.planned === undefined] : change.what)),
  ).toContainEqual([pod.metadata.uid, false])
  expect([writes.slice(before), effects(bed)]).toEqual([[], []])
  await closed(bed)
})

test('control: the same plan with another reason in its words is of now', async () => {
  const bed = await openLibraryBed({ pods: 1 })
  const { stage, sluice } = bed
  const plan = await stage.ask(sluice.plan(REQUEST))
  const run = sluice.upgrade({
    ...plan,
    warnings: [{ code: 'error', said: 'read by a person' }],
    pods: plan.pods.map((pod) => ({ ...pod, reason: { code: 'error', said: 'x' } })) as never,
  })
  expect(await settled(bed, run)).toEqual({ outcome: 'done' })
  await closed(bed)
})

/** Starts a run of a plan that waits for the Lease of a killed owner. `change` changes the cluster meanwhile. */
async function waitedForLease(bed: LibraryBed, change: () => Promise<void>): Promise<Settled> {
  const { stage, sluice } = bed
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`
  const metadata = { name: `sluice-statefulset-${NAME}` }
  const spec = { holderIdentity: 'killed_1', leaseTransitions: 1, leaseDurationSeconds: 15 }
  await stage.ask(stage.client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }))
  const plan = await stage.ask(sluice.plan(REQUEST))
  expect(plan.holders).toEqual([{ lease: metadata.name, holder: 'killed_1' }])
  const run = sluice.upgrade(plan)
  const events = follow(run)
  await stage.until(() => events.some(({ type }) => type === 'leaseWaiting'))
  await change()
  return settled(bed, run)
}

test('a plan is compared once more when the Lease is had', async () => {
  const bed = await openLibraryBed()
  const { stage, writes } = bed
  const { name, uid } = stage.world.pods()[0]!.metadata
  const { error } = await waitedForLease(
    bed,
    async () => void (await stage.ask(stage.client.delete(`/api/v1/namespaces/${NAMESPACE}/pods/${name}`))),
  )
  expect((error as PlanChangedError).changes).toContainEqual(expect.objectContaining({ what: 'pod', uid }))
  // The Lease was taken, and given back.
  expect([writes.map((write) => write.includes('/leases')), effects(bed)]).toEqual([[true, true], []])
  await closed(bed)
})

test('control: a plan that waits for the Lease is carried out where all is as it was', async () => {
  const bed = await openLibraryBed()
  expect(await waitedForLease(bed, async () => {})).toEqual({ outcome: 'done' })
  await closed(bed)
})

test('a request that cannot be understood touches nothing, and names its fields', async () => {
  const bed = await openLibraryBed({ pods: 1 })
  const { stage, sluice, writes } = bed
  const wrong = { ...REQUEST, images: { app: 'a b' }, settings: { readyForMs: -1 } }
  const error = await stage.ask(sluice.plan(wrong).catch((one: unknown) => one))
  expect((error as RequestError).issues.map(({ field }) => field)).toEqual(['settings.readyForMs'])
  const run = sluice.upgrade({ ...REQUEST, images: { app: 'a b' } })
  expect((await settled(bed, run)).error).toMatchObject({ name: 'RequestError', issues: [{ field: 'images.app' }] })
  await expect(run.plan).rejects.toBeInstanceOf(RequestError)
  expect(writes).toEqual([])
  await closed(bed)
})

test('a signal at each call of the preparation ends it at once with its reason; nothing was touched, and nothing stays open', async () => {
  const reason = new Error('no time for it')
  const { calls } = await preparedWithin()
  expect(calls).toBeGreaterThan(10)
  for (let at = 0; at < calls; at += 1) {
    const bed = await openLibraryBed({ pods: 2 })
    const { stage, sluice, open, writes, onCall } = bed
    const controller = new AbortController()
    onCall((index) => index === at && controller.abort(reason))
    const run = sluice.upgrade(REQUEST, { signal: controller.signal })
    const events = follow(run)
    expect(await settled(bed, run), `call ${at}`).toEqual({ error: reason })
    await expect(run.plan).rejects.toBe(reason)
    // A load balancer takes its time to answer. The run waits for nothing else.
    await stage.until(() => open.asked === 0)
    expect(open, `call ${at}`).toEqual({ ...NOTHING, adapters: 1 })
    expect([writes, events.some(({ type }) => type === 'started')], `call ${at}`).toEqual([[], false])
    await closed(bed)
  }
})

/** Returns the number of calls of a run until it is planned. */
async function preparedWithin(): Promise<{ calls: number }> {
  const bed = await openLibraryBed({ pods: 2 })
  let calls = 0
  bed.onCall(() => void (calls += 1))
  const plan = await bed.stage.ask(bed.sluice.plan(REQUEST))
  await closed(bed)
  // A plan asks each node for its images, and a run does not.
  return { calls: calls - new Set(plan.pods.map(({ node }) => node)).size }
}

test('a plan ends with its signal, and a signal that has fired already begins nothing', async () => {
  const bed = await openLibraryBed({ pods: 1 })
  const { stage, sluice, open, onCall } = bed
  const controller = new AbortController()
  onCall((index) => index === 3 && controller.abort())
  const error = await stage.ask(sluice.plan(REQUEST, { signal: controller.signal }).catch((one: unknown) => one))
  expect(error).toBe(controller.signal.reason)
  await stage.until(() => open.asked === 0)
  expect(open).toEqual({ ...NOTHING, adapters: 1 })
  let calls = 0
  onCall(() => void (calls += 1))
  const { signal } = controller
  await expect(sluice.plan(REQUEST, { signal })).rejects.toBe(signal.reason)
  expect(await settled(bed, sluice.upgrade(REQUEST, { signal }))).toEqual({ error: signal.reason })
  await expect(sluice.status({}, { signal })).rejects.toBe(signal.reason)
  await expect(sluice.pause(REQUEST, { signal })).rejects.toBe(signal.reason)
  await expect(sluice.abort(REQUEST, { signal })).rejects.toBe(signal.reason)
  expect(calls).toBe(0)
  await closed(bed)
})

const PHASES: PodState[] = [
  'queued',
  'checking',
  'draining',
  'emptying',
  'patching',
  'restarting',
  'warming',
  'restoring',
  'verifying',
]

test.each(PHASES)('a signal while a pod is %s interrupts the run in order, and nothing stays open', async (state) => {
  const bed = await openLibraryBed()
  const { stage, sluice, open } = bed
  const controller = new AbortController()
  const run = sluice.upgrade(REQUEST, { signal: controller.signal, graceMs: 60_000 })
  const events = follow(run)
  await stage.until(() => events.some((event) => event.type === 'podState' && event.to === state))
  controller.abort()
  expect(await settled(bed, run)).toEqual({ outcome: 'interrupted' })
  expect(events.some((event) => event.type === 'interrupting' && event.graceMs === 60_000)).toBe(true)
  await stage.until(() => open.watches + open.calls + open.asked === 0)
  expect(open).toEqual({ ...NOTHING, adapters: 1 })
  const [drains, restores] = ['drain', 'restore'].map((what) => effects(bed).filter((one) => one === what).length)
  expect([drains, (drains ?? 0) <= 1]).toEqual([restores, true])
  await closed(bed)
})

test('an interrupt of the handle while the run is being prepared is an error of its own', async () => {
  const bed = await openLibraryBed({ pods: 1 })
  const { sluice, onCall } = bed
  const run = sluice.upgrade(REQUEST)
  onCall((index) => index === 2 && run.interrupt())
  expect((await settled(bed, run)).error).toBeInstanceOf(RunInterruptedError)
  await closed(bed)
})

test('close ends what is being planned, interrupts what runs, and begins nothing after that', async () => {
  const bed = await openLibraryBed()
  const { stage, sluice, onCall } = bed
  const run = sluice.upgrade(REQUEST, { graceMs: 60_000 })
  const events = follow(run)
  await stage.until(() => events.some((event) => event.type === 'podState' && event.to === 'restarting'))
  const planning = sluice.plan(REQUEST).catch((error: unknown) => error)
  await closed(bed)
  expect(await run.result).toMatchObject({ outcome: 'interrupted' })
  expect(await planning).toBeInstanceOf(SluiceClosedError)
  let calls = 0
  onCall(() => void (calls += 1))
  await expect(sluice.status()).rejects.toBeInstanceOf(SluiceClosedError)
  await expect(sluice.upgrade(REQUEST).result).rejects.toBeInstanceOf(SluiceClosedError)
  expect(calls).toBe(0)
})

test('pause, resume and abort of the handle; each consumer of its events gets all of them, also one that comes late', async () => {
  const bed = await openLibraryBed()
  const { stage, sluice } = bed
  const run = sluice.upgrade(REQUEST)
  const events = follow(run)
  const pausing = run.pause()
  await stage.until(() => events.some(({ type }) => type === 'paused'))
  await stage.ask(pausing)
  expect(await stage.ask(sluice.status())).toMatchObject({
    workloads: [{ lease: { order: { order: 'pause', by: 'ann@desk' } } }],
  })
  expect(effects(bed)).toEqual([])
  await stage.ask(run.resume())
  await stage.until(() => events.some((event) => event.type === 'podState' && event.to === 'done'))
  await stage.ask(run.abort())
  expect(await settled(bed, run)).toEqual({ outcome: 'aborted' })
  const late = follow(run)
  await stage.until(() => late.length > 0 && late.at(-1)!.type === 'finished')
  expect(late).toEqual(events)
  await expect(run.pause()).rejects.toMatchObject({ name: 'RunOverError' })
  const { report } = await stage.ask(sluice.report({ workload: REQUEST.workload }))
  expect(report.outcome).toBe('aborted')
  await closed(bed)
})

test('a run that is not paused cannot be resumed, and goes on', async () => {
  const bed = await openLibraryBed({ pods: 1 })
  const { stage, sluice, another } = bed
  const other = another({ identity: 'other', by: 'bob@desk' })
  const run = sluice.upgrade(REQUEST)
  const events = follow(run)
  await stage.until(() => events.some(({ type }) => type === 'started'))
  const about = { workload: REQUEST.workload }
  const error = await stage.ask(other.resume(about).catch((one: unknown) => one))
  expect(error).toMatchObject({ name: 'RunError', kind: 'preflight', reason: { code: 'not-paused', asked: REQUEST.workload } })
  await stage.ask(other.pause(about))
  expect(await stage.ask(other.resume(about)), 'control').toMatchObject({ outcome: 'ordered', by: 'bob@desk' })
  expect(await settled(bed, run)).toEqual({ outcome: 'done' })
  await stage.ask(other.close())
  await closed(bed)
})

test('orders by workload reach a run of another sluice; an abort waits for it', async () => {
  const bed = await openLibraryBed()
  const { stage, sluice, another } = bed
  const other = another({ identity: 'other', by: 'bob@desk' })
  const run = sluice.upgrade(REQUEST)
  const events = follow(run)
  await stage.until(() => events.some(({ type }) => type === 'started'))
  const about = { workload: REQUEST.workload }
  expect(await stage.ask(other.pause(about))).toMatchObject({ outcome: 'ordered', by: 'bob@desk', asked: REQUEST.workload })
  await stage.until(() => events.some(({ type }) => type === 'paused'))
  expect(await stage.ask(other.resume(about))).toMatchObject({ outcome: 'ordered', by: 'bob@desk' })
  const waitedFor: string[] = []
  const abort = await stage.ask(other.abort(about, { onWaiting: (_ordered, holder) => void waitedFor.push(holder) }))
  expect(abort).toMatchObject({ outcome: 'aborted', templatesLeft: [] })
  expect(waitedFor.length).toBeGreaterThan(0)
  expect(await settled(bed, run)).toEqual({ outcome: 'aborted' })
  expect(await stage.ask(other.pause(about))).toMatchObject({ outcome: 'none' })
  await stage.ask(other.close())
  await closed(bed)
})

test('an order by workload counts for a run of the same sluice as it resolves, with no renewal of the Lease in between', async () => {
  const bed = await openLibraryBed({ pods: 1 })
  const { stage, sluice } = bed
  const about = { workload: REQUEST.workload }
  const run = sluice.upgrade(REQUEST)
  const events = follow(run)
  const ordered = (): string[] => events.flatMap((event) => (event.type === 'ordered' ? [event.order] : []))
  await stage.until(() => events.some(({ type }) => type === 'started'))
  await stage.ask(sluice.pause(about))
  expect(ordered()).toEqual(['pause'])
  await stage.ask(sluice.resume(about))
  expect(ordered()).toEqual(['pause', 'resume'])
  expect(await settled(bed, run)).toEqual({ outcome: 'done' })
  await closed(bed)
})

test('an abort that waits for another process tells which workloads it leaves on different images', async () => {
  const bed = await openLibraryBed()
  const { stage, sluice, another } = bed
  const other = another({ identity: 'other', by: 'bob@desk' })
  const run = sluice.upgrade(REQUEST)
  const events = follow(run)
  await stage.until(() => events.some((event) => event.type === 'podState' && event.to === 'done'))
  const abort = await stage.ask(other.abort({ workload: REQUEST.workload }))
  const { mixed } = await stage.ask(run.result)
  expect(mixed).toEqual([{ workload: REQUEST.workload, upgraded: expect.any(Number), pods: 3 }])
  expect(abort).toMatchObject({ outcome: 'aborted', templatesLeft: [], mixed })
  await stage.ask(other.close())
  await closed(bed)
})

test('an abort of what no living process has is left, and its end is a run of this process; an undo takes an upgrade back', async () => {
  const bed = await openLibraryBed()
  const { stage, sluice, another } = bed
  const about = { workload: REQUEST.workload }
  const other = another({ identity: 'other' })
  const first = other.upgrade(REQUEST)
  const events = follow(first)
  await stage.until(() => events.some((event) => event.type === 'podState' && event.to === 'restarting'))
  first.interrupt(0)
  await settled(bed, first)
  await stage.ask(other.close())
  const abort = await stage.ask(sluice.abort(about))
  if (abort.outcome !== 'abandoned') throw new Error(abort.outcome)
  expect(await settled(bed, abort.end())).toEqual({ outcome: 'aborted' })

  expect(await settled(bed, sluice.upgrade(REQUEST))).toEqual({ outcome: 'done' })
  const plan = await stage.ask(sluice.plan({ ...about, undo: {} }))
  expect(plan.undoes).toMatchObject({ images: [{ container: 'app', image: imageOf('v2') }] })
  expect(await settled(bed, sluice.undo(plan))).toEqual({ outcome: 'done' })
  const runs = await stage.ask(sluice.runs())
  expect(runs.map(({ undoes }) => undoes !== undefined)).toEqual([true, false, false])
  await closed(bed)
})

test('an undo of the plan of an upgrade touches nothing, and is refused by its field', async () => {
  const bed = await openLibraryBed({ pods: 1 })
  const { stage, sluice, writes } = bed
  const plan = await stage.ask(sluice.plan(REQUEST))
  let calls = 0
  bed.onCall(() => void (calls += 1))
  const run = sluice.undo(plan)
  const { error } = await settled(bed, run)
  expect(error).toBeInstanceOf(RequestError)
  expect((error as RequestError).issues).toEqual([
    {
      field: 'undo',
      message: `the plan is one of an upgrade: statefulset/${NAME} to app=${imageOf('v2')}`,
      hint: "pass it to 'upgrade', or plan with 'undo: {}'",
    },
  ])
  await expect(run.plan).rejects.toBe(error)
  expect([calls, writes]).toEqual([0, []])
  await closed(bed)
})

test('control: an upgrade of the plan of an undo carries out that plan', async () => {
  const bed = await openLibraryBed({ pods: 1 })
  const { stage, sluice } = bed
  expect(await settled(bed, sluice.upgrade(REQUEST))).toEqual({ outcome: 'done' })
  const plan = await stage.ask(sluice.plan({ workload: REQUEST.workload, undo: {} }))
  expect(await settled(bed, sluice.upgrade(plan))).toEqual({ outcome: 'done' })
  expect(plan.undoes).toBeDefined()
  const [report] = await stage.ask(sluice.runs())
  expect(report?.undoes).toBe(plan.undoes?.run)
  await closed(bed)
})

test('the workloads of a plan are a request', async () => {
  const bed = await openLibraryBed({ pods: 1 })
  const { stage, another } = bed
  // The handle has another namespace. The namespace of the workloads overrides it.
  const sluice = another({ cluster: { ...bed.sluice.cluster, namespace: 'another' } })
  const { workloads: workload } = await stage.ask(sluice.plan(REQUEST))
  expect(await stage.ask(sluice.status({ workload }))).toMatchObject({ workloads: [{ workload: { name: NAME } }] })
  expect(await settled(bed, sluice.upgrade({ workload, images: REQUEST.images }))).toEqual({ outcome: 'done' })
  expect((await stage.ask(sluice.report({ workload: workload[0]! }))).report.outcome).toBe('done')
  const error = await stage.ask(sluice.status({ workload, namespace: 'other' }).catch((one: unknown) => one))
  expect((error as RequestError).message).toMatch(new RegExp(`^workload\\[0\\]\\.namespace: "${NAMESPACE}" .* "other"`))
  await stage.ask(sluice.close())
  await closed(bed)
})

test('a run that is not on record, and one whose record cannot be read, are told apart by the reason', async () => {
  const bed = await openLibraryBed({ pods: 1 })
  const { stage, sluice } = bed
  const failed = (request: ReportRequest) => stage.ask(sluice.report(request).catch((error: unknown) => error))
  const none = await failed({ workload: REQUEST.workload })
  expect(none).toBeInstanceOf(NotOnRecordError)
  expect(none).toMatchObject({ reason: { code: 'nothing-on-record-of', unreadable: [] } })
  expect(await settled(bed, sluice.upgrade(REQUEST))).toEqual({ outcome: 'done' })
  const run = (await stage.ask(sluice.runs()))[0]!.run
  const ledger = `/api/v1/namespaces/${NAMESPACE}/configmaps/sluice-run-${run}`
  await stage.ask(stage.client.patch(ledger, [{ op: 'replace', path: '/data/header', value: '{' }]))
  const unread = await failed({ run })
  expect(unread).toBeInstanceOf(NotOnRecordError)
  expect(unread).toMatchObject({ reason: { code: 'run-unreadable', run, problem: { code: expect.any(String) } } })
  expect((unread as Error).message).toContain(`the ledger of run ${run} cannot be read`)
  expect(await failed({ workload: REQUEST.workload })).toMatchObject({
    reason: { code: 'nothing-on-record-of', unreadable: [run] },
  })
  await closed(bed)
})

test('two runs of one workload at once: one has it, and the other hears who', async () => {
  const bed = await openLibraryBed()
  const { sluice } = bed
  const runs = [sluice.upgrade(REQUEST), sluice.upgrade(REQUEST)]
  const outcomes = await Promise.all(runs.map((run) => settled(bed, run)))
  expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['conflict', 'done'])
  expect(effects(bed).length).toBe(6)
  await closed(bed)
})

test('each warning of a run is told to onWarning, and is among its events', async () => {
  const bed = await openLibraryBed()
  const { stage, another } = bed
  const warnings: string[] = []
  const other = another({ onWarning: ({ reason }) => void warnings.push(reason.code) })
  const run = other.upgrade(REQUEST)
  const events = follow(run)
  await stage.until(() => events.some(({ type }) => type === 'started'))
  stage.stopApiServer(6_000)
  expect(await settled(bed, run)).toEqual({ outcome: 'done' })
  expect(warnings.length).toBeGreaterThan(0)
  expect(warnings).toEqual(events.flatMap((event) => (event.type === 'warning' ? [event.reason.code] : [])))
  await stage.ask(other.close())
  await closed(bed)
})

test('the signal of a preparation ends nothing once the run is prepared', async () => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const controller = new AbortController()
  const actor = stage.start({ images: [{ container: 'app', image: imageOf('v2') }] }, async (ports) => {
    const request = parseUpgrade(REQUEST, { namespace: NAMESPACE, kinds: KINDS, settings: PLAIN_SETTINGS })
    const prepared = await prepareRun(request, ports, controller.signal)
    controller.abort()
    return prepared
  })
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject({ outcome: 'done' })
})

test('runs that share their feeds: a signal that ends one of them while it is prepared leaves the others as they are', async () => {
  for (const at of [4, 6, 8, 10, 12]) {
    const bed = await openLibraryBed({ pods: 2 })
    const { stage, another, onCall } = bed
    const shared = another({ watch: 'namespace' })
    const controller = new AbortController()
    onCall((index) => index === at && controller.abort())
    const ended = shared.upgrade(REQUEST, { signal: controller.signal })
    const other = shared.upgrade(REQUEST)
    expect(await settled(bed, ended), `call ${at}`).toEqual({ error: controller.signal.reason })
    expect(await settled(bed, other), `call ${at}`).toEqual({ outcome: 'done' })
    await stage.ask(shared.close())
    await closed(bed)
  }
})
