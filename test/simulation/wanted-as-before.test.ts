import { expect, test } from 'vitest'
import { imageOf } from './manifests.ts'
import { plainScene } from './scene.ts'
import { isIn, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

test('a pod that a run was killed with as it put it back, untouched, is brought home by one that asks for the images that it has', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const effects = (): unknown[] => stage.history.flatMap((entry) => (entry.type === 'effect' ? [entry.effect] : []))
  const first = stage.start(upgradeTo('v2'))
  await stage.until(() => isIn('emptying')(first))
  first.interrupt()
  await stage.until(() => effects().includes('restore'))
  first.host.kill()
  const second = stage.start(upgradeTo('v1'))
  expect(await ended(stage, second)).toMatchObject({ outcome: 'done' })
  const results = second.events.flatMap((event) => (event.type === 'podFinished' ? [event.result] : []))
  expect(results).toMatchObject([
    { pod: 'web-0', outcome: 'skipped', reason: { code: 'runs-wanted-images' }, traffic: 'asBefore', record: 'closed' },
  ])
  expect(effects()).toEqual(['drain', 'restore'])
  expect(stage.world.balancers.get('edge')!.state('web-0')).toMatchObject({ admin: 'ready' })
  const [pod] = stage.world.pods() as unknown as [{ spec: { containers: { image: string }[] } }]
  expect(pod.spec.containers[0]!.image).toBe(imageOf('v1'))
})
