import { expect, test } from 'vitest'
import type { LoadBalancer } from '../../src/engine/request.ts'
import type { RunRequest } from '../../src/engine/run.ts'
import { prepareRun } from '../../src/engine/run.ts'
import { podView } from '../../src/pods/view.ts'
import { imageOf } from './manifests.ts'
import { plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/* The config drops a load balancer that earlier runs of the workload used, and that still sends requests. */

const openScene = (): Promise<Stage> =>
  openStage(plainScene({ pods: 2, balancers: [plainBalancer(), plainBalancer({ name: 'inner' })] }))

/** Starts a run with a config that has only some of the load balancers. */
function startWith(stage: Stage, request: RunRequest, isThere: (one: LoadBalancer) => boolean): Actor {
  return stage.start(request, (ports) =>
    prepareRun(request, { ...ports, loadBalancers: ports.loadBalancers.filter((one) => isThere(one)) }),
  )
}

const all = (): boolean => true
const withoutEdge = ({ name }: LoadBalancer): boolean => name !== 'edge'

function tagsOf(stage: Stage): string[] {
  return stage.world.pods().map((raw) => podView(raw).containers.find(({ name }) => name === 'app')!.image)
}

const effectsOf = ({ history }: Stage, balancer: string): number =>
  history.filter((entry) => entry.type === 'effect' && entry.balancer === balancer).length

test('the run is refused before anything is touched, and goes on with the consent, which later runs need no more', async () => {
  const stage = await openScene()
  const first = await ended(stage, startWith(stage, upgradeTo('v2'), all))
  expect(first.outcome).toBe('done')
  const effects = [effectsOf(stage, 'edge'), effectsOf(stage, 'inner')]
  expect(effects).toEqual([4, 4])

  const refused = await ended(stage, startWith(stage, upgradeTo('v1'), withoutEdge))
  expect(refused.outcome).toBe('refused')
  expect(refused.reason).toMatch(
    /^the config does not have the load balancer "edge", where run \w+ had 2 pods of statefulset\/\w+ on record: /,
  )
  expect(tagsOf(stage)).toEqual([imageOf('v2'), imageOf('v2')])
  expect([effectsOf(stage, 'edge'), effectsOf(stage, 'inner')]).toEqual(effects)

  const consenting = { ...upgradeTo('v1'), retiredLoadBalancers: ['edge'] }
  const retired = startWith(stage, consenting, withoutEdge)
  expect((await ended(stage, retired)).outcome).toBe('done')
  const again = await ended(stage, startWith(stage, upgradeTo('v2'), withoutEdge))
  expect(again.outcome).toBe('done')
  expect([effectsOf(stage, 'edge'), effectsOf(stage, 'inner')]).toEqual([4, 12])

  // The load balancer is used again, and dropped again.
  expect((await ended(stage, startWith(stage, upgradeTo('v1'), all))).outcome).toBe('done')
  expect((await ended(stage, startWith(stage, upgradeTo('v2'), withoutEdge))).outcome).toBe('refused')
})

test('the consent is in the record from the first write: the same command goes on after a crash without it', async () => {
  const stage = await openScene()
  expect((await ended(stage, startWith(stage, upgradeTo('v2'), all))).outcome).toBe('done')
  const crashed = startWith(stage, { ...upgradeTo('v1'), retiredLoadBalancers: ['edge'] }, withoutEdge)
  await stage.until(() => isIn('emptying')(crashed))
  crashed.host.kill()
  const { outcome } = await ended(stage, startWith(stage, upgradeTo('v1'), withoutEdge))
  expect([outcome, tagsOf(stage)]).toEqual(['done', [imageOf('v1'), imageOf('v1')]])
})

test('where nothing is to leave rotation it is not asked for', async () => {
  const stage = await openScene()
  expect((await ended(stage, startWith(stage, upgradeTo('v2'), all))).outcome).toBe('done')
  expect((await ended(stage, startWith(stage, upgradeTo('v2'), withoutEdge))).outcome).toBe('done')
})
