import { DAEMON_SET } from '../../src/workloads/kinds/daemon-set.ts'
import { DEPLOYMENT } from '../../src/workloads/kinds/deployment.ts'
import { POD } from '../../src/workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { reasonWords } from '../../src/report/words/words.ts'
import { expect, test } from 'vitest'
import { type Adapter, AdapterError } from '../../adapters/contract.ts'
import { withObservation } from '../../src/observation/testing/with-observation.ts'
import { prepareAbort } from '../../src/engine/orders/abort.ts'
import { giveOrder, liftPause } from '../../src/engine/orders/give-order.ts'
import { listLedgers } from '../../src/engine/ledgers/list-ledgers.ts'
import { forOpenRuns, readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import type { OrderedAbort } from '../../src/engine/orders/order-abort.ts'
import { orderAbort } from '../../src/engine/orders/order-abort.ts'
import { leaseName } from '../../src/engine/leases/lease-name.ts'
import { leasePath } from '../../src/leases/lease.ts'
import { ORDER_ANNOTATION, orderFor, readOrder, writeOrder } from '../../src/engine/orders/order.ts'
import { RunError } from '../../src/engine/errors.ts'
import { resolvePod } from '../../src/engine/resolving/resolve.ts'
import type { RunRequest } from '../../src/engine/run.ts'
import { prepareRun } from '../../src/engine/run.ts'
import { hasChanges } from '../../src/plan/has-changes.ts'
import type { LedgerHeader } from '../../src/journal/ledger.ts'
import type { KubeClient, PatchOperation } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, isReady, openStage } from './stage.ts'

/* Orders, and other commands than a single upgrade. */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }
const select = { refs: [{ ...STATEFUL_SET, name: NAME } as const] }
/** A request for tests that prepare their command themselves. */
const V2_REQUEST = {
  ...V2,
  namespace: NAMESPACE,
  select,
  settings: PLAIN_SETTINGS,
  acceptTemplateDrift: false,
  allowUnbalanced: false,
}

async function headers({ ask, client }: Stage): Promise<LedgerHeader[]> {
  return (await ask(listLedgers(client, NAMESPACE))).flatMap((found) => (found.kind === 'read' ? [found.ledger.header] : []))
}

function templateImage({ world: { server } }: Stage): string {
  const found = server.store.list('statefulsets.apps', NAMESPACE)[0]! as unknown as {
    spec: { template: { spec: { containers: { name: string; image: string }[] } } }
  }
  return found.spec.template.spec.containers.find(({ name }) => name === 'app')!.image
}

const restores = ({ history }: Stage) => history.filter((entry) => entry.type === 'effect' && entry.effect === 'restore')

test('a pod that an earlier process has patched is proven, also by a command that names no image', async () => {
  const stage = await openStage(plainScene({ preStopMs: 12_000, graceSeconds: 30 }))
  const first = stage.start(V2)
  await stage.until(() => isIn('restarting')(first))
  first.interrupt()
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({ outcome: 'interrupted' })
  // The template has the image already. Only the pods still need it.
  const second = stage.start()
  const serves = () =>
    stage.history.find((entry) => entry.type === 'container' && entry.what === 'serving' && entry.image === V2.images[0]!.image)
  await stage.until(() => second.end !== undefined && serves() !== undefined)
  expect(second.end).toMatchObject({ outcome: 'done' })
  expect(restores(stage).map(({ at }) => at > serves()!.at)).toEqual([true])
})

/** Kills an upgrade of two pods after its first pod. */
async function halfDone(): Promise<Stage> {
  const stage = await openStage(plainScene({ pods: 2 }))
  const first = stage.start(V2)
  await stage.until(() => isIn('done')(first))
  first.host.kill()
  return stage
}

/** Starts an abort. `onWrite` is called before each write. */
async function abort(
  stage: Stage,
  onWrite: (path: string, operations: readonly PatchOperation[]) => void = () => {},
): Promise<Actor> {
  const { client } = stage
  const open = await stage.ask(readOpenRuns(client, { namespace: NAMESPACE, select }))
  await stage.ask(giveOrder(open, { order: 'abort', by: 'ann@desk' }, { client, namespace: NAMESPACE }))
  const runs = open.runs.map(({ run }) => run)
  return stage.start({}, (ports) => {
    const patch: KubeClient['patch'] = (path, operations, options) => {
      onWrite(path, operations)
      return ports.client.patch(path, operations, options)
    }
    const order = { namespace: NAMESPACE, settings: PLAIN_SETTINGS, open, runs, by: 'ann@desk', seen: new Map() }
    return prepareAbort(order, { ...ports, client: { ...ports.client, patch } })
  })
}

test('an abort that is interrupted before the template is back is not over: its run stays open, and the next one ends it', async () => {
  const stage = await halfDone()
  const interrupted = await abort(stage)
  await stage.until(() => interrupted.events.some(({ type }) => type === 'started'))
  interrupted.interrupt()
  await stage.until(() => interrupted.end !== undefined)
  expect(interrupted.end).toMatchObject({ outcome: 'interrupted' })
  expect((await headers(stage)).map(({ finishedAt }) => finishedAt)).toEqual([undefined])
  const again = await abort(stage)
  await stage.until(() => again.end !== undefined)
  expect(again.end).toMatchObject({ outcome: 'aborted' })
  expect(again.events.findLast(({ type }) => type === 'finished')).toMatchObject({
    result: { mixed: [{ workload: `statefulset/${NAME}`, upgraded: 1, pods: 2 }] },
  })
  expect([templateImage(stage), (await headers(stage))[0]!.aborted]).toEqual([
    imageOf('v1'),
    {
      by: 'ann@desk',
      left: [],
      mixed: [{ workload: `statefulset/${NAME}`, upgraded: 1, pods: 2 }],
    },
  ])
})

// The next abort finds the open run and the order on its Lease.
test('an abort whose record cannot be closed is not over: its run stays open, and the next one ends it', async () => {
  const stage = await halfDone()
  const first = await abort(stage)
  await stage.until(() => first.events.some(({ type }) => type === 'started'))
  stage.world.server.authorize((_by, { verb, resource }) => verb !== 'patch' || resource !== 'configmaps')
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({
    outcome: 'failed',
    reason: expect.stringMatching(/^this process has not ended the run: the ledger could not be closed: .* 403 /),
  })
  expect([templateImage(stage), (await headers(stage)).map(({ finishedAt }) => finishedAt)]).toEqual([imageOf('v1'), [undefined]])
  stage.world.server.authorize(() => true)
  const again = await abort(stage)
  await stage.until(() => again.end !== undefined)
  expect(again.end).toMatchObject({ outcome: 'aborted' })
})

// An abort has ended its own run even where another run stays open.
test('an abort that cannot remove the oldest record is over all the same, and warns of it', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  // Ten runs are kept. These runs find everything done.
  for (let index = 0; index < 10; index++) {
    const run = stage.start({ images: [{ container: 'app', image: imageOf('v1') }] })
    await stage.until(() => run.end !== undefined)
    expect(run.end).toMatchObject({ outcome: 'done' })
  }
  const last = stage.start(V2)
  await stage.until(() => isIn('emptying')(last))
  last.host.kill()
  const actor = await abort(stage)
  await stage.until(() => actor.events.some(({ type }) => type === 'started'))
  stage.world.server.authorize((_by, { verb, resource }) => verb !== 'delete' || resource !== 'configmaps')
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject({ outcome: 'aborted' })
  expect(actor.events.findLast(({ type }) => type === 'warning')).toMatchObject({
    reason: { code: 'ledgers-not-removed', because: { code: 'api-error', status: 403 } },
  })
  expect((await headers(stage)).filter(({ finishedAt }) => finishedAt === undefined)).toEqual([])
})

test('an abort that gets no answer to the end of its record looks whether it stands there', async () => {
  const stage = await halfDone()
  let isEnding = false
  const actor = await abort(stage, (_path, operations) => {
    isEnding ||= JSON.stringify(operations).includes('finishedAt')
  })
  await stage.until(() => isEnding)
  actor.host.stop()
  await stage.pass(40_000)
  actor.host.continue()
  await stage.until(() => actor.end !== undefined)
  expect(actor.events.findLast(({ type }) => type === 'warning')).toMatchObject({
    reason: { code: 'ledger-not-closed', because: { code: 'api-error', kind: 'ambiguous' } },
  })
  expect(actor.end).toMatchObject({ outcome: 'aborted' })
  expect((await headers(stage)).map(({ aborted }) => aborted?.by)).toEqual(['ann@desk'])
})

