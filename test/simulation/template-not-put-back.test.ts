import { expect, test } from 'vitest'
import { giveOrder } from '../../src/engine/orders/give-order.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import { listLedgers } from '../../src/engine/ledgers/list-ledgers.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/* The right to write the template is removed during a run that has to put the template back at its end. */

const BECAUSE = { code: 'not-allowed', verbs: ['patch'], resource: 'statefulsets.apps', namespace: NAMESPACE }

const takeTheRight = ({ world }: Stage): void =>
  world.server.authorize((_by, { verb, resource }) => verb !== 'patch' || resource !== 'statefulsets')

function templateImage({ world: { server } }: Stage): string {
  const [found] = server.store.list('statefulsets.apps', NAMESPACE) as unknown as [
    { spec: { template: { spec: { containers: { image: string }[] } } } },
  ]
  return found.spec.template.spec.containers[0]!.image
}

async function openRuns({ ask, client }: Stage): Promise<string[]> {
  const found = await ask(listLedgers(client, NAMESPACE))
  return found.flatMap((one) =>
    one.kind === 'read' && one.ledger.header.finishedAt === undefined ? [one.ledger.header.run] : [],
  )
}

const reasons = ({ events }: Actor): unknown[] => events.flatMap((event) => (event.type === 'warning' ? [event.reason] : []))

test('a pod is rolled back: the run says that the template has the image still that failed, and an undo takes that away', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const settings = { onFailure: 'rollback', restartDeadlineMs: 20_000, readyDeadlineMs: 20_000 } as const
  const run = stage.start(upgradeTo('crash', settings))
  await stage.until(() => isIn('rollingBack')(run))
  takeTheRight(stage)
  expect(await ended(stage, run)).toMatchObject({ outcome: 'rolledBack' })
  expect(reasons(run)).toContainEqual({ code: 'template-not-put-back', workload: `statefulset/${NAME}`, because: BECAUSE })
  expect(templateImage(stage)).toBe(imageOf('crash'))
  stage.world.server.authorize(() => true)
  const undo = stage.start({ ...upgradeTo('v1'), images: [], undo: {} })
  expect((await ended(stage, undo)).outcome).toBe('done')
  expect(templateImage(stage)).toBe(imageOf('v1'))
})

test('an abort is not over: its run stays open, and the same command ends it once the right is there', async () => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const request = upgradeTo('v2')
  const run = stage.start(request)
  await stage.until(() => isIn('emptying')(run))
  takeTheRight(stage)
  const open = await stage.ask(readOpenRuns(stage.client, { namespace: NAMESPACE, select: request.select }))
  await stage.ask(giveOrder(open, { order: 'abort', by: 'ann@desk' }, { client: stage.client, namespace: NAMESPACE }))
  expect((await ended(stage, run)).outcome).toBe('failed')
  expect(run.events.findLast(({ type }) => type === 'finished')).toMatchObject({
    result: { reason: { code: 'template-not-put-back', because: BECAUSE } },
  })
  expect([templateImage(stage), await openRuns(stage)]).toEqual([imageOf('v2'), open.runs.map(({ run: id }) => id)])
  stage.world.server.authorize(() => true)
  expect((await ended(stage, stage.start(request))).outcome).toBe('aborted')
  expect([templateImage(stage), await openRuns(stage)]).toEqual([imageOf('v1'), []])
})
