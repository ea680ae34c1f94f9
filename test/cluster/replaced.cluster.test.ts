import { afterEach, expect, it } from 'vitest'
import { holdBehindHaproxy } from './held-request.ts'
import type { KubeObject } from './kube-api.ts'
import { daemonSet, statefulSet } from './manifests.ts'
import { acceptsBeforeItEnds, killed, longRequests, outcomes, reached, standings, story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

/** HAProxy uses the ports from 8080 on in the network that these pods share. */
const PORT = 9090
const V2 = 'app=localhost/app:v2'

describeOnCluster('a pod that is deleted while drained, and comes back at the same address', (cluster) => {
  let running: UpgradeBed | undefined

  afterEach(async () => {
    await running?.stop()
    running = undefined
  })

  /** Starts one pod in the network of the host, and two pods in the pod network that carry the traffic meanwhile. */
  async function start(
    name: string,
    kind: 'DaemonSet' | 'StatefulSet',
    pods: { preStopSeconds?: number; readyAfter?: number } = {},
  ): Promise<{ bed: UpgradeBed; pod: string; uid: string }> {
    const options = { namespace: name, readyAfter: 1, graceful: true, terminationGracePeriodSeconds: 10 }
    const web = { ...options, ...pods, name: 'web', hostNetwork: true, port: PORT }
    const objects: KubeObject[] = [
      kind === 'DaemonSet' ? daemonSet(web) : statefulSet({ ...web, replicas: 1 }),
      statefulSet({ ...options, name: 'peer', replicas: 2 }),
    ]
    const bed = await startUpgradeBed(cluster(), {
      name,
      objects,
      app: 'web',
      count: 1,
      port: PORT,
      peers: { app: 'peer', count: 2 },
    })
    running = bed
    const [{ metadata }] = (await bed.pods()) as [KubeObject]
    return { bed, pod: metadata.name, uid: metadata.uid }
  }

  async function expectReplaced(uid: string, server: string): Promise<void> {
    const [pod] = await running!.pods()
    expect(pod.metadata.uid).not.toBe(uid)
    expect(pod.spec.containers[0].image).toBe('localhost/app:v2')
    expect(running!.effects()).toEqual({ [server]: ['drain', 'ready'] })
    expect((await standings(running!))[server]).toEqual({ address: `${pod.status.podIP}:${PORT}`, state: 'ready', weight: 1 })
  }

  for (const [kind, target] of [
    ['DaemonSet', 'ds/web'],
    ['StatefulSet', 'sts/web'],
  ] as const) {
    for (const moment of ['emptying', 'restarting', 'warming'] as const) {
      it(`puts its target back for the next pod of the ${kind} (${moment})`, async () => {
        // The pod has to be deleted before it is ready. One second was not enough on a busy machine.
        const pods = moment === 'emptying' ? acceptsBeforeItEnds : moment === 'warming' ? { readyAfter: 4 } : {}
        const { bed, pod, uid } = await start(`replaced-${target.slice(0, 2)}-${moment}`, kind, pods)
        const traffic = await bed.traffic(moment === 'emptying' ? longRequests : {})
        const run = bed.start(['upgrade', target, V2])
        await reached(run, pod, moment)
        await cluster().api.delete('Pod', pod, bed.namespace)
        const exit = await run.exit
        expect(exit.code, story(exit)).toBe(0)
        const { result } = exit
        const { failed, byKind } = await traffic.stop()
        expect(failed, JSON.stringify(byKind)).toBe(0)
        expect(outcomes(result)[pod]).toContain('settled')
        await expectReplaced(uid, pod)
      })
    }

    it(`puts its target back from the ledger where sluice was killed before (${kind})`, async () => {
      const { bed, pod, uid } = await start(`replaced-${target.slice(0, 2)}-ledger`, kind)
      const traffic = await bed.traffic()
      const held = await holdBehindHaproxy(bed, pod)
      const run = bed.start(['upgrade', target, V2])
      await reached(run, pod, 'emptying')
      await killed(run, bed)
      expect(await held.end()).toBe(200)
      expect((await standings(bed))[pod]?.state).toBe('drain')
      await cluster().api.delete('Pod', pod, bed.namespace)
      const exit = await bed.upgrade(target, V2)
      expect(exit.code, story(exit)).toBe(0)
      const { failed, byKind } = await traffic.stop()
      expect(failed, JSON.stringify(byKind)).toBe(0)
      await expectReplaced(uid, pod)
    })

    it(`puts its target back from the ledger where the ${kind} itself was deleted and made again`, async () => {
      const { bed, pod, uid } = await start(`remade-${target.slice(0, 2)}`, kind)
      const { api } = cluster()
      const run = bed.start(['upgrade', target, V2])
      await reached(run, pod, 'restarting')
      await killed(run, bed)
      const old = await api.get(kind, 'web', bed.namespace)
      await api.delete(kind, 'web', bed.namespace, { propagationPolicy: 'Foreground' })
      await api.waitFor(
        'the workload to be gone',
        () => api.list(kind, bed.namespace),
        (all) => all.every(({ metadata }) => metadata.uid !== old.metadata.uid),
      )
      const { apiVersion, spec } = old
      await api.apply({ apiVersion, kind, metadata: { name: 'web', namespace: bed.namespace }, spec })
      await bed.pods()

      const exit = await bed.upgrade(target, V2)
      expect(exit.code, story(exit)).toBe(0)
      expect(outcomes(exit.result)[pod]).toContain('settled')
      await expectReplaced(uid, pod)
    })
  }
})