// The abort may put the template back and end before the plan asks for the Lease, so the plan's reads are stale.
test('whose watch tells nothing, and who plans while another owner acts, looks anew once it has the Lease', async () => {
  const stage = await halfDone()
  const aborting = await abort(stage)
  await stage.until(() => aborting.events.some((event) => event.type === 'leaseWaiting' && event.remainingMs <= 1_000))
  let hears = false
  let goOn = (): void => {}
  const isAborted = new Promise<void>((resolve) => (goOn = resolve))
  const second = stage.start(V2, async (ports) => {
    const watch: typeof ports.client.watch = (path, options) =>
      ports.client.watch(path, { ...options, onLine: (line) => void (hears && options.onLine(line)) })
    const prepared = await prepareRun(V2_REQUEST, withObservation({ ...ports, client: { ...ports.client, watch } }))
    return { ...prepared, execute: () => isAborted.then(() => prepared.execute()) }
  })
  await stage.until(() => second.events.some(({ type }) => type === 'planned'))
  expect(templateImage(stage)).toBe(imageOf('v2'))
  await stage.until(() => aborting.end !== undefined)
  expect(templateImage(stage)).toBe(imageOf('v1'))
  hears = true
  goOn()
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'done' })
  expect(templateImage(stage)).toBe(imageOf('v2'))
})

// The run must end without the record.
test('the right to write the record is taken away while a pod is gone: the run ends, and the next one settles what it left', async () => {
  const stage = await openStage(plainScene({ pods: 2, workload: 'DaemonSet', hostNetwork: true }))
  const request = { ...V2, select: { refs: [{ ...DAEMON_SET, name: NAME } as const] } }
  const { server, cluster } = stage.world
  const first = stage.start(request)
  await stage.until(() => isIn('emptying')(first))
  server.authorize((_by, { verb, resource }) => verb !== 'patch' || resource !== 'configmaps')
  const drained = first.events.flatMap((event) => (event.type === 'podState' && event.to === 'emptying' ? [event.pod] : []))
  cluster.deletePod(NAMESPACE, drained[0]!, { force: true })
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({
    outcome: 'needsOperator',
    pods: expect.arrayContaining([
      expect.objectContaining({ reason: expect.stringContaining('the restore intent could not be written') }),
    ]),
  })
  expect(restores(stage)).toEqual([])
  server.authorize(() => true)
  const second = stage.start(request)
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'done' })
  expect(restores(stage)).toHaveLength(2)
})

// A restored backup has the same effect.
test('a pod that is made anew from the manifest of one half done is drained by nobody: it serves, and is what comes in its place', async () => {
  const stage = await openStage(plainScene({ workload: 'Pod', hostNetwork: true, preStopMs: 12_000, graceSeconds: 30 }))
  const request = { ...V2, select: { refs: [{ ...POD, name: `${NAME}-0` } as const] } }
  const { server, cluster } = stage.world
  const first = stage.start(request)
  await stage.until(() => isIn('restarting')(first))
  first.host.kill()
  const { metadata, spec } = stage.world.pods()[0]!
  const { name, labels = {}, annotations = {} } = metadata
  expect(annotations).toHaveProperty(['sluice.dev/journal'])
  cluster.deletePod(NAMESPACE, name, { force: true })
  await stage.pass(1_000)
  const copy = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: NAMESPACE, labels, annotations }, spec }
  server.store.create('pods', copy, 'operator')
  const second = stage.start(request)
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'done' })
  expect(restores(stage)).toHaveLength(1)
})

/** Makes the API server refuse changes of a resource for `seconds`, as under load. */
function throttle({ world }: Stage, resource: 'configmaps' | 'statefulsets', seconds: number, throttled: () => void): void {
  const { arrive } = world
  world.arrive = (request, by, leftAt) => {
    if (request.method !== 'PATCH' || !request.path.includes(`/${resource}/`)) return arrive(request, by, leftAt)
    world.arrive = arrive
    throttled()
    return { status: 429, headers: { 'retry-after': String(seconds) }, text: '{"kind":"Status","reason":"TooManyRequests"}' }
  }
}

test('an abort that reaches a run when its end is decided finds it ended, and the run says the same', async () => {
  const stage = await openStage(plainScene())
  const { client } = stage
  const process = stage.start(V2)
  await stage.until(() => isIn('closing')(process))
  let isThrottled = false
  throttle(stage, 'configmaps', 9, () => (isThrottled = true))
  await stage.until(() => isThrottled)
  const open = await stage.ask(readOpenRuns(client, { namespace: NAMESPACE, select }))
  await stage.ask(giveOrder(open, { order: 'abort', by: 'ann@desk' }, { client, namespace: NAMESPACE }))
  await stage.until(() => process.end !== undefined)
  const [header] = await headers(stage)
  expect([header!.aborted, header!.finishedAt !== undefined, templateImage(stage)]).toEqual([undefined, true, imageOf('v2')])
  expect(process.end).toMatchObject({ outcome: 'done' })
})

test('an abort ends no run that was begun after it was ordered', async () => {
  const stage = await halfDone()
  const { client } = stage
  const read = () => stage.ask(readOpenRuns(client, { namespace: NAMESPACE, select }))
  const ordered = await read()
  await stage.ask(giveOrder(ordered, { order: 'abort', by: 'ann@desk' }, { client, namespace: NAMESPACE }))
  // Another request begins while the abort waits for the owner, and its process dies too.
  const other = stage.start({ images: [{ container: 'app', image: imageOf('v3') }] })
  await stage.until(() => isIn('restarting')(other))
  other.host.kill()
  const open = await read()
  expect(open.runs).toHaveLength(2)
  const runs = ordered.runs.map(({ run }) => run)
  const late = stage.start({}, (ports) =>
    prepareAbort({ namespace: NAMESPACE, settings: PLAIN_SETTINGS, open, runs, by: 'ann@desk', seen: new Map() }, ports),
  )
  await stage.until(() => late.end !== undefined)
  expect((await headers(stage)).map(({ aborted }) => aborted)).toEqual([undefined, undefined])
  expect(late.end?.reason).toMatch(/was begun after the order/)
})

test('a process that was stopped before it wrote the template does not write it when the run is over and undone', async () => {
  const stage = await openStage(plainScene())
  const stalled = stage.start(V2)
  const hasLedger = () => stage.history.some((entry) => entry.type === 'stored' && entry.resource === 'configmaps')
  await stage.until(hasLedger)
  stalled.host.stop()
  const upgrade = stage.start(V2)
  await stage.until(() => upgrade.end !== undefined)
  const undo = stage.start({ undo: {} })
  await stage.until(() => undo.end !== undefined)
  expect([upgrade.end?.outcome, undo.end?.outcome, templateImage(stage)]).toEqual(['done', 'done', imageOf('v1')])
  stalled.host.continue()
  await stage.until(() => stalled.end !== undefined)
  expect(stalled.end?.outcome).toBe('conflict')
  expect(templateImage(stage)).toBe(imageOf('v1'))
})

// The guards of the late patch hold again once the template has its former images.
test('a template patch that comes when the upgrade is undone brings nothing back', async () => {
  const stage = await openStage(plainScene())
  const { world } = stage
  const { arrive } = world
  let late: (() => number) | undefined
  world.arrive = (request, by, leftAt) => {
    if (request.method === 'PATCH' && request.path.includes('/statefulsets/')) late ??= () => arrive(request, by, leftAt).status
    return arrive(request, by, leftAt)
  }
  const upgrade = stage.start(V2)
  await stage.until(() => upgrade.end !== undefined)
  const undo = stage.start({ undo: {} })
  await stage.until(() => undo.end !== undefined)
  expect([upgrade.end?.outcome, undo.end?.outcome, templateImage(stage)]).toEqual(['done', 'done', imageOf('v1')])
  expect([late!(), templateImage(stage)]).toEqual([422, imageOf('v1')])
})

test('one that was stopped before it began its run does not begin it when that is over: nobody would end it', async () => {
  const stage = await openStage(plainScene())
  const { world } = stage
  const { arrive } = world
  let isRehearsed = false
  world.arrive = (request, by, leftAt) => {
    isRehearsed ||= request.path.includes('dryRun')
    return arrive(request, by, leftAt)
  }
  const stalled = stage.start(V2)
  await stage.until(() => isRehearsed)
  stalled.host.stop()
  const upgrade = stage.start(V2)
  await stage.until(() => upgrade.end !== undefined)
  stalled.host.continue()
  await stage.until(() => stalled.end !== undefined)
  expect([upgrade.end?.outcome, stalled.end?.outcome]).toEqual(['done', 'conflict'])
  expect((await headers(stage)).map(({ finishedAt }) => typeof finishedAt)).toEqual(['string'])
})

test('a pod was deleted in a bad release, and the one in its place runs the bad image: the way out that is told', async () => {
  const stage = await openStage(plainScene({ fixedAddresses: true }))
  const remove = (): Promise<unknown> => stage.ask(stage.client.delete(`/api/v1/namespaces/${NAMESPACE}/pods/${NAME}-0`))
  const first = stage.start({ images: [{ container: 'app', image: imageOf('bad') }] })
  await stage.until(() => isIn('restarting')(first))
  await remove()
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({ outcome: 'needsOperator' })

  const second = stage.start(V2)
  await stage.until(() => second.end !== undefined)
  expect([second.end?.outcome, templateImage(stage)]).toEqual(['needsOperator', V2.images[0]!.image])
  await remove()
  const third = stage.start(V2)
  await stage.until(() => third.end !== undefined)
  expect(third.end).toMatchObject({ outcome: 'done' })
  expect(restores(stage)).toHaveLength(1)
})

