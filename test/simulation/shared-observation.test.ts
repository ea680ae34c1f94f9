import { expect, test } from 'vitest'
import type { RunResult } from '../../src/engine/events.ts'
import type { Run } from '../../src/library/run.ts'
import { type LibraryBed, openLibraryBed, REQUEST } from './library-bed.ts'
import { imageOf, NAME } from './manifests.ts'
import { addStatefulSet } from './other-workload.ts'

/* Two runs of one process, about two workloads of one namespace behind one load balancer. */

async function openBed() {
  const bed = await openLibraryBed({ pods: 2 })
  await addStatefulSet(bed.stage, 'other')
  const upgrade = (tag: string): Run[] =>
    [NAME, 'other'].map((name) =>
      bed.sluice.upgrade({ ...REQUEST, workload: `statefulset/${name}`, images: { app: imageOf(tag) } }),
    )
  return { bed, upgrade }
}

const resultsOf = ({ stage }: LibraryBed, runs: Run[]): Promise<RunResult[]> =>
  stage.ask(Promise.all(runs.map(({ result }) => result)))

/** Returns the effects of each target, in order. */
function effects({ stage }: LibraryBed): Record<string, string[]> {
  const all = stage.history.flatMap((entry) => (entry.type === 'effect' ? [entry] : []))
  const byTarget = Map.groupBy(all, ({ target }) => target)
  return Object.fromEntries(Array.from(byTarget, ([target, own]) => [target, own.map(({ effect }) => effect)]))
}

const IN_PODS = /^(list|watch)$/
/** Makes the API server refuse lists and watches of pods for `forMs`. */
async function refusePods({ stage }: LibraryBed, forMs: number): Promise<void> {
  const { server } = stage.world
  server.authorize((_by, { verb, resource }) => !(resource === 'pods' && IN_PODS.test(verb)))
  server.closeWatches()
  await stage.pass(forMs)
  server.authorize(() => true)
}

test('they share four watches, and each pod is drained and restored once', async () => {
  const { bed, upgrade } = await openBed()
  const { stage, open } = bed
  const runs = upgrade('v2')
  let most = 0
  let isOver = false
  void Promise.all(runs.map(({ result }) => result)).then(() => (isOver = true))
  await stage.until(() => {
    most = Math.max(most, open.watches)
    return isOver
  })
  expect((await resultsOf(bed, runs)).map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  expect(most).toBeLessThanOrEqual(4)
  expect(Object.values(effects(bed))).toEqual(Array.from({ length: 3 }, () => ['drain', 'restore']))
  await stage.ask(bed.sluice.close())
})

/** Starts both runs, and begins the refusal while both are under way. */
async function upgradeRefused(forMs: number) {
  const { bed, upgrade } = await openBed()
  const runs = upgrade('v2')
  await bed.stage.until(() => Object.keys(effects(bed)).length > 0)
  await refusePods(bed, forMs)
  return { bed, upgrade, results: await resultsOf(bed, runs) }
}

test('a refusal that does not last ends neither of them', async () => {
  const { bed, results } = await upgradeRefused(5_000)
  expect(results.map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  for (const own of Object.values(effects(bed))) expect(own).toEqual(['drain', 'restore'])
  await bed.stage.ask(bed.sluice.close())
})

test('a refusal that lasts ends both, and the same process goes on with them later', async () => {
  const { bed, upgrade, results } = await upgradeRefused(15_000)
  const reason = { code: 'watch-lost', because: { code: 'api-error', status: 403 } }
  expect(results).toMatchObject([
    { outcome: 'deadline', reason },
    { outcome: 'deadline', reason },
  ])
  expect((await resultsOf(bed, upgrade('v2'))).map(({ outcome }) => outcome)).toEqual(['done', 'done'])
  for (const own of Object.values(effects(bed))) expect(own).toEqual(['drain', 'restore'])
  await bed.stage.ask(bed.sluice.close())
})
