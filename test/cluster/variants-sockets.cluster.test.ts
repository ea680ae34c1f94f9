import { afterEach, expect, it } from 'vitest'
import { startHaproxy } from './haproxy.ts'
import type { Haproxy } from './haproxy.ts'
import { configure, onceEach } from './judge.ts'
import { appPort, statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import { startTraffic } from './traffic.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

const PODS = ['web-0', 'web-1']

describeOnCluster('ways to HAProxy', (cluster) => {
  let bed: UpgradeBed | undefined
  let second: Haproxy | undefined

  afterEach(async () => {
    await second?.stop()
    await bed?.stop()
    bed = second = undefined
  })

  async function start(name: string): Promise<UpgradeBed> {
    const objects = [statefulSet({ name: 'web', namespace: name, replicas: 2 })]
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 2 })
    return bed
  }

  it('upgrades through a TCP stats socket', async () => {
    const { haproxy, upgrade, traffic: startRequests, effects } = await start('tcp-socket')
    await configure(bed!, { socket: haproxy.recorder.tcpAddress })
    const traffic = await startRequests()
    const { code, stderr } = await upgrade('sts/web', 'app=localhost/app:v2')
    const { failed, byKind } = await traffic.stop()
    expect(code, stderr).toBe(0)
    expect(failed, JSON.stringify(byKind)).toBe(0)
    expect(effects()).toEqual(onceEach(PODS))
  })

  it('drains and restores each pod in both of two instances', async () => {
    const { haproxy, upgrade, pods, effects } = await start('two-instances')
    const servers = (await pods()).map(({ metadata, status }) => ({
      name: metadata.name as string,
      address: `${status.podIP}:${appPort}`,
    }))
    second = await startHaproxy(cluster(), { servers })
    await configure(bed!, { sockets: [haproxy.recorder.socket, second.recorder.socket] })
    const through = [haproxy, second]
    const traffic = await Promise.all(through.map(({ url }) => startTraffic(cluster(), { url, ratePerSecond: 100 })))
    const { code, stderr } = await upgrade('sts/web', 'app=localhost/app:v2')
    const totals = await Promise.all(traffic.map((one) => one.stop()))
    expect(code, stderr).toBe(0)
    expect(totals.map(({ byKind, failed }) => ({ byKind, failed }))).toEqual(through.map(() => ({ byKind: {}, failed: 0 })))
    expect(effects()).toEqual(onceEach(PODS))
    const other = second.recorder.effects().filter(({ effective }) => effective)
    expect(other.map(({ server, kind }) => `${server} ${kind}`)).toEqual(
      ['web-1', 'web-0'].flatMap((pod) => [`${pod} drain`, `${pod} ready`]),
    )
    expect(second.recorder.effects()).toHaveLength(4)
  })
})
