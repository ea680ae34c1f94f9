import { POD } from '../../src/workloads/kinds/pod.ts'
import { reasonWords } from '../../src/report/words/words.ts'
import { expect, test } from 'vitest'
import { asksFor } from '../../src/pods/baseline.ts'
import { podView } from '../../src/pods/view.ts'
import { listLedgers } from '../../src/engine/ledgers/list-ledgers.ts'
import { imageOf, NAME, NAMESPACE, PORT } from './manifests.ts'
import { PLAIN_SETTINGS, plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, isReady, openStage } from './stage.ts'

/* A pod that has failed goes away before it has come to its end. Its run has failed all the same, although the pod needs no rollback. */

const toTag = (tag: string) => ({ images: [{ container: 'app', image: imageOf(tag) }] })

const ROLLS_BACK = {
  ...toTag('crash'),
  settings: { ...PLAIN_SETTINGS, onFailure: 'rollback', restartDeadlineMs: 20_000, readyDeadlineMs: 20_000 },
} as const

async function endOf(stage: Stage, actor: Actor): Promise<Actor['end']> {
  await stage.until(() => actor.end !== undefined)
  return actor.end
}

async function isRunOpen({ ask, client }: Stage): Promise<boolean> {
  const found = await ask(listLedgers(client, NAMESPACE))
  return found.some((one) => one.kind === 'read' && one.ledger.header.finishedAt === undefined)
}

function templateImage({ world: { server } }: Stage): string {
  const found = server.store.list('statefulsets.apps', NAMESPACE)[0]! as unknown as {
    spec: { template: { spec: { containers: { name: string; image: string }[] } } }
  }
  return found.spec.template.spec.containers.find(({ name }) => name === 'app')!.image
}

const imagesAre = ({ world }: Stage, tag: string): boolean =>
  world.pods().every((pod) => asksFor(podView(pod), toTag(tag).images))

// The failed run must not end as done, and its template must not keep images that crash.
test.each([1, 2])(
  'a pod goes on its way back to its former images, and its entry with it: the template goes back, and an undo brings what has come in its place there (of %d)',
  async (pods) => {
    const stage = await openStage(plainScene({ pods, readyAfterMs: 1_000 }))
    const first = stage.start(ROLLS_BACK)
    await stage.until(() => isIn('rollingBack')(first))
    const pod = `${NAME}-${pods - 1}`
    stage.world.cluster.deletePod(NAMESPACE, pod)
    stage.world.balancers.get('edge')!.operator.remove(pod)
    expect(await endOf(stage, first)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringMatching(new RegExp(`^${pod}: .*CrashLoopBackOff.*; gone, and its entry was removed`)),
    })
    expect([templateImage(stage), await isRunOpen(stage)]).toEqual([imageOf('v1'), true])
    await stage.until(() => stage.world.pods().length === pods)
    expect(imagesAre(stage, 'v1')).toBe(false)
    const undo = stage.start({ undo: {}, allowUnbalanced: true, settings: ROLLS_BACK.settings })
    expect(await endOf(stage, undo)).toMatchObject({ outcome: 'done' })
    expect([imagesAre(stage, 'v1'), stage.world.pods().every(isReady)]).toEqual([true, true])
  },
)

// A pod that the template has made and that was never ready is not upgraded.
test.each(['bad', 'crash'])('what the template has made meanwhile, and was never ready, does not keep it on %s', async (tag) => {
  const stage = await openStage(plainScene({ pods: 3 }))
  const run = stage.start({ ...ROLLS_BACK, ...toTag(tag) })
  await stage.until(() => isIn('restarting', `${NAME}-2`)(run))
  stage.world.cluster.evict(NAMESPACE, `${NAME}-0`)
  const end = await endOf(stage, run)
  expect([end?.outcome, templateImage(stage)]).toEqual(['rolledBack', imageOf('v1')])
  const made = end?.pods.filter(({ pod, outcome }) => pod === `${NAME}-0` && outcome === 'skipped')
  expect(made).toMatchObject([{ reason: 'it has the wanted images already, and is not ready' }])
  expect(run.events.flatMap((event) => (event.type === 'warning' ? [reasonWords(event.reason)] : []))).toContain(
    `${NAME}-0: made from the template before that went back, and not ready on the new images: sluice undo takes it back`,
  )
  const undo = stage.start({ undo: {}, settings: ROLLS_BACK.settings })
  expect(await endOf(stage, undo)).toMatchObject({ outcome: 'done' })
  expect([imagesAre(stage, 'v1'), stage.world.pods().every(isReady)]).toEqual([true, true])
})

