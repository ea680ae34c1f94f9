import { expect, test } from 'vitest'
import { AdapterError } from '../../adapters/contract.ts'
import type { LoadBalancer } from '../../src/engine/request.ts'
import { prepareRun } from '../../src/engine/run.ts'
import { podView } from '../../src/pods/view.ts'
import { imageOf } from './manifests.ts'
import { plainBalancer, plainScene } from './scene.ts'
import type { Stage } from './stage.ts'
import { openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/* Load balancers that are drained one after another: `drain.order` of the config. */

const ORDER = ['edge', 'middle', 'inner']

const openScene = (): Promise<Stage> =>
  openStage(plainScene({ pods: 2, balancers: ORDER.map((name, turn) => plainBalancer({ name, turn })) }))

async function upgraded(stage: Stage, change: (one: LoadBalancer) => LoadBalancer = (one) => one) {
  const request = upgradeTo('v2')
  const actor = stage.start(request, (ports) => prepareRun(request, { ...ports, loadBalancers: ports.loadBalancers.map(change) }))
  return ended(stage, actor)
}

/** Returns the changes of the entries, each as `drain edge`, by pod. */
function effectsOf({ history }: Stage): string[][] {
  const effects = history.flatMap((one) => (one.type === 'effect' ? [one] : []))
  const byTarget = Map.groupBy(effects, ({ target }) => target)
  return [...byTarget.values()].map((own) => own.map(({ effect, balancer }) => `${effect} ${balancer}`))
}

const imagesOf = ({ world }: Stage): string[] =>
  world.pods().map((raw) => podView(raw).containers.find(({ name }) => name === 'app')!.image)

test('each is drained after those before it, and restored in reverse', async () => {
  const stage = await openScene()
  expect((await upgraded(stage)).outcome).toBe('done')
  const drained = ORDER.map((name) => `drain ${name}`)
  const restored = ORDER.toReversed().map((name) => `restore ${name}`)
  const each = [...drained, ...restored]
  expect(effectsOf(stage)).toEqual([each, each])
})

test('where the third drain is refused, the first two are put back, and the pod is as it was', async () => {
  const stage = await openScene()
  const refuses = (one: LoadBalancer): LoadBalancer => {
    if (one.name !== 'inner') return one
    const error = new AdapterError('inner', 'fatal', 'no right to drain')
    return { ...one, adapter: { ...one.adapter, drain: () => Promise.reject(error) } }
  }
  expect((await upgraded(stage, refuses)).outcome).toBe('failed')
  const [own, ...others] = effectsOf(stage)
  expect(others).toEqual([])
  expect(own!.filter((effect) => !effect.endsWith('inner'))).toEqual([
    'drain edge',
    'drain middle',
    'restore middle',
    'restore edge',
  ])
  expect(own!.filter((effect) => effect.startsWith('drain inner'))).toEqual([])
  expect(imagesOf(stage)).toEqual([imageOf('v1'), imageOf('v1')])
})