// The run names the entry to change, since no pod has the old address any more.
test('a drained pod of a Deployment comes back with another address: its entry is pointed there, which is the way out that is told', async () => {
  const stage = await openStage(plainScene({ workload: 'Deployment', pods: 2, fixedAddresses: false }))
  const { world } = stage
  const edge = world.balancers.get('edge')!
  const request = { ...V2, select: { refs: [{ ...DEPLOYMENT, name: NAME } as const] }, acceptTemplateDrift: true }
  const first = stage.start(request)
  await stage.until(() => isIn('emptying')(first))
  const gone = edge.names().find((name) => edge.state(name)!.admin === 'drain')!
  const before = new Set(world.pods().map(({ metadata }) => metadata.name))
  world.cluster.deletePod(NAMESPACE, gone)
  await stage.until(() => first.end !== undefined)
  const told = expect.stringContaining('Point the entries at the pod in its place, and leave them drained')
  expect(first.end).toMatchObject({
    outcome: 'needsOperator',
    pods: expect.arrayContaining([expect.objectContaining({ pod: gone, instructions: told })]),
  })
  const { status } = world.pods().find(({ metadata }) => !before.has(metadata.name))!
  edge.operator.set(gone, { address: (status as { podIP: string }).podIP })
  const second = stage.start(request)
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'done' })
  // The restores are those of the drained pod, of its replacement, and of the other pod.
  expect(restores(stage)).toHaveLength(3)
  expect(edge.names().map((name) => edge.state(name)!.admin)).toEqual(['ready', 'ready'])
})

test('a pod of a dead run is gone, and the one in its place runs the new image: the plan says that there is something to do', async () => {
  const stage = await openStage(plainScene({ pods: 2, fixedAddresses: true }))
  const first = stage.start(V2)
  await stage.until(() => isIn('restarting')(first))
  first.host.kill()
  const [gone = ''] = stage.history.flatMap((entry) =>
    entry.type === 'effect' && entry.effect === 'drain' ? [entry.target] : [],
  )
  await stage.pass(20_000)
  for (const index of [0, 1]) {
    await stage.ask(stage.client.delete(`/api/v1/namespaces/${NAMESPACE}/pods/${NAME}-${index}`))
    await stage.pass(60_000)
  }
  const second = stage.start(V2)
  await stage.until(() => second.end !== undefined)
  expect([second.end?.outcome, restores(stage).length, gone]).toEqual(['done', 1, expect.any(String)])
  const planned = second.events.find((event) => event.type === 'planned')!
  expect(hasChanges(planned.plan)).toBe(true)
})

test.each([
  { how: 'was not drained in time', outcome: 'deadline', image: imageOf('v2'), change: { drainDeadlineMs: 1 } },
  {
    how: 'was rolled back',
    outcome: 'rolledBack',
    image: imageOf('crash'),
    change: { onFailure: 'rollback', restartDeadlineMs: 20_000 },
  } as const,
])('a run whose last pod $how is there to be gone on with, or aborted: the pods before are of it', async (one) => {
  const stage = await openStage(plainScene())
  const request = { images: [{ container: 'app', image: one.image }], settings: { ...PLAIN_SETTINGS, ...one.change } }
  const first = stage.start(request)
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({ outcome: one.outcome })
  expect((await headers(stage)).map(({ finishedAt }) => finishedAt)).toEqual([undefined])
  const second = stage.start(request)
  await stage.until(() => second.end !== undefined)
  expect(await headers(stage)).toHaveLength(1)
})

test('a second template is refused once the first is patched: the run has failed, and was not refused with nothing touched', async () => {
  const stage = await openStage(plainScene())
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`
  const { spec } = structuredClone(stage.world.server.store.list('statefulsets.apps', NAMESPACE)[0]!) as unknown as {
    spec: object
  }
  const worker = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'worker', namespace: NAMESPACE } }
  await stage.ask(stage.client.create(path, { ...worker, spec: { ...spec, replicas: 0 } }))
  const refs = [NAME, 'worker'].map((name) => ({ ...STATEFUL_SET, name }) as const)
  const request = { ...V2, namespace: NAMESPACE, select: { refs }, settings: PLAIN_SETTINGS }
  const actor = stage.start(request, (ports) => {
    const { get, create, replace, patch, delete: remove, watch } = ports.client
    const refusing: typeof patch = async (url, ...given) => {
      if (!url.endsWith('/statefulsets/worker')) return patch(url, ...given)
      throw new KubeError('a policy forbids this image', { kind: 'definite', method: 'PATCH', path: url, status: 400 })
    }
    const client = { get, create, replace, patch: refusing, delete: remove, watch }
    return prepareRun({ ...request, acceptTemplateDrift: false, allowUnbalanced: false }, withObservation({ ...ports, client }))
  })
  await stage.until(() => actor.end !== undefined)
  expect(templateImage(stage)).toBe(imageOf('v2'))
  expect(actor.end).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('statefulset/worker') as string })
})

test('an interrupt does not wait for an API server that answers nothing any more: what sent it may kill next', async () => {
  const stage = await openStage(plainScene({ preStopMs: 60_000, graceSeconds: 90 }))
  let isSilent = false
  let answer = (): void => {}
  const answers = new Promise<void>((resolve) => (answer = resolve))
  const hanging = <Call extends (...given: never[]) => Promise<unknown>>(call: Call): Call =>
    (async (...given) => {
      if (isSilent) await answers
      return call(...given)
    }) as Call
  const run = stage.start({}, (ports) => {
    const { get, create, replace, patch, delete: remove, watch } = ports.client
    const client = { get, create, replace, patch, delete: remove }
    const silenced = Object.fromEntries(Object.entries(client).map(([name, call]) => [name, hanging(call)])) as typeof client
    return prepareRun(V2_REQUEST, withObservation({ ...ports, client: { ...silenced, watch } }))
  })
  await stage.until(() => isIn('restarting')(run))
  isSilent = true
  run.interrupt()
  // The interrupt gives five seconds of grace, two for the ledger, and two for the Lease.
  await stage.pass(9_500)
  expect(run.end).toMatchObject({ outcome: 'interrupted' })
  // A late answer must not leave the Lease with the ended process.
  isSilent = false
  answer()
  const next = stage.start(V2)
  await stage.until(() => next.end !== undefined)
  expect(next.end).toMatchObject({ outcome: 'done' })
  expect(restores(stage)).toHaveLength(1)
})

test('an abort gives back a template that was changed by the process that went on with the run, and not by the one that began it', async () => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const edit = (version: string) => {
    const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${NAME}`
    return stage.ask(
      stage.client.patch(path, [{ op: 'replace', path: '/spec/template/spec/containers/0/image', value: imageOf(version) }]),
    )
  }
  await edit('v2')
  const first = stage.start(V2)
  await stage.until(() => isIn('done')(first))
  first.host.kill()
  await edit('v1')
  const second = stage.start(V2)
  await stage.until(() => second.events.some(({ type }) => type === 'started'))
  second.host.kill()
  expect(templateImage(stage)).toBe(imageOf('v2'))
  const aborting = await abort(stage)
  await stage.until(() => aborting.end !== undefined)
  expect([aborting.end?.outcome, templateImage(stage)]).toEqual(['aborted', imageOf('v1')])
})

// An undo without work must not end as done while the release that it should take back is in place.
test('an undo after an abort that has left nothing to take back says so, and names the run before it', async () => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const release = stage.start(V2)
  await stage.until(() => release.end !== undefined)
  const [{ run: released }] = (await headers(stage)) as [LedgerHeader]
  const next = stage.start({ images: V3 })
  await stage.until(() => isIn('draining')(next))
  next.host.kill()
  const ended = await abort(stage)
  await stage.until(() => ended.end !== undefined)
  const { run } = (await headers(stage)).find(({ aborted }) => aborted !== undefined)!
  const warnings = async (undo: { run?: string }): Promise<string[]> => {
    const actor = stage.start({ undo })
    await stage.until(() => actor.end !== undefined)
    expect(actor.end).toMatchObject({ outcome: 'done' })
    return actor.events.flatMap((event) => (event.type === 'planned' ? event.plan.warnings.map((one) => reasonWords(one)) : []))
  }
  expect(await warnings({})).toEqual([
    `nothing is left to take back of run ${run}, which was aborted by ann@desk; ` +
      `sluice undo statefulset/${NAME} --run ${released} -n ${NAMESPACE} takes back the one before it`,
  ])
  expect(templateImage(stage)).toBe(imageOf('v2'))
  // Control: the named run is taken back, without a warning about another run.
  expect(await warnings({ run: released })).toEqual([])
  expect(templateImage(stage)).toBe(imageOf('v1'))
})

