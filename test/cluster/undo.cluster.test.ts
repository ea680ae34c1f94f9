import { afterEach, describe, expect, it } from 'vitest'
import { holdBehindHaproxy } from './held-request.ts'
import { statefulSet } from './manifests.ts'
import { killed, outcomes, reached, standings, story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { Traffic } from './traffic.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

const V1 = 'localhost/app:v1'
const V2 = 'localhost/app:v2'
const home = ['drain', 'ready']
const twice = [...home, ...home]

describeOnCluster('back to the images before', (cluster) => {
  let running: UpgradeBed | undefined

  afterEach(async () => {
    await running?.stop()
    running = undefined
  })

  /** Starts three pods of StatefulSet web under traffic. One of them has a weight of its own. */
  async function start(name: string, config: Record<string, unknown> = {}): Promise<{ bed: UpgradeBed; traffic: Traffic }> {
    const bed = await startUpgradeBed(cluster(), {
      name,
      objects: [statefulSet({ name: 'web', namespace: name, readyAfter: 1 })],
      app: 'web',
      count: 3,
      config: { deadlines: { restart: '3s', ready: '5s' }, ...config },
    })
    running = bed
    await bed.haproxy.recorder.operator('set server web/web-2 weight 7')
    return { bed, traffic: await bed.traffic() }
  }

  const images = async ({ namespace }: UpgradeBed): Promise<string[]> =>
    (await cluster().api.list('Pod', namespace, 'app=web'))
      .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
      .map(({ spec }) => spec.containers[0].image)

  const template = async ({ namespace }: UpgradeBed): Promise<string> =>
    (await cluster().api.get('StatefulSet', 'web', namespace)).spec.template.spec.containers[0].image

  /** Waits until the StatefulSet counts all of its pods as updated, since they have the labels of its revision. */
  async function isCounted({ namespace }: UpgradeBed): Promise<void> {
    await cluster().api.waitForObject(
      'StatefulSet',
      'web',
      namespace,
      ({ status }) => status.updatedReplicas === 3 && status.readyReplicas === 3,
    )
  }

  async function noneFailed(traffic: Traffic): Promise<void> {
    const { failed, byKind } = await traffic.stop()
    expect(failed, JSON.stringify(byKind)).toBe(0)
  }

  describe('onFailure: rollback', () => {
    for (const [kind, deadline] of [
      ['bad', 'restart'],
      ['crash', 'ready'],
    ] as const) {
      it(`localhost/app:${kind}: its pod is back on the old image, with its weight, and the others are untouched`, async () => {
        const { bed, traffic } = await start(`rollback-${kind}`, { rollout: { onFailure: 'rollback' } })
        const before = await standings(bed)
        const exit = await bed.upgrade('sts/web', `app=localhost/app:${kind}`)
        expect(exit.code, story(exit)).toBe(6)
        expect(outcomes(exit.result)).toEqual({ 'web-2': ['rolledBack'], 'web-1': ['unchanged'], 'web-0': ['unchanged'] })
        expect(exit.result?.pods[0]).toMatchObject({
          traffic: 'asBefore',
          deadline: expect.stringMatching(/^(restart|ready)$/),
        })
        // A missing image never restarts the container. A container that crashes may be seen running for a moment.
        expect(deadline === 'ready' || exit.result?.pods[0]?.deadline === 'restart').toBe(true)
        expect(await images(bed)).toEqual([V1, V1, V1])
        expect(await template(bed)).toBe(V1)
        expect(await standings(bed)).toEqual(before)
        expect(bed.effects()).toEqual({ 'web-2': home })
        await isCounted(bed)

        // No run is left open, and the next upgrade is as usual.
        const good = await bed.upgrade('sts/web', `app=${V2}`)
        expect(good.code, story(good)).toBe(0)
        expect(bed.effects()).toEqual({ 'web-2': twice, 'web-1': home, 'web-0': home })
        await isCounted(bed)
        await noneFailed(traffic)
      })
    }

    it('killed while the pod is on its way back: the same command goes on with that', async () => {
      const { bed, traffic } = await start('rollback-killed', {
        // The restart was not watched from the patch on, so that only time proves it: the grace period and 5 s.
        deadlines: { restart: '10s', ready: '10s' },
      })
      const before = await standings(bed)
      const command = ['upgrade', 'sts/web', 'app=localhost/app:bad', '--on-failure', 'rollback']
      const first = bed.start(command)
      await reached(first, 'web-2', 'rollingBack')
      await first.seen((event) => event.type === 'podState' && event.from === 'rollingBack' && event.to === 'restarting')
      await killed(first, bed)
      expect((await standings(bed))['web-2']?.state).toBe('drain')
      const exit = await bed.start(command).exit
      expect(exit.code, story(exit)).toBe(6)
      expect(outcomes(exit.result)).toEqual({ 'web-2': ['rolledBack'], 'web-1': ['unchanged'], 'web-0': ['unchanged'] })
      expect(await images(bed)).toEqual([V1, V1, V1])
      expect(await template(bed)).toBe(V1)
      expect(await standings(bed)).toEqual(before)
      expect(bed.effects()).toEqual({ 'web-2': home })
      // The spec was changed twice: once to the bad image, and once back.
      const { metadata } = await cluster().api.get('Pod', 'web-2', bed.namespace)
      expect(metadata.generation).toBe(3)
      await isCounted(bed)
      await noneFailed(traffic)
    })
  })

  describe('sluice undo', () => {
    const undo = (bed: UpgradeBed, ...args: string[]) => bed.start(['undo', 'sts/web', ...args]).exit

    it('takes a finished run back, and nothing where none is on record, or it was taken back already', async () => {
      const { bed, traffic } = await start('undo-finished')
      const before = await standings(bed)
      const none = await undo(bed)
      expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('there is nothing to undo')])
      expect(bed.effects()).toEqual({})
      const upgrade = await bed.upgrade('sts/web', `app=${V2}`)
      expect(upgrade.code, story(upgrade)).toBe(0)
      const planned = await undo(bed, '--dry-run')
      expect(planned.code, story(planned)).toBe(1)
      expect(await images(bed)).toEqual([V2, V2, V2])

      const exit = await undo(bed)
      expect(exit.code, story(exit)).toBe(0)
      expect(outcomes(exit.result)).toEqual({ 'web-2': ['upgraded'], 'web-1': ['upgraded'], 'web-0': ['upgraded'] })
      expect(await images(bed)).toEqual([V1, V1, V1])
      expect(await template(bed)).toBe(V1)
      expect(await standings(bed)).toEqual(before)
      expect(bed.effects()).toEqual({ 'web-2': twice, 'web-1': twice, 'web-0': twice })
      await isCounted(bed)

      const again = await undo(bed)
      expect(again.code, story(again)).toBe(0)
      expect(bed.effects()).toEqual({ 'web-2': twice, 'web-1': twice, 'web-0': twice })
      const unknown = await undo(bed, '--run', 'nosuchrun')
      expect([unknown.code, unknown.stderr]).toEqual([
        3,
        expect.stringContaining('no run nosuchrun of statefulset/web is on record'),
      ])
      await noneFailed(traffic)
    })

    it('takes a half done run back: what is patched and out goes back, what was not touched stays', async () => {
      const { bed, traffic } = await start('undo-half')
      const before = await standings(bed)
      const first = bed.start(['upgrade', 'sts/web', `app=${V2}`])
      await reached(first, 'web-1', 'restarting')
      await killed(first, bed)
      expect(await images(bed)).toEqual([V1, V2, V2])
      expect((await standings(bed))['web-1']?.state).toBe('drain')

      const exit = await undo(bed)
      expect(exit.code, story(exit)).toBe(0)
      expect(outcomes(exit.result)).toEqual({ 'web-1': ['upgraded'], 'web-2': ['upgraded'], 'web-0': ['skipped'] })
      expect(await images(bed)).toEqual([V1, V1, V1])
      expect(await template(bed)).toBe(V1)
      expect(await standings(bed)).toEqual(before)
      // The pod that was out was drained once and restored once in all.
      expect(bed.effects()).toEqual({ 'web-2': twice, 'web-1': home })
      await isCounted(bed)
      await noneFailed(traffic)
    })
  })

  describe('sluice resolve', () => {
    const V2_WANTED = ['upgrade', 'sts/web', `app=${V2}`]
    const resolve = (bed: UpgradeBed, ...args: string[]) => bed.start(['resolve', 'web-2', ...args], { jsonl: false }).exit

    /** Takes web-2 into maintenance by an operator while it restarts. No run ends the maintenance, and the pod needs an operator. */
    async function needsOperator(name: string): Promise<{ bed: UpgradeBed; traffic: Traffic }> {
      const { bed, traffic } = await start(name, { deadlines: { restart: '10s', ready: '10s', restore: '3s' } })
      const run = bed.start(V2_WANTED)
      await reached(run, 'web-2', 'restarting')
      await bed.haproxy.recorder.operator('set server web/web-2 state maint')
      const exit = await run.exit
      expect(exit.code, story(exit)).toBe(8)
      const printed = new RegExp(`"shell":"sluice resolve --kubeconfig \\S+ pod/web-2 -n ${name} --traffic out"`)
      expect(JSON.stringify(exit.result?.pods[0]?.advice)).toMatch(printed)
      return { bed, traffic }
    }

    it('is refused while a run is at work, which goes on undisturbed', async () => {
      const { bed, traffic } = await start('resolve-busy')
      const held = await holdBehindHaproxy(bed, 'web-2')
      const run = bed.start(V2_WANTED)
      await reached(run, 'web-2', 'emptying')
      const busy = await resolve(bed, '--traffic', 'in')
      expect([busy.code, busy.stderr]).toEqual([7, expect.stringContaining('another run has this workload')])
      expect(await held.end()).toBe(200)
      const exit = await run.exit
      expect(exit.code, story(exit)).toBe(0)
      expect(bed.effects()).toEqual({ 'web-2': home, 'web-1': home, 'web-0': home })
      await noneFailed(traffic)
    })

    it('in: what a person has put back is left so, and the same command goes on with the others', async () => {
      const { bed, traffic } = await needsOperator('resolve-in')
      const nothing = await bed.start(['resolve', 'web-0', '--traffic', 'in'], { jsonl: false }).exit
      expect([nothing.code, nothing.stderr]).toEqual([3, expect.stringContaining('there is nothing to resolve')])
      const wrong = await resolve(bed, '--traffic', 'in', '--load-balancer', 'inner')
      expect([wrong.code, wrong.stderr]).toEqual([3, expect.stringContaining('on record in edge, not in inner')])

      await bed.haproxy.recorder.operator('set server web/web-2 state ready')
      const said = await resolve(bed, '--traffic', 'in')
      expect([said.code, said.stdout], story(said)).toEqual([0, expect.stringContaining('its record is closed')])
      const again = await bed.start(V2_WANTED).exit
      expect(again.code, story(again)).toBe(0)
      expect(outcomes(again.result)).toEqual({ 'web-2': ['skipped'], 'web-1': ['upgraded'], 'web-0': ['upgraded'] })
      expect(bed.effects()).toEqual({ 'web-2': ['drain'], 'web-1': home, 'web-0': home })
      expect(await images(bed)).toEqual([V2, V2, V2])
      await isCounted(bed)
      await noneFailed(traffic)
    })

    it('out: the run goes on from there, and puts the pod back', async () => {
      const { bed, traffic } = await needsOperator('resolve-out')
      await bed.haproxy.recorder.operator('set server web/web-2 state drain')
      const said = await resolve(bed, '--traffic', 'out')
      expect([said.code, said.stdout], story(said)).toEqual([0, expect.stringContaining('the next run goes on from there')])
      const again = await bed.start(V2_WANTED).exit
      expect(again.code, story(again)).toBe(0)
      expect(bed.effects()).toEqual({ 'web-2': home, 'web-1': home, 'web-0': home })
      expect((await standings(bed))['web-2']).toMatchObject({ state: 'ready', weight: 7 })
      await isCounted(bed)
      await noneFailed(traffic)
    })
  })
})
