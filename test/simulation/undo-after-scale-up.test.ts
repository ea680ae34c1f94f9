import { reasonWords } from '../../src/report/words/words.ts'
import { expect, test } from 'vitest'
import { podView } from '../../src/pods/view.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'

/* A pod that was made from the template of a release, without the run, stays on its images at the undo. */

const V2 = { images: [{ container: 'app', image: imageOf('v2') }] }
const WORDS =
  `1 of 3 pods of statefulset/${NAME} runs the images of run RUN and stays on them, since that had nothing to do with it; ` +
  `once the template is back, sluice upgrade statefulset/${NAME} -n ${NAMESPACE} brings it to that`

async function done(stage: Stage, actor: Actor): Promise<string> {
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject({ outcome: 'done' })
  return actor.end!.reason
}

function warningsOf({ events }: Actor): string[] {
  return events.flatMap((event) => (event.type === 'planned' ? event.plan.warnings.map((one) => reasonWords(one)) : []))
}

function tags({ world }: Stage): string[] {
  const pods = world.pods().map(podView)
  return pods.toSorted((a, b) => (a.name < b.name ? -1 : 1)).map(({ containers }) => containers.at(-1)!.image)
}

// The pod is not counted among the pods that already have the wanted images.
test('it is told by the plan and by how the run has ended, and the command for it brings it to the template', async () => {
  const stage = await openStage(plainScene({ pods: 2, readyAfterMs: 1_000 }))
  const release = stage.start(V2)
  await done(stage, release)
  const path = `/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets/${NAME}`
  await stage.ask(stage.client.patch(path, [{ op: 'replace', path: '/spec/replicas', value: 3 }]))
  await stage.until(
    () =>
      stage.world
        .pods()
        .map(podView)
        .filter(({ ready }) => ready).length === 3,
  )
  expect(tags(stage)).toEqual([imageOf('v2'), imageOf('v2'), imageOf('v2')])

  const { run } = release.events.find((event) => event.type === 'started')!
  const words = WORDS.replace('RUN', run)
  const undo = stage.start({ undo: {}, allowUnbalanced: true })
  expect(await done(stage, undo)).toBe(`2 upgraded, 0 at the wanted images already, 1 left as it is; ${words}`)
  expect(warningsOf(undo)).toContain(words)
  expect(tags(stage)).toEqual([imageOf('v1'), imageOf('v1'), imageOf('v2')])

  await done(stage, stage.start({ images: [], allowUnbalanced: true }))
  expect(tags(stage)).toEqual([imageOf('v1'), imageOf('v1'), imageOf('v1')])
  const again = stage.start({ undo: { run }, allowUnbalanced: true })
  expect(await done(stage, again)).toBe('0 upgraded, 2 at the wanted images already, 1 left as it is')
  expect(warningsOf(again)).toEqual([])
})