// The undo has one former image for each container, also where the pods had different images.
test.each(['restarting', 'restoring'] as const)(
  'a pod that an undo has patched comes home to its abort on what that gave it, from %s',
  async (state) => {
    const stage = await halfDone()
    const aborted = await abort(stage)
    await stage.until(() => aborted.end !== undefined)
    const v3 = stage.start({ images: [{ container: 'app', image: imageOf('v3') }] })
    await stage.until(() => v3.end !== undefined)
    const undo = stage.start({ undo: {} })
    await stage.until(() => isIn(state)(undo))
    undo.host.kill()
    const aborting = await abort(stage)
    await stage.until(() => aborting.end !== undefined)
    expect(aborting.end).toMatchObject({
      outcome: 'aborted',
      reason: 'by ann@desk; of the open pods, 1 on their new images, 0 left on their old ones',
    })
  },
)

// The record of such a run is not taken for the record of an older sluice without former images.
test('a run that has settled what the one before had drained for a pod that is gone can be undone', async () => {
  const stage = await openStage(plainScene({ workload: 'DaemonSet', hostNetwork: true }))
  const first = stage.start(V2)
  await stage.until(() => isIn('emptying')(first))
  first.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, stage.world.pods()[0]!.metadata.name, { force: true })
  await stage.pass(10_000)
  const second = stage.start({ images: [{ container: 'app', image: imageOf('v3') }] })
  await stage.until(() => second.end !== undefined)
  const undo = stage.start({ undo: {} })
  await stage.until(() => undo.end !== undefined)
  expect([second.end, undo.end]).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }])
})

// The window counts the pods that another run has left out.
test.each([
  { by: 'by name', select: { refs: [{ ...POD, name: `${NAME}-1` } as const] } },
  { by: 'by label', select: { labelSelector: `statefulset.kubernetes.io/pod-name=${NAME}-1` } },
])('what another run has left out fills the window of one that is about another pod, $by', async ({ select: other }) => {
  const stage = await openStage(plainScene({ pods: 3 }))
  const first = stage.start(V2)
  await stage.until(() => isIn('restarting')(first))
  first.host.kill()
  const readyDeadlineMs = 30_000
  const second = stage.start({ ...V2, select: other, settings: { ...PLAIN_SETTINGS, readyDeadlineMs } })
  await stage.until(() => second.end !== undefined)
  const reason = expect.stringContaining(`the window of 1 is full: ${NAME}-2 is left half done by another run`)
  expect(second.end).toMatchObject({ outcome: 'deadline', reason })
  expect(stage.history.filter((entry) => entry.type === 'effect').map(({ target }) => target)).toEqual([`${NAME}-2`])
  // The next run begins after that pod is home.
  const third = stage.start(V2)
  await stage.until(() => third.end !== undefined)
  const fourth = stage.start({ ...V2, images: [{ container: 'app', image: imageOf('v3') }], select: other })
  await stage.until(() => fourth.end !== undefined)
  expect([third.end, fourth.end]).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }])
})

/** Starts a run about the first pod only, while another run has left the last pod patched and out. The run has the Lease, and waits. */
async function besideTheLast(): Promise<{ stage: Stage; second: Actor }> {
  const stage = await openStage(plainScene({ pods: 2 }))
  const first = stage.start(V2)
  await stage.until(() => isIn('restarting')(first))
  first.host.kill()
  const other = { refs: [{ ...POD, name: `${NAME}-0` } as const] }
  const second = stage.start({ ...V2, select: other, settings: { ...PLAIN_SETTINGS, readyDeadlineMs: 30_000 } })
  await stage.until(() => isIn('queued')(second))
  return { stage, second }
}

test('what another run has left out fills the window also where somebody has made its record unreadable', async () => {
  const { stage, second } = await besideTheLast()
  stage.world.server.store.update(
    'pods',
    NAMESPACE,
    `${NAME}-1`,
    (now) => ({
      ...now,
      metadata: { ...now.metadata, annotations: { ...now.metadata.annotations, 'sluice.dev/journal': '{"v":1' } },
    }),
    'operator',
  )
  await stage.until(() => second.end !== undefined)
  const reason = expect.stringContaining(`the window of 1 is full: ${NAME}-1 is left half done by another run`)
  expect(second.end).toMatchObject({ outcome: 'deadline', reason })
})

test('what another run has left out fills the window also when its pod is gone, and another is ready in its place', async () => {
  const { stage, second } = await besideTheLast()
  stage.world.cluster.deletePod(NAMESPACE, `${NAME}-1`)
  await stage.until(() => second.end !== undefined)
  const reason = expect.stringContaining(`the window of 1 is full: ${NAME}-1 is left half done by another run`)
  expect(second.end).toMatchObject({ outcome: 'deadline', reason })
  const third = stage.start(V2)
  await stage.until(() => third.end !== undefined)
  expect(third.end).toMatchObject({ outcome: 'done' })
})

/** Starts a command. From `blind` on, its lists and watches of those pods fail. */
function startBlindable(stage: Stage, change: Pick<RunRequest, 'select' | 'images'>, selector: string) {
  const request = {
    ...change,
    namespace: NAMESPACE,
    settings: PLAIN_SETTINGS,
    acceptTemplateDrift: false,
    allowUnbalanced: false,
  }
  const sight = new AbortController()
  const actor = stage.start(request, (ports) => {
    const { get, create, replace, patch, delete: remove, watch } = ports.client
    const assertSeen = (path: string): void => {
      if (!sight.signal.aborted || !path.includes(`/pods?labelSelector=${encodeURIComponent(selector)}`)) return
      throw new KubeError('pods is forbidden', { kind: 'definite', method: 'GET', path, status: 403 })
    }
    const client: KubeClient = {
      async get(path, options) {
        assertSeen(path)
        return get(path, options)
      },
      async watch(path, options) {
        assertSeen(path)
        const signal = AbortSignal.any([sight.signal, ...(options.signal ? [options.signal] : [])])
        await watch(path, { ...options, signal }).finally(() => assertSeen(path))
      },
      create,
      replace,
      patch,
      delete: remove,
    }
    return prepareRun(request, withObservation({ ...ports, client }))
  })
  return { actor, blind: () => sight.abort() }
}

const BLIND = {
  outcome: 'deadline',
  reason: expect.stringMatching(/the cluster cannot be watched any more: .*pods is forbidden/),
}
const V3 = [{ container: 'app', image: imageOf('v3') }]
const FIRST_POD = `statefulset.kubernetes.io/pod-name=${NAME}-0`

// A run whose first look fails must end, and give the Lease back.
test.each([
  { name: 'its pods', asked: select, unseen: `app=${NAME}` },
  { name: 'its pods by label', asked: { labelSelector: FIRST_POD }, unseen: FIRST_POD },
  { name: 'the pods beside those', asked: { labelSelector: FIRST_POD }, unseen: `app=${NAME}` },
])('who may not watch $name any more once it has waited for the Lease writes nothing, and gives it back', async (given) => {
  const stage = await halfDone()
  const effects = () => stage.history.filter(({ type }) => type === 'effect').length
  const effectsBefore = effects()
  const { actor, blind } = startBlindable(stage, { select: given.asked, images: V3 }, given.unseen)
  await stage.until(() => actor.events.some(({ type }) => type === 'leaseWaiting'))
  blind()
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject(BLIND)
  expect(actor.end?.reason).toMatch(/run \w+ is not finished, and may have left half done/)
  expect([effects(), templateImage(stage), (await headers(stage)).length]).toEqual([effectsBefore, imageOf('v2'), 1])
  const next = stage.start(V2)
  await stage.until(() => next.end !== undefined)
  expect(next.end).toMatchObject({ outcome: 'done' })
  expect(next.events.filter(({ type }) => type === 'leaseWaiting')).toEqual([])
})

test('a watch that ends for good while the template is written ends the run before any pod leaves', async () => {
  const stage = await openStage(plainScene())
  const { actor, blind } = startBlindable(stage, { select, ...V2 }, `app=${NAME}`)
  throttle(stage, 'statefulsets', 20, blind)
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject(BLIND)
  expect(stage.history.filter(({ type }) => type === 'effect')).toEqual([])
})

