import { afterEach, expect, it } from 'vitest'
import type { RecordedEffect } from './haproxy-recorder.ts'
import { changingLines, mostOut, onceEach } from './judge.ts'
import { statefulSet } from './manifests.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

const SIX = ['web-0', 'web-1', 'web-2', 'web-3', 'web-4', 'web-5']

describeOnCluster('the window', (cluster) => {
  let bed: UpgradeBed | undefined

  afterEach(async () => {
    await bed?.stop()
    bed = undefined
  })

  it('has at most 3 of 6 pods out at once, and says several servers in one call', async () => {
    const name = 'window-three'
    const objects = [statefulSet({ name: 'web', namespace: name, replicas: 6, readyAfter: 1 })]
    bed = await startUpgradeBed(cluster(), { name, objects, app: 'web', count: 6, config: { rollout: { maxUnavailable: 3 } } })
    // Pods wait for the next call while a call is under way. A slow load balancer makes that certain.
    await bed.haproxy.recorder.setFaults({ delayReplyMs: (line) => (line.includes('set server') ? 300 : 0) })
    const traffic = await bed.traffic()
    const { code, stderr, events } = await bed.upgrade('statefulset/web', 'app=localhost/app:v2')
    expect(code, stderr).toBe(0)
    const { failed, byKind } = await traffic.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)

    expect(bed.effects()).toEqual(onceEach(SIX))
    const { recorder } = bed.haproxy
    expect(recorder.effects()).toHaveLength(12)
    expect(mostOut(recorder.effects())).toBe(3)
    const calls = changingLines(recorder.commands())
    expect(calls.length, JSON.stringify(calls)).toBeLessThan(12)
    expect(calls.some((lines) => lines.length > 1)).toBe(true)
    const batches = events.flatMap((event) => (event.type === 'effect' ? [event.batch] : []))
    expect(batches).toHaveLength(12)
    expect(Math.max(...batches)).toBeGreaterThan(1)
  })

  it('reads 50% of 6 pods as 3', async () => {
    const name = 'window-half'
    const objects = [statefulSet({ name: 'web', namespace: name, replicas: 6 })]
    bed = await startUpgradeBed(cluster(), {
      name,
      objects,
      app: 'web',
      count: 6,
      config: { rollout: { maxUnavailable: '50%' } },
    })
    const traffic = await bed.traffic()
    const { code, stderr } = await bed.upgrade('statefulset/web', 'app=localhost/app:v2')
    expect(code, stderr).toBe(0)
    const { failed, byKind } = await traffic.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)
    expect(bed.effects()).toEqual(onceEach(SIX))
    expect(mostOut(bed.haproxy.recorder.effects())).toBe(3)
  })

  it('counts servers that are out by what HAProxy says of them (negative control of the judge)', () => {
    const effect = (server: string, adminState: number): RecordedEffect => ({
      at: 0,
      backend: 'web',
      server,
      command: '',
      kind: adminState === 0 ? 'ready' : 'drain',
      effective: true,
      before: undefined,
      after: { adminState, weight: 1 },
    })
    expect(mostOut([effect('a', 8), effect('b', 8), effect('a', 0), effect('c', 8)])).toBe(2)
    expect(mostOut([effect('a', 8), effect('b', 8), effect('c', 8), effect('a', 0)])).toBe(3)
  })
})
