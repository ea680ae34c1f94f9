import { expect, test } from 'vitest'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { upgradeTo } from './story.ts'

/*
 * A busy API server puts off lists (429) before other requests. A deadline that lists everything again must not give up the watches for it.
 */

test('an API server that puts off lists, and nothing else, is no reason to fail a pod', async () => {
  const settings = { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 }, restartDeadlineMs: 60_000, onFailure: 'rollback' as const }
  const drains = plainBalancer({ weights: [1, 1], longestRequestMs: 20_000 })
  const stage = await openStage(plainScene({ pods: 2, settings, balancers: [drains] }))
  stage.world.cluster.setImage(imageOf('v2'), { digest: 'sha256:2', readyAfterMs: 2_000, pull: { ms: 75_000 } })
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('restarting', `${NAME}-0`)(actor))
  const restartsAt = actor.host.clock.now()
  await stage.until(() => isIn('patching', `${NAME}-1`)(actor))
  // The pod gets ready after the deadline of the other pod.
  const pullMs = restartsAt + 60_000 - actor.host.clock.now()
  stage.world.cluster.setImage(imageOf('v2'), { digest: 'sha256:2', readyAfterMs: 10_000, pull: { ms: pullMs } })
  const refused = putOffLists(stage)
  await stage.until(() => actor.end !== undefined)
  expect(actor.end?.outcome).toBe('rolledBack')
  // Only a few lists are sent, beside the silent watches, which go on.
  expect(refused()).toBeLessThan(10)
  const ends = Object.fromEntries(actor.end!.pods.map(({ pod, outcome }) => [pod, outcome]))
  expect(ends).toEqual({ 'web-0': 'rolledBack', 'web-1': 'upgraded' })
})

// The deadline of a pod that is no replacement asks for lists.
test('lists that are put off blind nobody: the watches go on', async () => {
  const settings = { ...PLAIN_SETTINGS, maxUnavailable: { count: 2 }, readyDeadlineMs: 20_000, onFailure: 'rollback' as const }
  const stage = await openStage(plainScene({ pods: 2, settings, balancers: [plainBalancer({ weights: [1, 1] })] }))
  const pull = (ms: number): void =>
    stage.world.cluster.setImage(imageOf('v2'), { digest: 'sha256:2', readyAfterMs: 1_000, pull: { ms } })
  pull(40_000)
  const actor = stage.start(upgradeTo('v2', settings))
  await stage.until(() => isIn('restarting', `${NAME}-0`)(actor) && isIn('restarting', `${NAME}-1`)(actor))
  await stage.pass(2_000)
  const refused = putOffLists(stage)
  pull(300_000)
  stage.world.cluster.deletePod(NAMESPACE, `${NAME}-0`, { force: true })
  await stage.until(() => actor.end !== undefined)
  const ends = Object.fromEntries(actor.end!.pods.map(({ pod, outcome }) => [pod, outcome]))
  expect(ends).toEqual({ 'web-0': 'needsOperator', 'web-1': 'upgraded' })
  expect(refused()).toBeGreaterThan(0)
  expect(refused()).toBeLessThan(20)
})

/** Refuses all lists for good. Returns a function that counts the refused lists. */
function putOffLists(stage: Stage): () => number {
  const { arrive } = stage.world
  let refused = 0
  stage.world.arrive = (request, by, leftAt) => {
    if (!request.path.includes('limit=')) return arrive(request, by, leftAt)
    refused += 1
    return { status: 429, headers: { 'retry-after': '1' }, text: '{"kind":"Status","reason":"TooManyRequests"}' }
  }
  return () => refused
}
