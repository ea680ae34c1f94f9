import { expect, test } from 'vitest'
import { withObservation } from '../../src/observation/testing/with-observation.ts'
import { prepareRun } from '../../src/engine/run.ts'
import { podView } from '../../src/pods/view.ts'
import { NAME, NAMESPACE } from './manifests.ts'
import { plainScene } from './scene.ts'
import { isIn, isReady, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/*
 * The API server goes away after a run is on record, or after its template has its images, and before its first pod. The end of the run
 * says neither that nothing was touched nor that the run failed.
 */

test.each([
  { forMs: 4_000, tag: 'v2', outcome: 'done' },
  { forMs: 60_000, tag: 'v2', outcome: 'deadline' },
  { forMs: 60_000, tag: 'v3', outcome: 'deadline' },
])('the API server is away for $forMs ms as a run looks for what is gone, on $tag: $outcome', async ({ forMs, tag, outcome }) => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const pod = `${NAME}-1`
  const first = stage.start(upgradeTo('v2'))
  await stage.until(() => isIn('emptying', pod)(first))
  first.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, pod, { force: true })
  await stage.until(() => stage.world.pods().length === 2 && stage.world.pods().every(isReady))
  const heir = stage.world.pods().find(({ metadata }) => metadata.name === pod)!
  stage.world.balancers.get('edge')!.operator.set(pod, { address: podView(heir).ip! })
  const request = upgradeTo(tag)
  let isOnRecord = false
  let isAway = false
  const next = stage.start(request, (ports) => {
    const { client } = ports
    const create: typeof client.create = (path, ...rest) => {
      isOnRecord ||= path.endsWith('/configmaps')
      return client.create(path, ...rest)
    }
    const patch: typeof client.patch = (path, ...rest) => {
      isOnRecord ||= path.includes('/configmaps/')
      return client.patch(path, ...rest)
    }
    const get: typeof client.get = (path, ...rest) => {
      if (isOnRecord && !isAway && path.endsWith(`/pods/${pod}`)) {
        isAway = true
        stage.stopApiServer(forMs)
      }
      return client.get(path, ...rest)
    }
    return prepareRun(request, withObservation({ ...ports, client: { ...client, create, patch, get } }))
  })
  const end = await ended(stage, next)
  expect([isAway, end.outcome]).toEqual([true, outcome])
  if (outcome !== 'deadline') return
  await stage.pass(forMs)
  expect(await ended(stage, stage.start(request))).toMatchObject({ outcome: 'done' })
})