// The restore is sent before the process knows that the drain will have no answer.
test('a reload while the patch has no answer yet, and a drain that comes after the restore: the pod is put back once more', async () => {
  const stage = await openStage(plainScene({ balancers: [plainBalancer({ volatile: true })] }))
  const process = stage.start(V2, (ports) => {
    const { client, clock, loadBalancers } = ports
    const after = (ms: number): Promise<void> => new Promise((resolve) => clock.setTimeout(resolve, ms))
    const patch: typeof client.patch = async (path, operations, options) => {
      const answer = await client.patch(path, operations, options)
      const isOfImages = operations.some((one) => one.path.endsWith('/image') && one.op === 'replace')
      if (isOfImages && options?.dryRun !== true) await after(2_000)
      return answer
    }
    const [edge] = loadBalancers
    let drains = 0
    const adapter: Adapter = {
      ...edge!.adapter,
      async drain(targets, call) {
        if (++drains !== 2) return edge!.adapter.drain(targets, call)
        call.assertLive()
        void after(14_000).then(() => edge!.adapter.drain(targets, { ...call, assertLive() {} }))
        await after(10_000)
        throw new AdapterError('edge', 'ambiguous', 'no answer')
      },
    }
    return prepareRun(V2_REQUEST, { ...ports, client: { ...client, patch }, loadBalancers: [{ ...edge!, adapter }] })
  })
  await stage.until(() => isIn('patching')(process))
  await stage.pass(100)
  stage.world.reload('edge')
  await stage.until(() => process.end !== undefined)
  await stage.pass(20_000)
  expect(process.end).toMatchObject({ outcome: 'done' })
  expect(stage.world.balancers.get('edge')!.state(`${NAME}-0`)).toMatchObject({ admin: 'ready' })
})

// A target that cannot be read is restored by a repeated call, since a look cannot settle it.
test('where nothing can be read, a restore for a pod in the place of another that did not leave is sent again', async () => {
  const unreadable = plainBalancer({ level: 'G0' })
  const stage = await openStage(plainScene({ workload: 'DaemonSet', hostNetwork: true, balancers: [unreadable] }))
  const process = stage.start({}, (ports) => {
    const [edge] = ports.loadBalancers
    let isFirst = true
    const adapter: Adapter = {
      ...edge!.adapter,
      restore(wanted, call) {
        if (!isFirst) return edge!.adapter.restore(wanted, call)
        isFirst = false
        return Promise.reject(new AdapterError('edge', 'retryable', 'connection refused'))
      },
    }
    const request = {
      ...V2,
      namespace: NAMESPACE,
      select: { refs: [{ ...DAEMON_SET, name: NAME } as const] },
      settings: PLAIN_SETTINGS,
      acceptTemplateDrift: false,
      allowUnbalanced: false,
    }
    return prepareRun(request, { ...ports, loadBalancers: [{ ...edge!, adapter }] })
  })
  await stage.until(() => isIn('emptying')(process))
  stage.world.cluster.deletePod(NAMESPACE, stage.world.pods()[0]!.metadata.name, { force: true })
  await stage.until(() => process.end !== undefined)
  expect(process.end).toMatchObject({ outcome: 'done', pods: [{ outcome: 'settled' }, { outcome: 'skipped' }] })
  expect(restores(stage)).toHaveLength(1)
})

// The answer to the read is stale when the process continues. A pod that gets requests must not be patched.
test('a process that is stopped while it reads that a pod is out, and a reload meanwhile: the pod is drained again, and then patched', async () => {
  const stage = await openStage(plainScene({ balancers: [plainBalancer({ volatile: true })] }))
  const process = stage.start(V2)
  const edge = stage.world.balancers.get('edge')!
  const { read } = edge
  let isStopped = false
  edge.read = (names) => {
    const answer = read(names)
    const isEmpty = 'entries' in answer && answer.entries.get(`${NAME}-0`)?.inFlight === 0
    if (isStopped || !isEmpty || !isIn('emptying')(process)) return answer
    isStopped = true
    process.host.stop()
    stage.world.reload('edge')
    return answer
  }
  await stage.until(() => isStopped)
  await stage.pass(5_000)
  process.host.continue()
  await stage.until(() => isIn('patching')(process))
  expect(edge.state(`${NAME}-0`)).toMatchObject({ admin: 'drain' })
  await stage.until(() => process.end !== undefined)
  expect(process.end).toMatchObject({ outcome: 'done' })
})

// Requests that are not counted cannot be seen, so the settle time is needed again.
test('a pod that is drained again while its patch is tried has to settle anew before the next try', async () => {
  const edge = plainBalancer({ volatile: true, lagMs: 2_000, countsRequests: false })
  const stage = await openStage(plainScene({ balancers: [edge] }))
  const tries: number[] = []
  const process = stage.start(V2, (ports) => {
    const { client, clock } = ports
    const patch: typeof client.patch = async (path, operations, options) => {
      const isOfImages = operations.some((one) => one.path.endsWith('/image') && one.op === 'replace')
      if (!isOfImages || !path.includes('/pods/') || options?.dryRun === true) return client.patch(path, operations, options)
      tries.push(clock.now())
      if (tries.length > 1) return client.patch(path, operations, options)
      await new Promise<void>((resolve) => clock.setTimeout(resolve, 3_000))
      throw new KubeError('no answer', { kind: 'ambiguous', method: 'PATCH', path })
    }
    return prepareRun(V2_REQUEST, { ...ports, client: { ...client, patch } })
  })
  await stage.until(() => isIn('patching')(process))
  await stage.pass(2_600)
  stage.world.reload('edge')
  await stage.until(() => process.end !== undefined)
  expect(process.end).toMatchObject({ outcome: 'done' })
  const drains = stage.history.flatMap((one) =>
    one.type === 'effect' && one.before.routable && !one.after.routable ? [one.at] : [],
  )
  expect(drains).toHaveLength(2)
  expect(tries[1]! - drains[1]!).toBeGreaterThanOrEqual(edge.lagMs)
})

// A run by name has to report the pod just as a run by label does.
test.each([
  { by: 'by name', select: { refs: [{ ...POD, name: `${NAME}-0` } as const] } },
  { by: 'by label', select: { labelSelector: FIRST_POD } },
])('what another run has left out is named by one that is about another pod, $by, and has done all of that', async (given) => {
  const stage = await openStage(plainScene({ pods: 3 }))
  const first = stage.start(V2)
  await stage.until(() => isIn('restarting')(first))
  first.host.kill()
  const settings = { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 } }
  const second = stage.start({ ...V2, select: given.select, settings })
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(`not settled: ${NAME}-2: `) })
})

// The exit code has to tell about the pod, not about the template only.
test('a template that somebody edits, and a pod that a load balancer refuses to put back: the pod needs a person', async () => {
  const stage = await openStage(plainScene())
  const process = stage.start(V2, (ports) => {
    const [edge] = ports.loadBalancers
    const refused = new AdapterError('edge', 'fatal', 'no such server')
    const adapter: Adapter = { ...edge!.adapter, restore: () => Promise.reject(refused) }
    return prepareRun(V2_REQUEST, { ...ports, loadBalancers: [{ ...edge!, adapter }] })
  })
  await stage.until(() => isIn('restarting')(process))
  const edit = { op: 'replace', path: '/spec/template/spec/containers/0/image', value: imageOf('v3') } as const
  await stage.ask(stage.client.patch(`/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${NAME}`, [edit]))
  await stage.until(() => process.end !== undefined)
  expect(process.end).toMatchObject({
    outcome: 'needsOperator',
    reason: expect.stringMatching(/the load balancer refuses to put it back.*the template of .* was changed by somebody else/),
  })
})

// The run is over as ordered, so its exit code is not that of a conflict.
test.each([
  {
    edited: false,
    first: { outcome: 'aborted' },
    second: { outcome: 'aborted', reason: 'the run has come to its end meanwhile' },
  },
  {
    edited: true,
    first: { outcome: 'conflict' },
    second: { outcome: 'conflict', reason: expect.stringMatching(/^aborted, but /) },
  },
])('two persons abort the run of a dead process: the second finds it ended ($edited: its template was left)', async (given) => {
  const stage = await halfDone()
  const { ask, client } = stage
  const edit = { op: 'replace', path: '/spec/template/spec/containers/0/image', value: imageOf('v3') } as const
  if (given.edited) await ask(client.patch(`/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${NAME}`, [edit]))
  const first = await abort(stage)
  const open = await ask(readOpenRuns(client, { namespace: NAMESPACE, select }))
  const runs = open.runs.map(({ run }) => run)
  const second = stage.start({}, async (ports) => {
    const request = { namespace: NAMESPACE, settings: PLAIN_SETTINGS, open, runs, by: 'bob@desk', seen: new Map() }
    const prepared = await prepareAbort(request, ports)
    return {
      ...prepared,
      async execute() {
        while (first.end === undefined) await new Promise<void>((resolve) => void ports.clock.setTimeout(resolve, 100))
        return prepared.execute()
      },
    }
  })
  await stage.until(() => second.end !== undefined)
  expect([first.end, second.end]).toMatchObject([given.first, given.second])
})

