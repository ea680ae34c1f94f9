import { askedWords } from './told.ts'
import { expect, test } from 'vitest'
import { listLedgers } from '../../src/engine/ledgers/list-ledgers.ts'
import type { PodStatus } from '../../src/engine/status/status.ts'
import { NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { statusOf, upgradeTo } from './story.ts'

/* The output of `sluice status` about pods that are gone, after the end of a run. */

const [FIRST, LAST] = [`${NAME}-0`, `${NAME}-1`]
const LONG = { longestRequestMs: 6_000 }

async function gone(stage: Stage, pod: string): Promise<PodStatus[]> {
  return (await statusOf(stage)).filter(({ name, attempt }) => name === pod && attempt === null)
}

async function scale(stage: Stage, replicas: number): Promise<void> {
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${NAME}`
  await stage.ask(stage.client.patch(path, [{ op: 'replace', path: '/spec/replicas', value: replicas }]))
}

/** Starts a run that has left out the drained targets of the last pod, which was scaled away, and that works on the first pod. */
async function leavingOut(): Promise<{ stage: Stage; run: Actor }> {
  const stage = await openStage(plainScene({ pods: 2, fixedAddresses: true, balancers: [plainBalancer(LONG)] }))
  const run = stage.start(upgradeTo('v2'))
  await stage.until(() => isIn('emptying', LAST)(run))
  await scale(stage, 1)
  await stage.until(() => isIn('emptying', FIRST)(run))
  return { stage, run }
}

test('control: one that was left out, and for which none has come: nobody has to look', async () => {
  const { stage, run } = await leavingOut()
  await stage.until(() => run.end !== undefined)
  expect(run.end).toMatchObject({ outcome: 'done' })
  expect(await gone(stage, LAST)).toEqual([])
})

// The status has to name the pod.
test('one that was left out, and for which another has come before the end of the run: a person has to look', async () => {
  const { stage, run } = await leavingOut()
  await scale(stage, 2)
  await stage.until(() => run.end !== undefined)
  expect(run.end).toMatchObject({ outcome: 'needsOperator' })
  const says = `--traffic in    # put back, or removed`
  expect((await gone(stage, LAST)).map((pod) => [pod.out, askedWords(pod)])).toEqual([[true, expect.stringContaining(says)]])
})

// The statements of a run have to be visible in the ledgers of earlier runs too.
test('the same, where it is a run of other images that finds it so', async () => {
  const { stage, run } = await leavingOut()
  run.host.kill()
  await scale(stage, 2)
  await stage.pass(25_000)
  const request = upgradeTo('v3')
  const second = stage.start({ ...request, settings: { ...request.settings, maxUnavailable: { count: 2 } } })
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'needsOperator' })
  const says = expect.stringContaining(`sluice resolve pod/${LAST}`) as string
  expect((await gone(stage, LAST)).map((pod) => [pod.out, askedWords(pod)])).toEqual([[true, says]])
})

// An operator is not asked about work that continues by itself.
test('one that nothing had come for in time, and that a later process is at work with, or had begun to put back: nobody', async () => {
  const stage = await openStage(plainScene({ pods: 1, readyAfterMs: 30_000, balancers: [plainBalancer(LONG)] }))
  const request = upgradeTo('v2')
  const first = stage.start(request)
  await stage.until(() => isIn('emptying')(first))
  first.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, FIRST)
  await stage.pass(1_000)
  const second = stage.start({ ...request, settings: { ...PLAIN_SETTINGS, readyDeadlineMs: 3_000 } })
  await stage.until(() => second.end !== undefined)
  expect(second.end).toMatchObject({ outcome: 'needsOperator' })
  const person = async () => (await gone(stage, FIRST)).map(({ state, needsOperator }) => [state, needsOperator !== undefined])
  expect(await person()).toEqual([['drain', true]])
  await stage.pass(40_000)
  const third = stage.start(request)
  await stage.until(() => isIn('settling')(third))
  expect(await person()).toEqual([['drain', false]])
  const isRestoring = async () => {
    const [found] = await stage.ask(listLedgers(stage.client, NAMESPACE))
    return found?.kind === 'read' && [...found.ledger.entries.values()].some(({ state }) => state === 'restore')
  }
  for (let looks = 0; looks < 2_000 && !(await isRestoring()); looks++) await stage.pass(0.2)
  third.host.kill()
  expect(await person()).toEqual([['restore', false]])
})
