import { reasonWords } from '../../src/report/words/words.ts'
import { expect, test } from 'vitest'
import type { RunRequest } from '../../src/engine/run.ts'
import { NAME, NAMESPACE } from './manifests.ts'
import { addStatefulSet } from './other-workload.ts'
import { plainBalancer, plainScene } from './scene.ts'
import type { Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { ended, statusOf, upgradeTo, withoutRestore } from './story.ts'

/* The output of `sluice status` after a run of several workloads, whose Leases have had different numbers of owners. */

const OTHER = 'other'
const POD = `${NAME}-0`
const BOTH = [NAME, OTHER]

const upgrade = (tag: string, names: readonly string[], change: Partial<RunRequest['settings']> = {}): RunRequest =>
  upgradeTo(tag, { names, maxUnavailable: { count: 2 }, ...change })

/** Opens a stage where the Lease of the other workload has had `owners` owners before. */
async function open(scene: Parameters<typeof plainScene>[0], owners: number): Promise<Stage> {
  const stage = await openStage(plainScene({ pods: 1, ...scene }))
  await addStatefulSet(stage, OTHER)
  await stage.pass(30_000)
  for (let place = 0; place < owners; place++)
    expect(await ended(stage, stage.start(upgrade(`v${2 + (place % 2)}`, [OTHER])))).toMatchObject({ outcome: 'done' })
  return stage
}

// The numbers of owners of different Leases cannot be compared.
test.each([
  { what: 'control: of a run of one workload', names: [NAME] },
  { what: 'of a run of several', names: BOTH },
])('a pod that is there and was left to a person needs one, $what', async ({ names }) => {
  const stage = await open({ balancers: [plainBalancer({ level: 'G0' })] }, 2)
  const request = upgrade('v2', names)
  const end = await ended(stage, stage.start(request, withoutRestore(request)))
  expect(end).toMatchObject({ outcome: 'needsOperator' })
  const told = (await statusOf(stage)).filter(({ needsOperator }) => needsOperator !== undefined).map(({ name }) => name)
  expect(told.toSorted()).toEqual(names.map((name) => `${name}-0`).toSorted())
})

test('of one that failed in a run of several it says why', async () => {
  const stage = await open({}, 2)
  const bad = upgrade('bad', BOTH, { onFailure: 'hold' })
  expect(await ended(stage, stage.start(bad))).toMatchObject({ outcome: 'failed' })
  const details = (await statusOf(stage))
    .filter(({ out }) => out)
    .map(({ name, reasons }) => [name, reasons.map((one) => reasonWords(one)).join('; ')])
  expect(details).not.toEqual([])
  for (const [, detail] of details)
    expect(detail).toMatch(/; (not ready in time|the image cannot be started|no proof of the restart)/)
})

test('a pod that is gone, and that a later process of its workload alone is at work with, needs nobody', async () => {
  const stage = await open({ readyAfterMs: 30_000, balancers: [plainBalancer({ longestRequestMs: 6_000 })] }, 4)
  const first = stage.start(upgrade('v2', BOTH))
  await stage.until(() => isIn('emptying', POD)(first))
  first.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, POD)
  await stage.pass(1_000)
  const second = stage.start(upgrade('v2', BOTH, { readyDeadlineMs: 3_000 }))
  expect(await ended(stage, second)).toMatchObject({ outcome: 'needsOperator' })
  const person = async () =>
    (await statusOf(stage)).flatMap(({ name, attempt, needsOperator }) =>
      name === POD && attempt === null ? [needsOperator !== undefined] : [],
    )
  expect(await person(), 'control: before that').toEqual([true])
  await stage.pass(40_000)
  const third = stage.start(upgrade('v2', [NAME]))
  await stage.until(() => isIn('settling')(third))
  expect(await person()).toEqual([false])
})
