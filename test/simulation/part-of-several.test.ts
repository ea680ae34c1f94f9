import { POD } from '../../src/workloads/kinds/pod.ts'
import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import type { RunRequest } from '../../src/engine/run.ts'
import { podView } from '../../src/pods/view.ts'
import { prepareAbortCommand } from './abort-command.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { addStatefulSet } from './other-workload.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'

/*
 * A command for some pods of one of several workloads has a run of its own, since its selection differs from that of the run of all. The
 * run of all stays open for its remaining pods, in any order of ends.
 */

const toTag = (tag: string) => ({ images: [{ container: 'app', image: imageOf(tag) }] })
const of = (...names: string[]) => ({ select: { refs: names.map((name) => ({ ...STATEFUL_SET, name }) as const) } })
const pod = (name: string) => ({ select: { refs: [{ ...POD, name } as const] } })
const OPEN = `stays open for ${NAME}-0: a command that names the workload goes on with all, sluice abort ends it`

async function endOf(stage: Stage, actor: Actor): Promise<Actor['end']> {
  await stage.until(() => actor.end !== undefined)
  return actor.end
}

async function done(stage: Stage, tag: string, request: Pick<RunRequest, 'select'>): Promise<string> {
  const end = await endOf(stage, stage.start({ ...toTag(tag), ...request }))
  expect(end).toMatchObject({ outcome: 'done' })
  return end!.reason!
}

/** Starts a run, and interrupts it after it has changed the templates and before it changes a pod. */
async function interrupted(stage: Stage, tag: string, ...names: string[]): Promise<string> {
  const actor = stage.start({ ...toTag(tag), ...of(...names) })
  await stage.until(() => actor.events.some(({ type }) => type === 'started'))
  actor.interrupt()
  expect(await endOf(stage, actor)).toMatchObject({ outcome: 'interrupted' })
  return actor.events.flatMap((event) => (event.type === 'started' ? [event.run] : []))[0]!
}

async function abort(stage: Stage, ...names: string[]): Promise<void> {
  const asked = { namespace: NAMESPACE, settings: PLAIN_SETTINGS, ...of(...names) }
  const actor = stage.start({}, (ports) => prepareAbortCommand(asked, ports))
  expect(await endOf(stage, actor)).toMatchObject({ outcome: 'aborted' })
}

async function openRuns({ ask, client }: Stage, ...names: string[]): Promise<string[]> {
  const { runs } = await ask(readOpenRuns(client, { namespace: NAMESPACE, ...of(...names) }))
  return runs.map(({ run }) => run)
}

/** Returns the tag of each template and of each pod. */
function tagsOf({ world }: Stage): Record<string, string> {
  const tagOf = (image: string): string => image.slice(image.lastIndexOf(':') + 1)
  const templates = world.server.store.list('statefulsets.apps', NAMESPACE) as unknown as {
    metadata: { name: string }
    spec: { template: { spec: { containers: { image: string }[] } } }
  }[]
  return Object.fromEntries([
    ...templates.map(({ metadata, spec }) => [metadata.name, tagOf(spec.template.spec.containers.at(-1)!.image)]),
    ...world.pods().map((raw) => [podView(raw).name, tagOf(podView(raw).containers.at(-1)!.image)]),
  ]) as Record<string, string>
}

/** Opens a stage with two pods of a workload, and one pod of another workload. */
async function twoWorkloads(): Promise<Stage> {
  const stage = await openStage(plainScene({ pods: 2 }))
  await addStatefulSet(stage, 'other')
  return stage
}

/** Interrupts a run of both workloads to v2, and runs a command for one pod of the first. */
async function withPart(tag = 'v2'): Promise<{ stage: Stage; run: string; said: string }> {
  const stage = await twoWorkloads()
  const run = await interrupted(stage, 'v2', NAME, 'other')
  const said = await done(stage, tag, pod(`${NAME}-1`))
  return { stage, run, said }
}

// The part does not count as a run of its workload: otherwise a pod would keep its former images with the new ones in the template,
// unreported and without a run to abort.
test('the part says what the run of both stays open for, also once the other workload is done; a command for the workload ends it', async () => {
  const { stage, run, said } = await withPart()
  expect(said).toBe(`1 upgraded, 0 at the wanted images already; run ${run} ${OPEN}`)
  await done(stage, 'v2', of('other'))
  expect(await openRuns(stage, NAME)).toEqual([run])
  expect(await done(stage, 'v2', of(NAME))).toBe('1 upgraded, 1 at the wanted images already')
  expect(await openRuns(stage, NAME, 'other')).toEqual([])
})

