import { afterEach, expect, it } from 'vitest'
import { service, statefulSet } from './manifests.ts'
import { longRequests, reached, story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'
import { isReady } from './workloads.ts'
import { reasonWords } from '../../src/report/words/words.ts'

const V2 = 'app=localhost/app:v2'
const home = ['drain', 'ready']

describeOnCluster('a kubelet that is silent until its pods are not Ready', (cluster) => {
  let running: UpgradeBed | undefined

  afterEach(async () => {
    await cluster().kubelet.resume()
    await running?.stop()
    running = undefined
  })

  async function start(name: string, config?: Record<string, unknown>): Promise<UpgradeBed> {
    const objects = [statefulSet({ name: 'web', namespace: name, readyAfter: 2 }), service({ name: 'web', namespace: name })]
    return (running = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 3, ...(config && { config }) }))
  }

  /** Waits until the node controller has made all pods not Ready. Their containers continue to serve. */
  async function untilNoneIsReady(bed: UpgradeBed): Promise<void> {
    const pods = await cluster().api.waitFor(
      'pods that are not Ready',
      () => cluster().api.list('Pod', bed.namespace, 'app=web'),
      (all) => all.every((pod) => !isReady(pod)) && all,
      { timeoutMs: 60_000 },
    )
    expect(pods).toHaveLength(3)
  }

  async function expectOnlyTheDrainOfWeb2(bed: UpgradeBed): Promise<void> {
    await untilNoneIsReady(bed)
    // The delay gives sluice the time to act wrongly.
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(bed.effects()).toEqual({ 'web-2': ['drain'] })
  }

  async function expectDone(bed: UpgradeBed, run: ReturnType<UpgradeBed['start']>): Promise<void> {
    const exit = await run.exit
    expect(exit.code, story(exit)).toBe(0)
    expect(bed.effects()).toEqual({ 'web-2': home, 'web-1': home, 'web-0': home })
    expect(bed.haproxy.recorder.effects()).toHaveLength(6)
    for (const { spec } of await bed.pods()) expect(spec.containers[0].image).toBe('localhost/app:v2')
  }

  // `warming` with readyFor is between two pods: the first only has to wait, and the next must not start.
  for (const [moment, rollout] of [
    ['emptying', {}],
    ['restarting', {}],
    ['warming', { readyFor: '2s' }],
  ] as const) {
    it(`drains and restores nothing for it (${moment})`, async () => {
      const bed = await start(`heartbeat-${moment}`, { rollout })
      const traffic = await bed.traffic(moment === 'emptying' ? longRequests : {})
      const run = bed.start(['upgrade', 'sts/web', V2])
      await reached(run, 'web-2', moment)
      await cluster().kubelet.pause()
      await expectOnlyTheDrainOfWeb2(bed)
      await cluster().kubelet.resume()
      await expectDone(bed, run)
      const { failed, byKind } = await traffic.stop()
      expect(failed, JSON.stringify(byKind)).toBe(0)
    })
  }

  it('starts no pod while it lasts', async () => {
    const bed = await start('heartbeat-start')
    const traffic = await bed.traffic()
    await cluster().kubelet.pause()
    await untilNoneIsReady(bed)
    const run = bed.start(['upgrade', 'sts/web', V2])
    await run.seen((event) => event.type === 'podDetail' && reasonWords(event.waiting).includes('is not ready'))
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    expect(bed.effects()).toEqual({})
    await cluster().kubelet.resume()
    await expectDone(bed, run)
    const { failed, byKind } = await traffic.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)
  })
})
