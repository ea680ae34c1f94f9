import { afterAll, afterEach, expect, it } from 'vitest'
import { namespace, statefulSet } from './manifests.ts'
import { outcomes, reached, standings, story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { SluiceExit, SluiceProcess, UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'
import { removeNamespace, waitForPods } from './workloads.ts'

/** The absence exceeds the duration of a Lease. Its owner is then unknown, which does not mean that it has another owner (decision 34). */
const AWAY_MS = 20_000
const UNTOUCHED = { 'web-1': ['unchanged'], 'web-0': ['unchanged'] }

describeOnCluster('the API server is away for longer than a Lease lives', (cluster) => {
  let running: UpgradeBed | undefined

  afterEach(async () => {
    await running?.stop()
    running = undefined
  })

  // The watches of the scheduler return as late, and later tests need the scheduler.
  afterAll(async () => {
    const { api } = cluster()
    const ns = 'after-api-away'
    await api.apply(namespace(ns), statefulSet({ name: 'web', namespace: ns, replicas: 1, readyAfter: 0 }))
    await waitForPods(api, ns, 'web', 1, { timeoutMs: 180_000 })
    await removeNamespace(api, ns)
  })

  async function start(name: string, readyAfter = 1): Promise<UpgradeBed> {
    const web = statefulSet({ name: 'web', namespace: name, readyAfter })
    return (running = await startUpgradeBed(cluster(), { name, objects: [web], app: 'web', count: 3 }))
  }

  /** Makes the API server unavailable while web-2 is put back. sluice is stopped until the API server is down. */
  async function awayAsItIsPutBack(run: SluiceProcess): Promise<SluiceExit> {
    await reached(run, 'web-2', 'restoring')
    run.child.kill('SIGSTOP')
    let isOver = false
    const restarted = cluster().apiServer.restart(AWAY_MS)
    const exit = run.exit.finally(() => (isOver = true))
    await refused()
    run.child.kill('SIGCONT')
    await restarted
    expect(isOver, 'ended while the API server was away').toBe(false)
    const ended = await exit
    // The watches of these components return up to a minute late.
    await cluster().controllerManager.restart()
    await cluster().kubelet.restart()
    return ended
  }

  async function refused(): Promise<void> {
    const { api } = cluster()
    await api.waitFor(
      'an API server that is away',
      () =>
        api.list('Namespace').then(
          () => false,
          () => true,
        ),
      (isAway) => isAway,
    )
  }

  /** Expects the old image in the template, the given images in the pods, and one drain and one restore of the pod that was begun. */
  async function expectTemplateBack(bed: UpgradeBed, images: string[]): Promise<void> {
    const { spec } = await cluster().api.get('StatefulSet', 'web', bed.namespace)
    expect(spec.template.spec.containers[0].image).toBe('localhost/app:v1')
    const pods = await bed.pods()
    const byName = pods.toSorted((a, b) => (a.metadata.name < b.metadata.name ? 1 : -1))
    expect(byName.map((pod) => pod.spec.containers[0].image)).toEqual(images)
    expect(bed.effects()).toEqual({ 'web-2': ['drain', 'ready'] })
  }

  it('as the last pod of an abort comes home: the template is put back', async () => {
    // The delay lets the order arrive before the pod comes home.
    const bed = await start('away-abort', 8)
    const before = await standings(bed)
    const traffic = await bed.traffic()
    const run = bed.start(['upgrade', 'sts/web', 'app=localhost/app:v2'])
    await reached(run, 'web-2', 'restarting')
    const ordering = bed.start(['abort', 'sts/web', '-o', 'json'], { jsonl: false })
    await run.seen(({ type }) => type === 'ordered')
    const exit = await awayAsItIsPutBack(run)
    expect(exit.code, story(exit)).toBe(6)
    expect(outcomes(exit.result)).toEqual({ 'web-2': ['upgraded'], ...UNTOUCHED })
    // The waiting abort command reports that the end of the run is unknown, and how to ask again.
    expect(await ordering.exit).toMatchObject({ code: 4, stderr: expect.stringContaining('An order that was given stands') })
    const again = await bed.start(['abort', 'sts/web', '-o', 'json'], { jsonl: false }).exit
    expect([again.code, JSON.parse(again.stdout).outcome], again.stderr).toEqual([0, 'none'])
    await expectTemplateBack(bed, ['localhost/app:v2', 'localhost/app:v1', 'localhost/app:v1'])
    expect(await standings(bed)).toEqual(before)
    expect((await traffic.stop()).failed).toBe(0)
  })

  it('as a pod comes home that is rolled back: the template is put back', async () => {
    const bed = await start('away-rollback')
    const before = await standings(bed)
    const traffic = await bed.traffic()
    const run = bed.start(['upgrade', 'sts/web', 'app=localhost/app:bad', '--on-failure', 'rollback', '--restart-deadline', '3s'])
    const exit = await awayAsItIsPutBack(run)
    expect(exit.code, story(exit)).toBe(6)
    expect(outcomes(exit.result)).toEqual({ 'web-2': ['rolledBack'], ...UNTOUCHED })
    await expectTemplateBack(bed, ['localhost/app:v1', 'localhost/app:v1', 'localhost/app:v1'])
    expect(await standings(bed)).toEqual(before)
    expect((await traffic.stop()).failed).toBe(0)
  })
})
