import { expect, test } from 'vitest'
import { resolvePod } from '../../src/engine/resolve.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'

/* What several runs have on record of the same pods, or of several workloads, as stories. */

const toTag = (tag: string) => ({ images: [{ container: 'app', image: imageOf(tag) }] })

const isIn =
  (state: string, pod?: string) =>
  ({ events }: Actor): boolean =>
    events.some((event) => event.type === 'podState' && event.to === state && (pod === undefined || event.pod === pod))

/** What a person says of a pod. */
async function say(stage: Stage, pod: string, traffic: 'in' | 'out', { host: { clock } }: Actor): Promise<void> {
  const ports = { client: stage.client, clock, random: { next: () => 0.5 }, identity: 'ann' }
  const told = { signal: new AbortController().signal, onWaiting() {}, onTrouble() {} }
  await stage.ask(resolvePod({ namespace: NAMESPACE, pod, traffic, loadBalancers: [] }, { ...ports, ...told }))
}

// Found by reading: the pod of an earlier run had been put back by hand, and what a later run had drained of it was taken for settled.
test('a person has put a pod back, and the next run is killed with it drained, and it goes: what was drained for it is looked after', async () => {
  const stage = await openStage(plainScene({ pods: 1, fixedAddresses: false, preStopMs: 30_000, graceSeconds: 60 }))
  const pod = `${NAME}-0`
  const edge = stage.world.balancers.get('edge')!
  const settings = { ...PLAIN_SETTINGS, readyDeadlineMs: 90_000, restartDeadlineMs: 120_000, restoreDeadlineMs: 20_000 }
  const first = stage.start({ ...toTag('v2'), settings })
  await stage.until(() => isIn('restarting')(first))
  stage.world.cluster.killSandbox(NAMESPACE, pod)
  await stage.until(() => first.end !== undefined)
  expect(first.end).toMatchObject({ outcome: 'needsOperator' })
  const { podIP: address } = stage.world.pods()[0]!['status'] as { podIP: string }
  edge.operator.set(pod, { address, admin: 'ready' })
  await say(stage, pod, 'in', first)
  const release = { ...toTag('v3'), settings }
  const killed = stage.start(release)
  await stage.until(() => isIn('emptying')(killed))
  await stage.pass(300)
  killed.host.kill()
  stage.world.cluster.deletePod(NAMESPACE, pod)
  const next = stage.start(release)
  await stage.until(() => next.end !== undefined)
  expect(edge.state(pod)).toMatchObject({ admin: 'drain', address })
  expect(next.end).toMatchObject({ outcome: 'needsOperator', reason: expect.stringContaining(`was drained for ${pod}`) })
})