// The pod may get requests from the balancer in which it was not drained, so it is not patched. Statements about each pod and
// `sluice cleanup` remove no record while the pod is there.
test('a load balancer that has come to the config since the drain: nothing is patched, and an abort is the way out', async () => {
  const stage = await openStage(plainScene({ pods: 2, balancers: [plainBalancer(), plainBalancer({ name: 'inner' })] }))
  const common = { namespace: NAMESPACE, select, settings: PLAIN_SETTINGS, acceptTemplateDrift: false, allowUnbalanced: false }
  const first = stage.start(V2, (ports) =>
    prepareRun({ ...V2, ...common }, { ...ports, loadBalancers: ports.loadBalancers.slice(0, 1) }),
  )
  await stage.until(() => isIn('emptying')(first))
  first.host.kill()
  const second = stage.start(V2)
  await stage.until(() => second.end !== undefined)
  const reason = expect.stringContaining(`pod/${NAME}-1 is half done, and was not drained in inner`)
  expect(second.end).toMatchObject({ outcome: 'refused', reason })
  const aborting = await abort(stage)
  await stage.until(() => aborting.end !== undefined)
  const third = stage.start(V2)
  await stage.until(() => third.end !== undefined)
  expect([aborting.end?.outcome, third.end?.outcome]).toEqual(['aborted', 'done'])
})

test('named pods of which one is gone for good: those that are there are asked for alone, which is the way out that is told', async () => {
  const stage = await openStage(plainScene({ workload: 'Pod', pods: 2 }))
  const settings = { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 }, readyDeadlineMs: 10_000 }
  const [gone, there] = [0, 1].map((ordinal) => ({ ...POD, name: `${NAME}-${ordinal}` }) as const)
  const both = { ...V2, settings, select: { refs: [gone!, there!] } }
  const first = stage.start(both)
  await stage.until(() => isIn('restarting')(first))
  await stage.pass(500)
  first.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, gone!.name, { force: true })
  const again = stage.start(both)
  await stage.until(() => again.end !== undefined)
  expect(again.end?.reason).toMatch(/there is no pod\/web-0 .*; ask for those that are there alone/)
  const alone = stage.start({ ...both, select: { refs: [there!] } })
  await stage.until(() => alone.end !== undefined)
  expect(alone.end).toMatchObject({ outcome: 'failed', reason: expect.stringMatching(/^not settled: web-0: /) })
  expect(alone.end?.pods).toContainEqual(expect.objectContaining({ pod: there!.name, outcome: 'upgraded' }))
  const ports = { client: stage.client, clock: alone.host.clock, random: { next: () => 0.5 }, identity: 'ann' }
  const told = { signal: new AbortController().signal, onWaiting() {}, onTrouble() {} }
  const word = { namespace: NAMESPACE, pod: gone!.name, traffic: 'in', loadBalancers: [] } as const
  await stage.ask(resolvePod(word, { ...ports, ...told }))
  const last = stage.start({ ...both, select: { refs: [there!] } })
  await stage.until(() => last.end !== undefined)
  expect(last.end).toMatchObject({ outcome: 'done' })
  expect(new Set((await headers(stage)).map(({ finishedAt }) => typeof finishedAt))).toEqual(new Set(['string']))
})

// An older record does not show the images that the pod last had in rotation.
test('somebody has deleted the record of the run that has left a pod half done: that goes back to what it had when it was drained', async () => {
  const stage = await halfDone()
  const v3 = stage.start({ images: V3 })
  await stage.until(() => isIn('restarting')(v3))
  v3.host.kill()
  const newest = (await headers(stage)).toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))[0]!
  await stage.ask(stage.client.delete(`/api/v1/namespaces/${NAMESPACE}/configmaps/sluice-run-${newest.run}`))
  const next = stage.start({ images: [{ container: 'app', image: imageOf('v1-again') }] })
  await stage.until(() => next.end !== undefined)
  const undo = stage.start({ undo: {} })
  await stage.until(() => undo.end !== undefined)
  expect([next.end, undo.end]).toMatchObject([{ outcome: 'done' }, { outcome: 'done' }])
  const images = stage.world.pods().map(({ metadata: { name }, spec }) => {
    const [app] = (spec as unknown as { containers: { image: string }[] }).containers
    return [name, app!.image]
  })
  expect(images.toSorted()).toEqual([
    [`${NAME}-0`, imageOf('v1')],
    [`${NAME}-1`, imageOf('v2')],
  ])
})

async function scale({ ask, client }: Stage, replicas: number): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${NAME}`
  await ask(client.patch(path, [{ op: 'replace', path: '/spec/replicas', value: replicas }]))
}

test('a workload is scaled down and up again while a pod of it is drained: the one that has come in its place is told of', async () => {
  const stage = await openStage(plainScene({ pods: 2, hostNetwork: true }))
  const run = stage.start(V2)
  await stage.until(() => isIn('restarting')(run))
  await scale(stage, 1)
  await stage.until(() => run.events.some((event) => event.type === 'podFinished'))
  await scale(stage, 2)
  await stage.until(() => run.end !== undefined)
  expect(run.end?.outcome).toBe('needsOperator')
  expect(run.end?.reason).toMatch(
    /^web-1: edge\/.* were drained for it, and left out since .*: web-1 has come there all the same, and is out/,
  )
  const gone = run.end!.pods.find(({ outcome }) => outcome === 'needsOperator')
  expect(gone).toMatchObject({ out: true, instructions: expect.stringContaining('are to be as they were before the drain') })
})

// At the end of the drained pod, no replacement was due. It was due a moment later.
test('a workload is scaled down and up again before a drained pod of it has gone: what comes in its place is put back', async () => {
  const stage = await openStage(plainScene({ pods: 3 }))
  const run = stage.start(V2)
  await stage.until(() => isIn('emptying')(run))
  await scale(stage, 2)
  await stage.until(() => stage.world.pods().some(({ metadata }) => metadata.deletionTimestamp !== undefined))
  await scale(stage, 3)
  await stage.until(() => run.end !== undefined)
  expect(run.end).toMatchObject({ outcome: 'done' })
  expect(run.end?.pods).toContainEqual(expect.objectContaining({ pod: `${NAME}-2`, outcome: 'settled' }))
  expect(restores(stage).length).toBe(3)
})

/** Settings that drain both pods at once, so that a pod can be scaled away and back before the other pod is home. */
const TWO_AT_ONCE = { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 } }
const areBothIn =
  (state: string) =>
  ({ events }: Actor): boolean =>
    [0, 1].every((number) =>
      events.some((event) => event.type === 'podState' && event.to === state && event.pod === `${NAME}-${number}`),
    )

test('the same, and who had left it out is killed before its end: the next process of the run tells of it', async () => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 8_000 }))
  const first = stage.start({ ...V2, settings: TWO_AT_ONCE })
  await stage.until(() => areBothIn('restarting')(first))
  await scale(stage, 1)
  await stage.until(() => first.events.some((event) => event.type === 'podFinished'))
  first.host.kill()
  await scale(stage, 2)
  const second = stage.start({ ...V2, settings: TWO_AT_ONCE })
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'needsOperator', reason: expect.stringMatching(/^web-1: .* is out of rotation/) })
})

test('the same, while the ledger is closed, which takes long', async () => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 8_000 }))
  let isHeld = false
  let goOn = (): void => {}
  const isAllowed = new Promise<void>((resolve) => (goOn = resolve))
  const request = { ...V2_REQUEST, settings: TWO_AT_ONCE }
  const run: Actor = stage.start(request, ({ client, ...ports }) => {
    const isLast = (path: string): boolean =>
      path.includes('/configmaps/') && run.events.filter(({ type }) => type === 'podFinished').length === 2
    const patch: typeof client.patch = async (path, ...rest) => {
      isHeld ||= isLast(path)
      if (isHeld) await isAllowed
      return client.patch(path, ...rest)
    }
    return prepareRun(request, { ...ports, client: { ...client, patch } })
  })
  await stage.until(() => areBothIn('restarting')(run))
  await scale(stage, 1)
  await stage.until(() => isHeld)
  await scale(stage, 2)
  await stage.until(() => stage.world.pods().filter(isReady).length === 2)
  goOn()
  await stage.until(() => run.end !== undefined)
  expect(run.end).toMatchObject({ outcome: 'needsOperator', reason: expect.stringMatching(/^web-1: .* is out of rotation/) })
})

// The pod has to be reported at another address too.
test('the same, and it has come to another address: in no load balancer, and told of', async () => {
  const stage = await openStage(plainScene({ pods: 2, fixedAddresses: false, readyAfterMs: 8_000 }))
  const run = stage.start({ ...V2, settings: TWO_AT_ONCE })
  await stage.until(() => areBothIn('restarting')(run))
  await scale(stage, 1)
  await stage.until(() => run.events.some((event) => event.type === 'podFinished'))
  await scale(stage, 2)
  await stage.until(() => run.end !== undefined)
  expect(run.end).toMatchObject({
    outcome: 'needsOperator',
    reason: expect.stringMatching(/^web-1: edge\/.*: web-1 has come all the same, and at its new address .* no load balancer/),
  })
})

test('the same, and the load balancer cannot say whether it is in rotation: that is told', async () => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 8_000 }))
  const run = stage.start({ ...V2, settings: TWO_AT_ONCE })
  await stage.until(() => areBothIn('restarting')(run))
  await scale(stage, 1)
  await stage.until(() => run.events.some((event) => event.type === 'podFinished'))
  await scale(stage, 2)
  await stage.until(() => isIn('closing')(run))
  stage.stopBalancer('edge', 60_000)
  await stage.until(() => run.end !== undefined)
  expect(run.end).toMatchObject({
    outcome: 'needsOperator',
    reason: expect.stringMatching(/web-1 has come all the same, and whether it is in rotation cannot be known/),
  })
})

// An abort is about open pods, and the replacement is not open.
test('the same, while an abort brings the pods home', async () => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 25_000 }))
  const first = stage.start({ ...V2, settings: TWO_AT_ONCE })
  await stage.until(() => areBothIn('restarting')(first))
  first.host.kill()
  const run = await abort(stage)
  await stage.until(() => run.events.some(({ type }) => type === 'started'))
  await scale(stage, 1)
  await stage.until(() => run.events.some((event) => event.type === 'podFinished'))
  await scale(stage, 2)
  await stage.until(() => run.end !== undefined)
  expect(run.end).toMatchObject({ outcome: 'needsOperator', reason: expect.stringMatching(/^web-1: .* is out of rotation/) })
})

// An operator is not asked to put back a target that it has taken out.
test.each([
  { name: 'before its turn', ordinal: 0 },
  { name: 'while it was drained', ordinal: 2 },
])('a pod is deleted $name, and an operator has out what has come in its place: the run is done', async ({ ordinal }) => {
  const stage = await openStage(plainScene({ pods: 3, readyAfterMs: 3_000 }))
  const run = stage.start({ ...V2, settings: TWO_AT_ONCE })
  await stage.until(() => isIn('restarting')(run))
  const edge = stage.world.balancers.get('edge')!
  const entry = edge.names().find((name) => name.includes(`${NAME}-${ordinal}`))!
  if (ordinal === 0) edge.operator.set(entry, { admin: 'maint' })
  const pod = `${NAME}-${ordinal}`
  stage.world.cluster.deletePod(NAMESPACE, pod)
  await stage.until(() => run.events.some((event) => event.type === 'podFinished' && event.result.pod === pod))
  edge.operator.set(entry, { admin: 'maint' })
  await stage.until(() => run.end !== undefined)
  expect(run.end).toMatchObject({ outcome: 'done' })
})

// The epoch of the next owner may be smaller than the epoch of the drained pod. That pod still counts in the window.
test('somebody deletes the Lease of a live owner, and another has seen it: what is drained by then is the next owner’s to bring home', async () => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 30_000 }))
  const { ask, client } = stage
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`
  const name = `sluice-statefulset-${NAME}`
  const counted = { holderIdentity: '', leaseTransitions: 40, leaseDurationSeconds: 1 }
  await ask(client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name }, spec: counted }))
  let goOn = (): void => {}
  const isAllowed = new Promise<void>((resolve) => (goOn = resolve))
  const second = stage.start(V2_REQUEST, async (ports) => {
    const prepared = await prepareRun(V2_REQUEST, ports)
    return { ...prepared, execute: () => isAllowed.then(() => prepared.execute()) }
  })
  await stage.until(() => second.events.some(({ type }) => type === 'planned'))
  const first = stage.start(V2)
  await stage.until(() => first.events.some(({ type }) => type === 'started'))
  await ask(client.delete(`${leases}/${name}`))
  goOn()
  await stage.until(() => first.end !== undefined && second.end !== undefined)
  expect([first.end, second.end]).toMatchObject([{ outcome: 'conflict' }, { outcome: 'done' }])
  expect(second.events.find(({ type }) => type === 'started')).toMatchObject({ epoch: 42 })
  const effects = stage.history.flatMap((entry) => (entry.type === 'effect' ? [`${entry.effect} ${entry.target}`] : []))
  expect(effects).toEqual(['drain web-1', 'restore web-1', 'drain web-0', 'restore web-0'])
})

