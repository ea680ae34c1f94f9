import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { holdBehindHaproxy } from './held-request.ts'
import type { KubeObject } from './kube-api.ts'
import { statefulSet } from './manifests.ts'
import { acceptsBeforeItEnds, killed, longRequests, outcomes, reached, standings, story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { SluiceExit, UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'
import { isReady } from './workloads.ts'
import { reasonWords } from '../../src/report/words/words.ts'

const V2 = 'app=localhost/app:v2'

describeOnCluster('a pod that is at another address, or gone, after it was drained', (cluster) => {
  let running: UpgradeBed | undefined

  afterEach(async () => {
    await running?.stop()
    running = undefined
  })

  async function start(name: string, pods: { readyAfter?: number; preStopSeconds?: number } = {}): Promise<UpgradeBed> {
    const web = statefulSet({
      name: 'web',
      namespace: name,
      readyAfter: 1,
      graceful: true,
      terminationGracePeriodSeconds: 10,
      ...pods,
    })
    return (running = await startUpgradeBed(cluster(), { name, objects: [web], app: 'web', count: 3 }))
  }

  async function expectNoFailures(traffic: Awaited<ReturnType<UpgradeBed['traffic']>>): Promise<void> {
    const { failed, byKind, failures, startedAt, requests } = await traffic.stop()
    const first = failures.slice(0, 10).map((failure) => JSON.stringify({ ...failure, at: failure.at - startedAt }))
    expect(failed, `${JSON.stringify(byKind)}, from ${new Date(startedAt).toISOString()}\n${first.join('\n')}`).toBe(0)
    expect(requests).toBeGreaterThan(0)
  }

  /** Expects that web-2 is left out and named, and nothing else is touched. */
  async function expectLeftOut(bed: UpgradeBed, exit: SluiceExit, oldAddress: string): Promise<void> {
    expect(exit.code, story(exit)).toBe(8)
    expect(exit.result?.reason).toMatchObject({ message: expect.stringContaining(`web/web-2@${oldAddress}`) })
    expect(bed.effects(), story(exit)).toEqual({ 'web-2': ['drain'] })
    expect((await standings(bed))['web-2']).toEqual({ address: oldAddress, state: 'drain', weight: 1 })
    const others = (await bed.pods()).filter(({ metadata }) => metadata.name !== 'web-2')
    expect(others.map(({ spec }) => spec.containers[0].image)).toEqual(['localhost/app:v1', 'localhost/app:v1'])
  }

  /** Points the server at the pod's new address, as an operator does, and expects that the command brings all pods home. */
  async function expectHomeOnceRepaired(bed: UpgradeBed): Promise<void> {
    const pods = await bed.pods()
    const { podIP } = pods.find(({ metadata }) => metadata.name === 'web-2').status
    await bed.haproxy.recorder.operator(`set server web/web-2 addr ${podIP} port 8080`)
    const exit = await bed.upgrade('sts/web', V2)
    expect(exit.code, story(exit)).toBe(0)
    expect(bed.effects()).toEqual({ 'web-2': ['drain', 'ready'], 'web-1': ['drain', 'ready'], 'web-0': ['drain', 'ready'] })
    expect((await standings(bed))['web-2']).toEqual({ address: `${podIP}:8080`, state: 'ready', weight: 1 })
    for (const { spec } of await bed.pods()) expect(spec.containers[0].image).toBe('localhost/app:v2')
    // No run is left open.
    const again = await bed.upgrade('sts/web', V2)
    expect(again.code, story(again)).toBe(0)
    expect(Object.values(bed.effects()).flat()).toHaveLength(6)
  }

  const addressOf = async (bed: UpgradeBed, server: string): Promise<string> => (await standings(bed))[server]!.address

  it('lets no other pod leave while one that was made anew beside it is in no load balancer', async () => {
    const bed = await start('moved-beside')
    const { namespace, haproxy } = bed
    const { api } = cluster()
    const held = await holdBehindHaproxy(bed, 'web-2')
    const run = bed.start(['upgrade', 'sts/web', V2])
    await reached(run, 'web-2', 'emptying')
    // This pod has not had its turn, and nothing is drained for it.
    const { metadata } = await api.get('Pod', 'web-1', namespace)
    await api.delete('Pod', 'web-1', namespace)
    const isNew = (pod: KubeObject): boolean => pod.metadata.uid !== metadata.uid && isReady(pod)
    const current = () => api.get('Pod', 'web-1', namespace).catch(() => ({ metadata }) as KubeObject)
    await api.waitFor('another web-1 to be ready', current, isNew)
    expect(await held.end()).toBe(200)
    await reached(run, 'web-2', 'done')
    const waits = 'the window of 1 is full: web-1 is not known to be in every load balancer'
    await run.seen((event) => event.type === 'podDetail' && event.pod === 'web-0' && reasonWords(event.waiting) === waits)
    expect(bed.effects()).toEqual({ 'web-2': ['drain', 'ready'] })

    await haproxy.recorder.operator(`set server web/web-1 addr ${(await current()).status.podIP} port 8080`)
    const exit = await run.exit
    expect(exit.code, story(exit)).toBe(0)
    expect(bed.effects()).toEqual({ 'web-2': ['drain', 'ready'], 'web-0': ['drain', 'ready'] })
    for (const { spec } of await bed.pods()) expect(spec.containers[0].image).toBe('localhost/app:v2')
  })

  for (const moment of ['emptying', 'restarting', 'warming'] as const) {
    it(`never puts back the old address of a pod that was deleted (${moment}), until an operator has mended the entry`, async () => {
      const bed = await start(`moved-deleted-${moment}`, moment === 'emptying' ? acceptsBeforeItEnds : {})
      const address = await addressOf(bed, 'web-2')
      const traffic = await bed.traffic(moment === 'emptying' ? longRequests : {})
      const run = bed.start(['upgrade', 'sts/web', V2])
      await reached(run, 'web-2', moment)
      await cluster().api.delete('Pod', 'web-2', bed.namespace)
      const exit = await run.exit
      await expectLeftOut(bed, exit, address)
      expect(outcomes(exit.result)).toMatchObject({ 'web-2': ['needsOperator'], 'web-1': ['unchanged'], 'web-0': ['unchanged'] })
      // A repeated command before the repair has the same answer, and touches nothing.
      await expectLeftOut(bed, await bed.upgrade('sts/web', V2), address)
      await expectHomeOnceRepaired(bed)
      await expectNoFailures(traffic)
    })
  }

  it('closes the target of a deleted pod whose entry the operator has removed', async () => {
    const bed = await start('moved-removed')
    const address = await addressOf(bed, 'web-2')
    const traffic = await bed.traffic()
    const run = bed.start(['upgrade', 'sts/web', V2])
    await reached(run, 'web-2', 'restarting')
    await cluster().api.delete('Pod', 'web-2', bed.namespace)
    await expectLeftOut(bed, await run.exit, address)
    const { operator } = bed.haproxy.recorder
    await operator('set server web/web-2 state maint')
    await operator('del server web/web-2')
    expect(Object.keys(await standings(bed)).sort()).toEqual(['web-0', 'web-1'])
    // No traffic reaches web-2: it takes one of two places in the window.
    const exit = await bed.upgrade('sts/web', V2, '--max-unavailable', '2')
    expect(exit.code, story(exit)).toBe(0)
    expect(outcomes(exit.result)).toMatchObject({ 'web-1': ['upgraded'], 'web-0': ['upgraded'] })
    expect(bed.effects()).toEqual({ 'web-2': ['drain'], 'web-1': ['drain', 'ready'], 'web-0': ['drain', 'ready'] })
    await expectNoFailures(traffic)
  })

  it('fails requests where somebody does put the old address back (negative control)', async () => {
    const bed = await start('moved-control')
    const run = bed.start(['upgrade', 'sts/web', V2])
    await reached(run, 'web-2', 'restarting')
    await cluster().api.delete('Pod', 'web-2', bed.namespace)
    expect((await run.exit).code).toBe(8)
    const traffic = await bed.traffic()
    await bed.haproxy.recorder.operator('set server web/web-2 state ready')
    await sleep(2_000)
    expect((await traffic.stop()).failed).toBeGreaterThan(0)
  })

  for (const moment of ['restarting', 'warming'] as const) {
    it(`settles a pod whose sandbox died (${moment}): out until an operator has pointed its server at the new address`, async () => {
      // The containers serve for about a second until the kubelet sees the loss. `readyAfter` makes the pod ready too late.
      const bed = await start(`moved-sandbox-${moment}`, { readyAfter: 4 })
      const address = await addressOf(bed, 'web-2')
      const before = (await bed.pods()).find(({ metadata }: KubeObject) => metadata.name === 'web-2')
      const traffic = await bed.traffic()
      const run = bed.start(['upgrade', 'sts/web', V2])
      await reached(run, 'web-2', moment)
      await cluster().killSandbox(bed.namespace, 'web-2')
      await expectLeftOut(bed, await run.exit, address)
      const after = (await bed.pods()).find(({ metadata }: KubeObject) => metadata.name === 'web-2')
      expect(after.metadata.uid).toBe(before.metadata.uid)
      expect(after.status.podIP).not.toBe(before.status.podIP)
      await expectLeftOut(bed, await bed.upgrade('sts/web', V2), address)
      await expectHomeOnceRepaired(bed)
      await expectNoFailures(traffic)
    })
  }

  for (const moment of ['emptying', 'restarting'] as const) {
    it(`closes the target of a pod that was scaled away (${moment}) as gone`, async () => {
      const bed = await start(`moved-scaled-${moment}`, moment === 'emptying' ? acceptsBeforeItEnds : {})
      const address = await addressOf(bed, 'web-2')
      const traffic = await bed.traffic(moment === 'emptying' ? longRequests : {})
      const run = bed.start(['upgrade', 'sts/web', V2])
      await reached(run, 'web-2', moment)
      await cluster().api.patch('StatefulSet', 'web', bed.namespace, { spec: { replicas: 2 } })
      const exit = await run.exit
      expect(exit.code, story(exit)).toBe(0)
      const { result } = exit
      expect(outcomes(result)).toEqual({ 'web-2': ['settled'], 'web-1': ['upgraded'], 'web-0': ['upgraded'] })
      const { reason } = result!.pods.find(({ pod }) => pod === 'web-2')!
      expect(reason).toMatchObject({ code: 'left-out', message: expect.stringContaining(`web/web-2@${address}`) })
      expect(bed.effects()).toEqual({ 'web-2': ['drain'], 'web-1': ['drain', 'ready'], 'web-0': ['drain', 'ready'] })
      expect((await standings(bed))['web-2']).toMatchObject({ address, state: 'drain' })
      // The record is closed, so no run mentions the pod again.
      expect(outcomes((await bed.upgrade('sts/web', V2)).result)).toEqual({ 'web-1': ['skipped'], 'web-0': ['skipped'] })
      await expectNoFailures(traffic)
    })
  }

  it('closes the target of a pod that nothing has replaced yet, once its workload is scaled down', async () => {
    const bed = await start('moved-unreplaced')
    const traffic = await bed.traffic()
    const run = bed.start(['upgrade', 'sts/web', V2])
    await reached(run, 'web-2', 'restarting')
    const { controllerManager, api } = cluster()
    await controllerManager.pause()
    try {
      await api.delete('Pod', 'web-2', bed.namespace)
      await reached(run, 'web-2', 'settling')
      await api.waitFor(
        'the end of web-2',
        () => api.list('Pod', bed.namespace, 'app=web'),
        (pods) => pods.length === 2,
      )
      // After the deletion no pod changes any more: only the workload shows that no replacement will come.
      await sleep(1_000)
      await api.patch('StatefulSet', 'web', bed.namespace, { spec: { replicas: 2 } })
      await run.seen((event) => event.type === 'podFinished' && event.result.pod === 'web-2')
    } finally {
      // The controller manager is restarted instead of resumed: the events of its two watches come in any order, and after the pod's
      // deletion alone it would first make another pod.
      await controllerManager.restart()
    }
    const exit = await run.exit
    expect(exit.code, story(exit)).toBe(0)
    expect(outcomes(exit.result), story(exit)).toEqual({ 'web-2': ['settled'], 'web-1': ['upgraded'], 'web-0': ['upgraded'] })
    expect(bed.effects()).toEqual({ 'web-2': ['drain'], 'web-1': ['drain', 'ready'], 'web-0': ['drain', 'ready'] })
    await expectNoFailures(traffic)
  })

  it('settles from the ledger where sluice was killed before the pod was deleted', async () => {
    const bed = await start('moved-ledger', acceptsBeforeItEnds)
    const address = await addressOf(bed, 'web-2')
    const traffic = await bed.traffic()
    const held = await holdBehindHaproxy(bed, 'web-2')
    const run = bed.start(['upgrade', 'sts/web', V2])
    await reached(run, 'web-2', 'emptying')
    expect((await killed(run, bed)).signal).toBe('SIGKILL')
    expect(await held.end()).toBe(200)
    await cluster().api.delete('Pod', 'web-2', bed.namespace)
    await expectLeftOut(bed, await bed.upgrade('sts/web', V2), address)
    await expectHomeOnceRepaired(bed)
    await expectNoFailures(traffic)
  })

  it('drains nothing for a pod that is replaced before its turn, and counts the next one as done', async () => {
    const bed = await start('moved-before', acceptsBeforeItEnds)
    const traffic = await bed.traffic()
    const run = bed.start(['upgrade', 'sts/web', V2])
    await reached(run, 'web-2', 'restarting')
    // The operator takes the server out, deletes the pod, points the server at the new address, and puts it in.
    const { operator } = bed.haproxy.recorder
    await operator('set server web/web-0 state maint')
    const { uid } = (await cluster().api.get('Pod', 'web-0', bed.namespace)).metadata
    await cluster().api.delete('Pod', 'web-0', bed.namespace)
    const { podIP } = await cluster().api.waitForObject('Pod', 'web-0', bed.namespace, ({ metadata, status }) => {
      const ready = status.conditions?.some((one: KubeObject) => one.type === 'Ready' && one.status === 'True')
      return metadata.uid !== uid && ready && status
    })
    await operator(`set server web/web-0 addr ${podIP} port 8080`)
    await operator('set server web/web-0 state ready')
    const exit = await run.exit
    expect(exit.code, story(exit)).toBe(0)
    const { result } = exit
    await expectNoFailures(traffic)
    expect(bed.effects()).toEqual({ 'web-2': ['drain', 'ready'], 'web-1': ['drain', 'ready'] })
    expect(outcomes(result)).toEqual({ 'web-2': ['upgraded'], 'web-1': ['upgraded'], 'web-0': ['settled', 'skipped'] })
    const { status } = await cluster().api.get('StatefulSet', 'web', bed.namespace)
    expect(status.updatedReplicas).toBe(3)
  })
})
