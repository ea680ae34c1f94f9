import { POD } from '../../src/workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { giveOrder } from '../../src/engine/orders/give-order.ts'
import { prepareAbort } from '../../src/engine/orders/abort.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import type { RunRequest } from '../../src/engine/run.ts'
import { podView } from '../../src/pods/view.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'

/* A command for some of the pods continues a run of all pods. The run is not over after it. */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }
const select = { refs: [{ ...STATEFUL_SET, name: NAME } as const] }

const isDone =
  (pod: string) =>
  ({ events }: Actor): boolean =>
    events.some((event) => event.type === 'podState' && event.to === 'done' && event.pod === pod)

async function endOf(stage: Stage, actor: Actor): Promise<Actor['end']> {
  await stage.until(() => actor.end !== undefined)
  return actor.end
}

const openRuns = ({ ask, client }: Stage) => ask(readOpenRuns(client, { namespace: NAMESPACE, select }))

const runOf = ({ events }: Actor) => events.flatMap((event) => (event.type === 'started' ? [event.run] : []))

const images = ({ world }: Stage) =>
  world
    .pods()
    .map(podView)
    .map(({ name, containers }) => `${name} ${containers.at(-1)!.image}`)
    .toSorted()

/** Interrupts an upgrade of three pods after the first one, and starts an upgrade of the second pod only. */
async function withPart(request: Partial<RunRequest>): Promise<{ stage: Stage; part: Actor; first: Actor }> {
  const stage = await openStage(plainScene({ pods: 3, readyAfterMs: 1_000 }))
  const labels = [{ op: 'add', path: '/metadata/labels/part', value: 'one' } as const]
  await stage.ask(stage.client.patch(`/api/v1/namespaces/${NAMESPACE}/pods/${NAME}-1`, labels))
  const first = stage.start(V2)
  await stage.until(() => isDone(`${NAME}-2`)(first))
  first.interrupt()
  await endOf(stage, first)
  const part = stage.start({ ...V2, ...request })
  await endOf(stage, part)
  return { stage, part, first }
}

const PARTS = [
  { by: 'name', request: { select: { refs: [{ ...POD, name: `${NAME}-1` } as const] } } },
  { by: 'label', request: { select: { labelSelector: 'part=one' } } },
]

// The run of all pods stays open, so that it can still be aborted.
test.each(PARTS)(
  'by $by: it is done, says what the run is open for, and a command for all goes on with it',
  async ({ request }) => {
    const { stage, part, first } = await withPart(request)
    expect(part.end).toMatchObject({
      outcome: 'done',
      reason: expect.stringMatching(/^1 upgraded, 0 at the wanted images already; the run stays open for web-0: /),
    })
    expect([runOf(part), (await openRuns(stage)).runs.length]).toEqual([runOf(first), 1])
    const all = stage.start(V2)
    expect(await endOf(stage, all)).toMatchObject({ outcome: 'done', reason: '1 upgraded, 2 at the wanted images already' })
    expect([runOf(all), (await openRuns(stage)).runs]).toEqual([runOf(first), []])
  },
)

test('and an abort ends it, which gives the template back', async () => {
  const { stage } = await withPart(PARTS[0]!.request)
  const open = await openRuns(stage)
  await stage.ask(giveOrder(open, { order: 'abort', by: 'ann@desk' }, { client: stage.client, namespace: NAMESPACE }))
  const runs = open.runs.map(({ run }) => run)
  const abort = stage.start({}, (ports) =>
    prepareAbort({ namespace: NAMESPACE, settings: PLAIN_SETTINGS, open, runs, by: 'ann@desk', seen: new Map() }, ports),
  )
  expect(await endOf(stage, abort)).toMatchObject({ outcome: 'aborted' })
  const { runs: left } = await openRuns(stage)
  expect([images(stage), left]).toEqual([
    [`${NAME}-0 ${imageOf('v1')}`, `${NAME}-1 ${imageOf('v2')}`, `${NAME}-2 ${imageOf('v2')}`],
    [],
  ])
})

test('one that is about the last of them ends it, whatever it names', async () => {
  const { stage } = await withPart(PARTS[0]!.request)
  const last = stage.start({ ...V2, select: { refs: [{ ...POD, name: `${NAME}-0` } as const] } })
  expect(await endOf(stage, last)).toMatchObject({ outcome: 'done', reason: '1 upgraded, 0 at the wanted images already' })
  expect((await openRuns(stage)).runs).toEqual([])
})

test.each(PARTS)('by $by, on other images: that run is over, and what it leaves is named', async ({ request }) => {
  const { stage, part, first } = await withPart({ images: [{ container: 'app', image: imageOf('v3') }], ...request })
  const left = `still on other images, of run ${runOf(first)[0]}: pods web-0, web-2, which a command that names the workload brings to these`
  expect(part.end).toMatchObject({ outcome: 'done', reason: `1 upgraded, 0 at the wanted images already; ${left}` })
  expect((await openRuns(stage)).runs).toEqual([])
})

test('control: a command for all on other images leaves nobody', async () => {
  const { stage } = await withPart(PARTS[0]!.request)
  const all = stage.start({ images: [{ container: 'app', image: imageOf('v3') }] })
  expect(await endOf(stage, all)).toMatchObject({ outcome: 'done', reason: '3 upgraded, 0 at the wanted images already' })
})

// The command has completed all its work before the interrupt.
test('an interrupt of the part when all of it is done does not make it anything else', async () => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 1_000 }))
  const first = stage.start(V2)
  await stage.until(() => isDone(`${NAME}-1`)(first))
  first.interrupt()
  await endOf(stage, first)
  const part = stage.start({ ...V2, select: { refs: [{ ...POD, name: `${NAME}-1` } as const] } })
  await stage.until(() => isDone(`${NAME}-1`)(part))
  part.interrupt()
  expect(await endOf(stage, part)).toMatchObject({ outcome: 'done', reason: expect.stringContaining('open for web-0') })
  expect((await openRuns(stage)).runs.length).toBe(1)
})

test('an undo of some pods is not over while others are to go back', async () => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 1_000 }))
  await endOf(stage, stage.start(V2))
  const labels = [{ op: 'add', path: '/metadata/labels/part', value: 'one' } as const]
  await stage.ask(stage.client.patch(`/api/v1/namespaces/${NAMESPACE}/pods/${NAME}-1`, labels))
  const undo = stage.start({ undo: {} })
  await stage.until(() => undo.events.some((event) => event.type === 'podState' && event.to === 'restarting'))
  undo.interrupt()
  await endOf(stage, undo)
  const part = stage.start({ undo: {}, select: { labelSelector: 'part=one' } })
  expect(await endOf(stage, part)).toMatchObject({ outcome: 'done', reason: expect.stringContaining('open for web-0') })
  expect((await openRuns(stage)).runs.length).toBe(1)
  expect(await endOf(stage, stage.start({ undo: {} }))).toMatchObject({ outcome: 'done' })
  expect((await openRuns(stage)).runs).toEqual([])
})
