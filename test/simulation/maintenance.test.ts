import { expect, test } from 'vitest'
import { podView } from '../../src/pods/view.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { plainScene } from './scene.ts'
import type { Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/* An operator has pods in maintenance. The window behaves as the plan says. */

const PODS = 3

async function openScene(maintained: readonly number[]): Promise<Stage> {
  const stage = await openStage(plainScene({ pods: PODS }))
  for (const place of maintained) stage.world.balancers.get('edge')!.operator.set(`${NAME}-${place}`, { admin: 'maint' })
  await stage.pass(1_000)
  return stage
}

function imagesOf(stage: Stage): string[] {
  return stage.world.pods().map((raw) => podView(raw).containers.find(({ name }) => name === 'app')!.image)
}

function templateOf(stage: Stage): unknown {
  const [set] = stage.world.server.store.list('statefulsets.apps', NAMESPACE) as unknown as {
    spec: { template: { spec: { containers: { image: string }[] } } }
  }[]
  return set!.spec.template.spec.containers[0]!.image
}

const effectsOf = ({ history }: Stage): number => history.filter(({ type }) => type === 'effect').length

test('with all of them in maintenance they are upgraded one after another, and get no call', async () => {
  const stage = await openScene([0, 1, 2])
  const run = stage.start(upgradeTo('v2'))
  const end = await ended(stage, run)
  expect([end.outcome, end.pods.map(({ outcome }) => outcome)]).toEqual(['done', ['upgraded', 'upgraded', 'upgraded']])
  expect(imagesOf(stage)).toEqual(Array.from({ length: PODS }, () => imageOf('v2')))
  expect(effectsOf(stage)).toBe(0)
  const order = run.events.flatMap((event) =>
    event.type === 'podState' && (event.to === 'patching' || event.to === 'done') ? [event.to] : [],
  )
  expect(order).toEqual(['patching', 'done', 'patching', 'done', 'patching', 'done'])
  for (let place = 0; place < PODS; place++)
    expect(stage.world.balancers.get('edge')!.state(`${NAME}-${place}`)?.admin).toBe('maint')
})

test('with one of them put back the plan is refused, and nothing is touched', async () => {
  const stage = await openScene([0, 1])
  const { outcome, reason } = await ended(stage, stage.start(upgradeTo('v2')))
  expect([outcome, reason]).toEqual([
    'refused',
    `pod/${NAME}-1, pod/${NAME}-0: out of rotation by an operator, so that with maxUnavailable 1 no other pod may leave`,
  ])
  expect([templateOf(stage), effectsOf(stage)]).toEqual([imageOf('v1'), 0])
})

test('one that is put back while another is upgraded leaves rotation only when the window has a place for it', async () => {
  const stage = await openScene([0, 1, 2])
  const run = stage.start(upgradeTo('v2', { readyDeadlineMs: 60_000 }))
  await stage.until(() => isIn('restarting', `${NAME}-2`)(run))
  const { operator } = stage.world.balancers.get('edge')!
  operator.set(`${NAME}-1`, { admin: 'ready' })
  const { outcome, reason } = await ended(stage, run)
  // The other pods stay out by the operator, and fill the window for pods that serve.
  expect([outcome, reason]).toEqual(['deadline', expect.stringContaining('out by an operator')])
  expect([imagesOf(stage)[1], effectsOf(stage)]).toEqual([imageOf('v1'), 0])
})