test('a workload is scaled down while a pod of it is drained: nothing has come in its place, and the run is done', async () => {
  const stage = await openStage(plainScene({ pods: 2, hostNetwork: true }))
  const run = stage.start(V2)
  await stage.until(() => isIn('restarting')(run))
  await scale(stage, 1)
  await stage.until(() => run.end !== undefined)
  expect(run.end?.outcome).toBe('done')
})

/** Kills a process after its ledger has recorded the left-out targets, and before it reports them. */
async function killedBeforeItSaysSo(): Promise<Stage> {
  const stage = await openStage(plainScene({ pods: 3, readyAfterMs: 8_000 }))
  const first = stage.start({ ...V2, settings: TWO_AT_ONCE })
  await stage.until(() =>
    first.events.some((event) => event.type === 'podState' && event.to === 'restarting' && event.pod === 'web-2'),
  )
  await scale(stage, 2)
  await stage.until(() => first.events.some((event) => event.type === 'podFinished'))
  first.host.kill()
  return stage
}

test('the same, and its process is killed before it says so: the next one tells what stays out of rotation', async () => {
  const stage = await killedBeforeItSaysSo()
  const second = stage.start({ ...V2, settings: TWO_AT_ONCE })
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'done' })
  const reason = expect.objectContaining({ code: 'left-out', byRecord: true })
  const told = { pod: 'web-2', outcome: 'settled', traffic: 'leftOut' }
  expect(second.end?.pods).toContainEqual(expect.objectContaining(told))
  const result = expect.objectContaining({ ...told, reason })
  expect(second.events).toContainEqual(expect.objectContaining({ type: 'podFinished', result }))
})

test('the same, and the next one is refused: it names that', async () => {
  const stage = await killedBeforeItSaysSo()
  const second = stage.start({ ...V2, images: [{ container: 'none', image: 'registry.example/app:v2' }] })
  await stage.until(() => second.end !== undefined)
  expect(second.end?.reason).toMatch(
    /run \w+ has left out of rotation what was drained for pod\/web-2, which is gone for good: edge\/web-2/,
  )
})

test('the same, and the load balancer does not answer the next one: it names that', async () => {
  const stage = await killedBeforeItSaysSo()
  stage.stopBalancer('edge', 60_000)
  const second = stage.start({ ...V2, settings: TWO_AT_ONCE })
  await stage.until(() => second.end !== undefined)
  expect(second.end?.reason).toMatch(/run \w+ has left out of rotation what was drained for pods that are gone for good: web-2/)
})

// A pod that the run has planned and never begun was not drained. After the pod is gone, its entry is not put back over an operator's
// setting, and no operator is asked.
test.each([
  { name: 'nobody has touched its entry, which cannot be read', level: 'G0', admin: undefined },
  { name: 'an operator has its entry in maintenance', level: 'G1', admin: 'maint' },
  { name: 'an operator has drained its entry', level: 'G1', admin: 'drain' },
] as const)(
  'a pod that a run has not begun is replaced once that was interrupted, and $name: it is left so',
  async ({ level, admin }) => {
    const stage = await openStage(plainScene({ pods: 3, balancers: [plainBalancer({ level })] }))
    const first = stage.start(V2)
    await stage.until(() => isIn('draining')(first))
    first.interrupt()
    await stage.until(() => first.end !== undefined)
    const entry = `${NAME}-0`
    if (admin) stage.world.balancers.get('edge')!.operator.set(entry, { admin })
    const before = new Set(stage.world.pods().map(({ metadata }) => metadata.uid))
    stage.world.cluster.deletePod(NAMESPACE, entry)
    await stage.until(() => stage.world.pods().some((pod) => !before.has(pod.metadata.uid) && isReady(pod)))
    // A target that an operator has out fills the window.
    const second = stage.start({ ...V2, settings: TWO_AT_ONCE })
    await stage.until(() => second.end !== undefined)
    expect(second.end).toMatchObject({ outcome: 'done' })
    const touched = stage.history.flatMap((one) => (one.type === 'effect' ? [one.target] : []))
    expect(touched).not.toContain(entry)
  },
)

const ROLLING_BACK = { ...PLAIN_SETTINGS, onFailure: 'rollback', restartDeadlineMs: 20_000 } as const
const OTHER_POD = { refs: [{ ...POD, name: `${NAME}-0` } as const] }

// The template goes back to its own former image, which the other pods have, not to the image of the one pod.
test.each(['an abort', 'a rollback'])(
  'a run about the one pod that is behind: %s gives the template back what it had, and the other pods have',
  async (how) => {
    const stage = await openStage(plainScene({ pods: 2 }))
    const first = stage.start({ ...V2, select: { refs: [{ ...POD, name: `${NAME}-1` }] } })
    await stage.until(() => first.end !== undefined)
    const images = [{ container: 'app', image: imageOf(how === 'an abort' ? 'v3' : 'bad') }]
    const second = stage.start({ images, select: OTHER_POD, settings: ROLLING_BACK })
    await stage.until(() => isIn('emptying')(second))
    expect(templateImage(stage)).toBe(images[0]!.image)
    if (how === 'an abort') second.host.kill()
    const ending = how === 'an abort' ? await abort(stage) : second
    await stage.until(() => ending.end !== undefined)
    expect([first.end, ending.end]).toMatchObject([
      { outcome: 'done' },
      { outcome: how === 'an abort' ? 'aborted' : 'rolledBack' },
    ])
    expect(templateImage(stage)).toBe(imageOf('v2'))
  },
)