test('and so does a part that is the last of them', async () => {
  const { stage } = await withPart()
  await done(stage, 'v2', of('other'))
  expect(await done(stage, 'v2', pod(`${NAME}-0`))).toBe('1 upgraded, 0 at the wanted images already')
  expect(await openRuns(stage, NAME, 'other')).toEqual([])
})

// Otherwise a template would keep the new images, and the replacements of its pods would get them.
test.each([
  { what: 'both', names: [NAME, 'other'] },
  { what: 'the other alone, which ends the run of both', names: ['other'] },
])('an abort of $what gives both templates back', async ({ names }) => {
  const { stage } = await withPart()
  await abort(stage, ...names)
  expect(tagsOf(stage)).toEqual({ [NAME]: 'v1', [`${NAME}-0`]: 'v1', [`${NAME}-1`]: 'v2', other: 'v1' })
  expect(await openRuns(stage, NAME, 'other')).toEqual([])
})

test('and once the other workload is done, that of the first alone', async () => {
  const { stage } = await withPart()
  await done(stage, 'v2', of('other'))
  await abort(stage, NAME)
  expect(tagsOf(stage)).toMatchObject({ [NAME]: 'v1', [`${NAME}-0`]: 'v1', other: 'v2' })
  expect(await openRuns(stage, NAME, 'other')).toEqual([])
})

test('another that was begun in between, and is over with the part, has not come to its end with the workload either', async () => {
  const stage = await twoWorkloads()
  const run = await interrupted(stage, 'v2', NAME, 'other')
  const killed = stage.start({ ...toTag('v3'), ...of(NAME) })
  await stage.until(() => killed.events.some(({ type }) => type === 'started'))
  killed.host.kill()
  await done(stage, 'v2', pod(`${NAME}-1`))
  await done(stage, 'v2', of('other'))
  expect(await openRuns(stage, NAME)).toEqual([run])
})

test('a run of one workload, and a command for some of its pods and for another workload: it stays open, however often that comes', async () => {
  const stage = await twoWorkloads()
  const run = await interrupted(stage, 'v2', NAME)
  const some = { select: { refs: [...pod(`${NAME}-1`).select.refs, ...of('other').select.refs] } }
  expect(await done(stage, 'v2', some)).toContain(`run ${run} ${OPEN}`)
  expect(await done(stage, 'v2', some)).toContain(`run ${run} ${OPEN}`)
  await abort(stage, NAME)
  expect(tagsOf(stage)).toMatchObject({ [NAME]: 'v1', other: 'v2' })
  expect(await openRuns(stage, NAME, 'other')).toEqual([])
})

// The second run has found the template changed already, and the abort must still give it back.
test('nor is it over where a run of both is interrupted, too: an abort gives both templates back', async () => {
  const stage = await twoWorkloads()
  await interrupted(stage, 'v2', NAME)
  await interrupted(stage, 'v2', NAME, 'other')
  await abort(stage, NAME, 'other')
  expect(tagsOf(stage)).toMatchObject({ [NAME]: 'v1', other: 'v1' })
  expect(await openRuns(stage, NAME, 'other')).toEqual([])
})

test('it is not open for ever: not for a pod that is gone', async () => {
  const { stage } = await withPart()
  stage.world.cluster.deletePod(NAMESPACE, `${NAME}-0`)
  await stage.pass(30_000)
  await done(stage, 'v2', pod(`${NAME}-1`))
  await done(stage, 'v2', of('other'))
  expect(await openRuns(stage, NAME, 'other')).toEqual([])
})

test('nor for a workload that is gone', async () => {
  const { stage } = await withPart()
  await stage.ask(stage.client.delete(`/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${NAME}`))
  await stage.pass(30_000)
  await done(stage, 'v2', of('other'))
  expect(await openRuns(stage, 'other')).toEqual([])
})

test('nor for one that is done on other images since, whatever part of it comes back', async () => {
  const { stage } = await withPart()
  await done(stage, 'v3', of(NAME))
  expect(await done(stage, 'v2', pod(`${NAME}-1`))).toBe('1 upgraded, 0 at the wanted images already')
  await done(stage, 'v2', of('other'))
  expect(await openRuns(stage, NAME, 'other')).toEqual([])
})

test('control: a part on other images is in the place of the run: it names what that has left, and is over', async () => {
  const { stage, run, said } = await withPart('v3')
  const left = `still on other images, of run ${run}: pod ${NAME}-0, which a command that names the workload brings to these`
  expect(said).toBe(`1 upgraded, 0 at the wanted images already; ${left}`)
  await done(stage, 'v2', of('other'))
  expect(await openRuns(stage, NAME, 'other')).toEqual([])
})
