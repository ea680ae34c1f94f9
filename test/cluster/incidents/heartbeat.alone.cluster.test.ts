import { afterEach, expect, it } from 'vitest'
import type { PodChange } from '../../../src/observer/told.ts'
import { namespace, service, statefulSet } from '../manifests.ts'
import { describeOnCluster } from '../shared-cluster.ts'
import { removeNamespace, waitForPods } from '../workloads.ts'
import { type Access, doctor, doctorFindings, explain, type Observation, reasonCodes, startObserve } from './commands.ts'

/*
 * The kubelet stops for longer than the grace period of the node lifecycle controller, and continues. All pods of its node leave their
 * endpoints meanwhile, although each of their containers serves all the time.
 */

const NAME = 'incident-heartbeat'
const PODS = ['web-0', 'web-1', 'web-2']

describeOnCluster('a heartbeat that comes late', (cluster) => {
  afterEach(async () => {
    await cluster().kubelet.resume()
    await removeNamespace(cluster().api, NAME)
  })

  it('is found as what it is: who took Ready away, how old the heartbeat is, and that it was, once it is over', async () => {
    const { api, kubeconfig, kubelet, info } = cluster()
    const node = info.nodeName!
    const access: Access = { kubeconfig: kubeconfig.host, namespace: NAME }
    await api.apply(namespace(NAME), statefulSet({ name: 'web', namespace: NAME }), service({ name: 'web', namespace: NAME }))
    await waitForPods(api, NAME, 'web', PODS.length)
    // Earlier tests have stopped this kubelet.
    await api.request('DELETE', '/api/v1/namespaces/default/events?fieldSelector=involvedObject.kind%3DNode')
    const healthy = await explain(access, 'statefulset/web')
    expect([healthy.exit, healthy.verdict, reasonCodes(healthy)]).toEqual([0, 'right', []])
    expect(doctorFindings(await doctor(access))).toEqual([])
    const observation = await startObserve(access)

    expect(await observation.alerts()).toEqual([])

    const stoppedAt = Date.now()
    await kubelet.pause()
    await observation.sees('all pods lose Ready', () => lost(observation).length === PODS.length)
    expect(lost(observation)).toMatchObject(PODS.map(() => ({ because: { code: 'node-silent' } })))

    const [late, ill] = await Promise.all([explain(access, 'pod/web-1'), doctor(access)])
    expect([late.exit, reasonCodes(late)]).toEqual([1, ['node-silent', 'node-not-ready', 'node-lease-not-renewed']])
    expect(late.pods).toMatchObject([
      {
        rotation: 'out',
        conditions: [
          { type: 'Ready', status: 'False', writtenBy: { manager: 'kube-controller-manager', is: 'controller-manager' } },
          { type: 'ContainersReady', status: 'True', writtenBy: { is: 'kubelet' } },
        ],
      },
    ])
    const [{ heartbeat }] = late.nodes as [(typeof late.nodes)[0]]
    expect(heartbeat).toMatchObject({ seen: 'silent', watchedMs: expect.any(Number) })
    // The clock of the node is that of this machine, so the last renewal is before the stop.
    expect(Date.parse(heartbeat!.renewedAt!)).toBeLessThanOrEqual(stoppedAt)
    expect(doctorFindings(ill).map(({ code }) => code)).toContain('node-not-ready')

    // A node that goes away loses its pods too. So a node that is silent for less than a minute is reported only once it is back.
    expect([observation.codes(), await observation.alerts()]).toEqual([[], []])
    await kubelet.resume()
    expect(await observation.found('pods-lost-with-heartbeat')).toMatchObject({ node, ready: 'True', pods: PODS })
    expect(await observation.alerts()).toEqual(['SluicePodsLostWithHeartbeat'])
    await waitForPods(api, NAME, 'web', PODS.length)
    const well = await explain(access, 'statefulset/web')
    expect([well.exit, reasonCodes(well)]).toEqual([0, []])
    const after = await doctor(access)
    expect(doctorFindings(after)).toMatchObject([{ code: 'node-was-silent', node }])
    expect(Date.parse((doctorFindings(after)[0] as { lastAt: string }).lastAt)).toBeGreaterThanOrEqual(stoppedAt)
    const { findings } = await observation.end()
    expect(findings.map(({ code }) => code)).toEqual(['pods-lost-with-heartbeat'])
  })

  function lost(observation: Observation): PodChange[] {
    return observation.changes().filter((one) => one.type === 'pod' && one.change === 'not-ready') as PodChange[]
  }
})
