import { expect, test } from 'vitest'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import { openStage } from './stage.ts'
import { ended } from './story.ts'

/* `minReadySeconds` of the workload is the least for which a pod has to be ready before it is put back, and the next one begins. */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }

async function upgraded(minReadySeconds: number, readyForMs: number) {
  const stage = await openStage(plainScene({ pods: 2 }))
  stage.world.server.store.update(
    'statefulsets.apps',
    NAMESPACE,
    NAME,
    (now) => ({ ...now, spec: { ...(now['spec'] as object), minReadySeconds } }),
    'operator',
  )
  const run = stage.start({ ...V2, settings: { ...PLAIN_SETTINGS, readyForMs } })
  const { outcome, pods = [] } = await ended(stage, run)
  const said = run.events.flatMap((event) =>
    event.type === 'podDetail' ? [event.detail] : event.type === 'podState' ? [event.reason] : [],
  )
  const warnings = run.events.flatMap((event) => (event.type === 'planned' ? event.plan.warnings : []))
  return { outcome, warmingMs: pods.map(({ phases }) => phases.warming ?? 0), said, warnings }
}

test('longer than readyFor, it counts, and the plan and the wait say so', async () => {
  const { outcome, warmingMs, said, warnings } = await upgraded(20, 1_000)
  expect([outcome, warmingMs.length, warmingMs.every((ms) => ms >= 20_000)]).toEqual(['done', 2, true])
  expect(said).toContain('ready, for minReadySeconds (20 s)')
  expect(warnings).toEqual([expect.stringContaining('statefulset/web has minReadySeconds')])
})

test('control: shorter than readyFor, it changes nothing', async () => {
  const { outcome, warmingMs, said, warnings } = await upgraded(2, 5_000)
  expect([outcome, warmingMs.every((ms) => ms >= 5_000 && ms < 20_000)]).toEqual(['done', true])
  expect(said).toContain('ready, for readyFor')
  expect(warnings).toEqual([])
})