// The replacement has another name, and its run is only about the lost pod. It does not justify keeping images that crash.
test('the same, of a run about that pod alone, and what comes in its place has another name', async () => {
  const stage = await openStage(plainScene({ workload: 'DaemonSet', pods: 2, readyAfterMs: 1_000 }))
  const pod = podView(stage.world.pods()[0]!).name
  const first = stage.start({ ...ROLLS_BACK, select: { refs: [{ ...POD, name: pod }] } })
  await stage.until(() => isIn('rollingBack')(first))
  stage.world.balancers.get('edge')!.operator.remove(pod)
  stage.world.cluster.deletePod(NAMESPACE, pod)
  expect(await endOf(stage, first)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('CrashLoopBackOff') })
  const found = stage.world.server.store.list('daemonsets.apps', NAMESPACE)[0]! as unknown as {
    spec: { template: { spec: { containers: { name: string; image: string }[] } } }
  }
  expect(found.spec.template.spec.containers.map(({ image }) => image)).toContain(imageOf('v1'))
})

test('the same, of a pod that is in no load balancer', async () => {
  const stage = await openStage(plainScene({ pods: 1, readyAfterMs: 1_000 }))
  stage.world.balancers.get('edge')!.operator.remove(`${NAME}-0`)
  const first = stage.start({ ...ROLLS_BACK, allowUnbalanced: true })
  await stage.until(() => isIn('rollingBack')(first))
  stage.world.cluster.deletePod(NAMESPACE, `${NAME}-0`)
  expect(await endOf(stage, first)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('CrashLoopBackOff') })
  expect([templateImage(stage), await isRunOpen(stage)]).toEqual([imageOf('v1'), true])
})

// The failed run does not begin the replacement, and must not end as done with its only pod on the old images.
test('the pod of a Deployment misses its drain deadline, and goes as it is put back: what has come in its place is not begun', async () => {
  const stage = await openStage(
    plainScene({ workload: 'Deployment', pods: 1, balancers: [plainBalancer({ longestRequestMs: 10_000 })] }),
  )
  const request = { ...toTag('v2'), acceptTemplateDrift: true, settings: { ...PLAIN_SETTINGS, drainDeadlineMs: 5_000 } }
  const first = stage.start(request)
  await stage.until(() => isIn('emptying')(first))
  await stage.pass(500)
  const { name, uid } = podView(stage.world.pods()[0]!)
  stage.world.cluster.unready(NAMESPACE, name, 'app', 60_000)
  await stage.until(() => isIn('readmitting')(first))
  stage.world.cluster.deletePod(NAMESPACE, name, { force: true })
  const edge = stage.world.balancers.get('edge')!
  edge.operator.remove(name)
  const heir = () =>
    stage.world
      .pods()
      .map(podView)
      .find((pod) => pod.uid !== uid && pod.ip !== undefined)
  await stage.until(() => heir() !== undefined)
  edge.operator.add({ name: heir()!.name, address: heir()!.ip!, port: PORT, weight: 1, admin: 'ready' })
  expect(await endOf(stage, first)).toMatchObject({
    outcome: 'deadline',
    reason: expect.stringMatching(
      new RegExp(`^${name}: not empty in time.*; not begun: ${heir()!.name}, since a pod failed that is gone by now$`),
    ),
  })
  expect(await isRunOpen(stage)).toBe(true)
  await stage.until(() => isReady(stage.world.pods()[0]!))
  const again = stage.start({ ...request, settings: { ...PLAIN_SETTINGS, drainDeadlineMs: 30_000 } })
  expect(await endOf(stage, again)).toMatchObject({ outcome: 'done', reason: expect.stringMatching(/^1 upgraded/) })
  expect([imagesAre(stage, 'v2'), await isRunOpen(stage)]).toEqual([true, false])
})

// The end of the run reports a replacement that never starts.
test('the only pod is replaced before its turn, and what comes in its place never starts: how the run ended says so', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const run = stage.start(toTag('bad'))
  await stage.until(() => run.events.some(({ type }) => type === 'template'))
  stage.world.cluster.deletePod(NAMESPACE, `${NAME}-0`)
  const reason =
    /^0 upgraded, \d at the wanted images already; (not ready at its end: pod web-0|statefulset\/web has 0 of its 1 pods( \(web-0 is Terminating, .*\))?)$/
  expect(await endOf(stage, run)).toMatchObject({ outcome: 'done', reason: expect.stringMatching(reason) })
  await stage.pass(60_000)
  const again = await endOf(stage, stage.start(toTag('bad')))
  expect(again?.reason).toBe('0 upgraded, 1 at the wanted images already; not ready at its end: pod web-0')
})