// A run by label has to see the pod that the first process has upgraded.
test.each([
  { by: 'by name', part: OTHER_POD },
  { by: 'by label', part: { labelSelector: FIRST_POD } },
])(
  'a rollback of who has gone on with a part of a run, $by: the template stays, since another pod is upgraded',
  async ({ part }) => {
    const stage = await halfDone()
    const second = stage.start({ ...V2, select: part, settings: { ...ROLLING_BACK, readyDeadlineMs: 5_000 } })
    await stage.until(() => isIn('warming')(second))
    stage.world.cluster.unready(NAMESPACE, `${NAME}-0`, 'app', 10_000)
    await stage.until(() => second.end !== undefined)
    const warnings = second.events.flatMap((event) => (event.type === 'warning' ? [reasonWords(event.reason)] : []))
    expect(warnings).toContain(
      `the template of statefulset/${NAME} keeps the new images: 1 of its pods runs them; sluice undo takes them back`,
    )
    expect([second.end?.outcome, templateImage(stage)]).toEqual(['rolledBack', imageOf('v2')])
  },
)

/** Opens three bare pods. One process has begun to upgrade all of them, and another process two of them to other images. */
async function withSharedLeases(): Promise<{
  stage: Stage
  of: (...places: number[]) => Pick<RunRequest, 'namespace' | 'select'>
}> {
  const stage = await openStage(plainScene({ workload: 'Pod', hostNetwork: true, pods: 3, readyAfterMs: 8_000 }))
  const of = (...places: number[]) => ({
    namespace: NAMESPACE,
    select: { refs: places.map((place) => ({ ...POD, name: `${NAME}-${place}` }) as const) },
  })
  const first = stage.start({ ...V2, ...of(0, 1, 2) })
  await stage.until(() => first.events.some(({ type }) => type === 'started'))
  first.interrupt()
  await stage.until(() => first.end !== undefined)
  return { stage, of }
}

/** Gives an order as the command of an operator does. */
async function give(stage: Stage, order: 'pause' | 'abort', request: Pick<RunRequest, 'namespace' | 'select'>): Promise<void> {
  const { client } = stage
  const found = await stage.ask(readOpenRuns(client, request))
  const giving = forOpenRuns(client, request, found, async (open) => {
    await giveOrder(open, { order, by: 'ann@desk' }, { client, namespace: NAMESPACE })
  })
  await stage.ask(giving)
}

const drains = ({ history }: Stage) => history.filter((entry) => entry.type === 'effect' && entry.effect === 'drain').length
const ordersOf = ({ events }: Actor) => events.flatMap((event) => (event.type === 'ordered' ? [event.order] : []))

// The abort must not replace the pause on the shared Leases.
test('an abort of a run that shares Leases with one that is paused leaves the pause, which holds as long as it stands there', async () => {
  const { stage, of } = await withSharedLeases()
  const other = stage.start({ images: [{ container: 'app', image: imageOf('v3') }], ...of(1, 2) })
  await stage.until(() => isIn('emptying')(other))
  await give(stage, 'pause', of(1, 2))
  await stage.until(() => other.events.some(({ type }) => type === 'paused'))
  const drained = drains(stage)
  await give(stage, 'abort', of(0))
  await stage.pass(30_000)
  expect([ordersOf(other), drains(stage)]).toEqual([['pause'], drained])
  const open = await stage.ask(readOpenRuns(stage.client, of(1, 2)))
  await stage.ask(liftPause(open, { client: stage.client, namespace: NAMESPACE }))
  await stage.until(() => other.end !== undefined)
  expect([ordersOf(other), other.end]).toMatchObject([['pause', 'resume'], { outcome: 'done' }])
  // The other order stands for the other run.
  const left = await stage.ask(readOpenRuns(stage.client, of(0)))
  expect(left.leases.map(({ annotations }) => orderFor(left.runs[0]!.run, [readOrder(annotations)])?.order)).toContain('abort')
})

/** Holds the record of a new run: its owner has the Lease meanwhile, without a record. */
function beginSlowly(stage: Stage, tag: string): { actor: Actor; isBeginning: () => boolean; goOn: () => void } {
  const request = { ...V2_REQUEST, images: [{ container: 'app', image: imageOf(tag) }] }
  let isBeginning = false
  let goOn = (): void => {}
  const isAllowed = new Promise<void>((resolve) => (goOn = resolve))
  const actor = stage.start(request, ({ client, ...ports }) => {
    const create: typeof client.create = async (path, ...rest) => {
      if (path.includes('/configmaps')) {
        isBeginning = true
        await isAllowed
      }
      return client.create(path, ...rest)
    }
    return prepareRun(request, { ...ports, client: { ...client, create } })
  })
  return { actor, isBeginning: () => isBeginning, goOn: () => goOn() }
}

/** Starts `sluice abort`, which waits. Returns a function with the order that it has found. */
function orderedAbort(stage: Stage): () => OrderedAbort | undefined {
  let ordered: OrderedAbort | undefined
  stage.start({}, async (ports) => {
    const asked = { namespace: NAMESPACE, select, by: 'ann@desk', wait: true, onOrdered() {}, onLook() {} }
    ordered = await orderAbort(asked, ports)
    throw new RunError('preflight', { code: 'error', said: ordered.kind })
  })
  return () => ordered
}

/** Opens a stage where a new run has the Lease after an interrupted run, and holds its record. */
async function beginning(): Promise<{ stage: Stage; actor: Actor; goOn: () => void; drained: number }> {
  const stage = await openStage(plainScene({ pods: 3 }))
  const first = stage.start(V2)
  await stage.until(() => isIn('emptying')(first))
  first.interrupt()
  await stage.until(() => first.end !== undefined)
  const { actor, isBeginning, goOn } = beginSlowly(stage, 'v3')
  await stage.until(isBeginning)
  return { stage, actor, goOn, drained: drains(stage) }
}

// The pause also covers the run that has no record yet.
test('a pause that is given while the owner begins a new run is of that one too', async () => {
  const { stage, actor, goOn, drained } = await beginning()
  await give(stage, 'pause', { namespace: NAMESPACE, select })
  goOn()
  await stage.until(() => actor.events.some(({ type }) => type === 'paused'))
  await stage.pass(30_000)
  expect([ordersOf(actor), drains(stage)]).toEqual([['pause'], drained])
  // The pause also holds for the next process of the run.
  actor.host.kill()
  const again = stage.start({ images: [{ container: 'app', image: imageOf('v3') }] })
  await stage.until(() => again.events.some(({ type }) => type === 'paused'))
  expect([ordersOf(again), drains(stage)]).toEqual([['pause'], drained])
})

// The end of the former run, without another open run, does not mean that no order was given.
test('the same, where the run before has come to its end by then', async () => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const { actor, isBeginning, goOn } = beginSlowly(stage, 'v2')
  await stage.until(isBeginning)
  const path = leasePath(NAMESPACE, leaseName({ ...STATEFUL_SET, name: NAME }))
  const { spec } = (await stage.ask(stage.client.get(path))) as { spec: { leaseTransitions: number } }
  const value = writeOrder({ order: 'pause', runs: ['ended'], by: 'ann@desk', epoch: spec.leaseTransitions })
  await stage.ask(stage.client.patch(path, [{ op: 'add', path: '/metadata/annotations', value: { [ORDER_ANNOTATION]: value } }]))
  goOn()
  await stage.until(() => actor.events.some(({ type }) => type === 'paused') || actor.end !== undefined)
  expect([ordersOf(actor), drains(stage), actor.end]).toEqual([['pause'], 0, undefined])
})

// The abort has to end the new run, and not wait until it has upgraded everything.
test('and so is an abort, which ends both', async () => {
  const { stage, actor, goOn, drained } = await beginning()
  const found = orderedAbort(stage)
  await stage.pass(2_000)
  goOn()
  await stage.until(() => actor.end !== undefined && found() !== undefined)
  expect([ordersOf(actor), drains(stage)]).toEqual([['abort'], drained])
  expect(found()).toMatchObject({ kind: 'ended', records: [{ aborted: { by: 'ann@desk' } }] })
  expect([actor.end, templateImage(stage)]).toMatchObject([{ outcome: 'aborted' }, imageOf('v1')])
  expect((await headers(stage)).map(({ aborted }) => aborted?.by)).toEqual(['ann@desk', 'ann@desk'])
})

test('what was ordered before the owner of a new run had the Lease does not mean that one', async () => {
  const stage = await halfDone()
  await give(stage, 'pause', { namespace: NAMESPACE, select })
  const other = stage.start({ images: [{ container: 'app', image: imageOf('v3') }] })
  await stage.until(() => other.end !== undefined)
  expect([ordersOf(other), other.end]).toMatchObject([[], { outcome: 'done' }])
})
