import { afterEach, expect, it } from 'vitest'
import type { KubeObject } from './kube-api.ts'
import { statefulSet } from './manifests.ts'
import { longRequests, outcomes, reached, standings, story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

describeOnCluster('a template that somebody edits in the middle of a run', (cluster) => {
  let running: UpgradeBed | undefined

  afterEach(async () => {
    await running?.stop()
    running = undefined
  })

  // A pod that is drained but not patched goes back as it was. A patched pod comes home on its new image.
  for (const [moment, outcome, image] of [
    ['emptying', 'unchanged', 'localhost/app:v1'],
    ['restarting', 'upgraded', 'localhost/app:v2'],
  ] as const) {
    it(`stops the run with 7 and leaves nothing out (${moment})`, async () => {
      const name = `drift-${moment}`
      const web = statefulSet({ name: 'web', namespace: name, readyAfter: 1 })
      const bed = await startUpgradeBed(cluster(), { name, objects: [web], app: 'web', count: 3 })
      running = bed
      const before = await standings(bed)
      const traffic = await bed.traffic(moment === 'emptying' ? longRequests : {})
      const run = bed.start(['upgrade', 'sts/web', 'app=localhost/app:v2'])
      await reached(run, 'web-2', moment)
      await cluster().api.patch('StatefulSet', 'web', name, [
        { op: 'add', path: '/spec/template/spec/containers/0/env/-', value: { name: 'EDITED', value: 'yes' } },
      ])
      const exit = await run.exit
      expect(exit.code, story(exit)).toBe(7)
      const { result } = exit
      expect(result?.reason).toMatchObject({ message: expect.stringMatching(/statefulset\/web|template/) })
      expect(outcomes(result)).toEqual({ 'web-2': [outcome], 'web-1': ['unchanged'], 'web-0': ['unchanged'] })
      expect(bed.effects()).toEqual({ 'web-2': ['drain', 'ready'] })
      expect(await standings(bed)).toEqual(before)
      const images = (await bed.pods()).map(({ spec }: KubeObject) => spec.containers[0].image)
      expect(images).toEqual(['localhost/app:v1', 'localhost/app:v1', image])
      const { failed, byKind } = await traffic.stop()
      expect(failed, JSON.stringify(byKind)).toBe(0)
    })
  }
})
