import { afterEach, expect, it } from 'vitest'
import { statefulSet } from './manifests.ts'
import { outcomes, reached, standings, story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

const V2 = 'app=localhost/app:v2'

describeOnCluster('what an operator has changed in HAProxy', (cluster) => {
  let running: UpgradeBed | undefined

  afterEach(async () => {
    await running?.stop()
    running = undefined
  })

  async function start(name: string, config?: Record<string, unknown>): Promise<UpgradeBed> {
    const web = statefulSet({ name: 'web', namespace: name, readyAfter: 1 })
    return (running = await startUpgradeBed(cluster(), { name, objects: [web], app: 'web', count: 3, ...(config && { config }) }))
  }

  const images = async (): Promise<string[]> => (await running!.pods()).map(({ spec }) => spec.containers[0].image)

  it('stays exactly so: a server in maint, and one with another weight', async () => {
    const bed = await start('operator-before', { rollout: { maxUnavailable: 2 } })
    const { operator } = bed.haproxy.recorder
    await operator('set server web/web-0 state maint')
    await operator('set server web/web-1 weight 7')
    const before = await standings(bed)
    expect(before).toMatchObject({ 'web-0': { state: 'maint' }, 'web-1': { state: 'ready', weight: 7 } })
    const traffic = await bed.traffic()
    const exit = await bed.upgrade('sts/web', V2)
    expect(exit.code, story(exit)).toBe(0)
    const { failed, byKind } = await traffic.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)
    expect(await images()).toEqual(['localhost/app:v2', 'localhost/app:v2', 'localhost/app:v2'])
    expect(await standings(bed)).toEqual(before)
    expect(bed.effects()).toEqual({ 'web-1': ['drain', 'ready'], 'web-2': ['drain', 'ready'] })
    // The server in maint got no command, effective or not.
    expect(bed.haproxy.recorder.effects().some(({ server }) => server === 'web-0')).toBe(false)
  })

  it('is refused at preflight where it fills the window', async () => {
    const bed = await start('operator-window')
    await bed.haproxy.recorder.operator('set server web/web-0 state maint')
    const before = await standings(bed)
    const exit = await bed.upgrade('sts/web', V2)
    expect(exit.code, story(exit)).toBe(3)
    expect(exit.stdout).toContain('"window-full"')
    expect(exit.stdout).toContain('pod/web-0: out of rotation by an operator, so that with maxUnavailable 1')
    expect(await standings(bed)).toEqual(before)
    expect(bed.haproxy.recorder.effects()).toEqual([])
    expect(await images()).toEqual(['localhost/app:v1', 'localhost/app:v1', 'localhost/app:v1'])
    const { spec } = await cluster().api.get('StatefulSet', 'web', bed.namespace)
    expect(spec.template.spec.containers[0].image).toBe('localhost/app:v1')
  })

  it('in the middle, maint: it is never ended, and the pod stays out and is reported until the operator ends it', async () => {
    const bed = await start('operator-maint', { deadlines: { restore: '3s' } })
    const { operator } = bed.haproxy.recorder
    const traffic = await bed.traffic()
    const run = bed.start(['upgrade', 'sts/web', V2])
    await reached(run, 'web-2', 'restarting')
    await operator('set server web/web-2 state maint')
    const exit = await run.exit
    expect(exit.code, story(exit)).toBe(8)
    const { result } = exit
    expect(result?.reason).toMatchObject({ message: expect.stringMatching(/web-2: .*maint/) })
    expect(outcomes(result)).toEqual({ 'web-2': ['needsOperator'], 'web-1': ['unchanged'], 'web-0': ['unchanged'] })
    expect((await standings(bed))['web-2']?.state).toBe('maint')
    expect(bed.effects()).toEqual({ 'web-2': ['drain'] })

    await operator('set server web/web-2 state ready')
    const again = await bed.upgrade('sts/web', V2)
    expect(again.code, story(again)).toBe(0)
    expect(bed.effects()).toEqual({ 'web-2': ['drain'], 'web-1': ['drain', 'ready'], 'web-0': ['drain', 'ready'] })
    expect(await images()).toEqual(['localhost/app:v2', 'localhost/app:v2', 'localhost/app:v2'])
    const { failed, byKind } = await traffic.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)
  })

  it('in the middle, maint that ends in time: the run goes on by itself', async () => {
    const bed = await start('operator-passing')
    const { operator } = bed.haproxy.recorder
    const traffic = await bed.traffic()
    const run = bed.start(['upgrade', 'sts/web', V2])
    await reached(run, 'web-2', 'restarting')
    await operator('set server web/web-2 state maint')
    const held = await run.seen((event) => event.type === 'effect' && event.effect === 'restore' && event.outcome === 'failed')
    expect(held).toMatchObject({
      pod: 'web-2',
      reason: { code: 'load-balancer-error', said: expect.stringContaining('maint') },
    })
    expect((await standings(bed))['web-2']?.state).toBe('maint')
    await operator('set server web/web-2 state drain')
    const exit = await run.exit
    expect(exit.code, story(exit)).toBe(0)
    const home = ['drain', 'ready']
    expect(bed.effects()).toEqual({ 'web-2': home, 'web-1': home, 'web-0': home })
    const { failed, byKind } = await traffic.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)
  })

  it('in the middle, another weight: what was before comes back, and it is said', async () => {
    const bed = await start('operator-weight')
    const { operator } = bed.haproxy.recorder
    await operator('set server web/web-2 weight 7')
    const before = await standings(bed)
    const traffic = await bed.traffic()
    const run = bed.start(['upgrade', 'sts/web', V2])
    await reached(run, 'web-2', 'restarting')
    await operator('set server web/web-2 weight 3')
    const exit = await run.exit
    expect(exit.code, story(exit)).toBe(0)
    const { events } = exit
    expect(await standings(bed)).toEqual(before)
    const restored = events.find(({ type, ...event }) => type === 'effect' && 'effect' in event && event.effect === 'restore')
    expect(restored).toMatchObject({ pod: 'web-2', said: 'weight 3 → 7' })
    const { failed, byKind } = await traffic.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)
  })
})
