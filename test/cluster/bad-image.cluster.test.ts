import { afterEach, expect, it } from 'vitest'
import { statefulSet } from './manifests.ts'
import { outcomes, standings, story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

const home = ['drain', 'ready']

describeOnCluster('an image that does not run', (cluster) => {
  let running: UpgradeBed | undefined

  afterEach(async () => {
    await running?.stop()
    running = undefined
  })

  const images = async (): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await cluster().api.list('Pod', running!.namespace, 'app=web')).map(({ metadata, spec }) => [
        metadata.name,
        spec.containers[0].image,
      ]),
    )

  for (const [kind, deadline] of [
    ['bad', 'restart'],
    ['crash', 'ready'],
  ] as const) {
    for (const [way, good] of [
      ['forward', 'localhost/app:v3'],
      ['back', 'localhost/app:v1'],
    ] as const) {
      it(`localhost/app:${kind} keeps its pod out and the others untouched, and ${good} brings it home`, async () => {
        const name = `image-${kind}-${way}`
        const bed = await startUpgradeBed(cluster(), {
          name,
          objects: [statefulSet({ name: 'web', namespace: name, readyAfter: 1 })],
          app: 'web',
          count: 3,
          config: { deadlines: { restart: '3s', ready: '5s' } },
        })
        running = bed
        await bed.haproxy.recorder.operator('set server web/web-2 weight 7')
        const before = await standings(bed)
        const traffic = await bed.traffic()

        const failing = await bed.upgrade('sts/web', `app=localhost/app:${kind}`)
        expect(failing.code, story(failing)).toBe(1)
        expect(outcomes(failing.result)).toEqual({ 'web-2': ['failed'], 'web-1': ['unchanged'], 'web-0': ['unchanged'] })
        expect(failing.result?.pods[0]).toMatchObject({
          traffic: 'out',
          deadline: expect.stringMatching(/^(restart|ready)$/),
        })
        expect(await images()).toEqual({
          'web-0': 'localhost/app:v1',
          'web-1': 'localhost/app:v1',
          'web-2': `localhost/app:${kind}`,
        })
        expect((await standings(bed))['web-2']).toMatchObject({ state: 'drain', weight: 7 })
        expect(bed.effects()).toEqual({ 'web-2': ['drain'] })
        // A missing image never restarts the container. A container that crashes may be seen running for a moment.
        expect(deadline === 'ready' || failing.result?.pods[0]?.deadline === 'restart').toBe(true)

        // The same command does not help, and does no harm.
        expect((await bed.upgrade('sts/web', `app=localhost/app:${kind}`)).code).toBe(1)
        expect(bed.effects()).toEqual({ 'web-2': ['drain'] })

        const since = Date.now()
        const mending = await bed.upgrade('sts/web', `app=${good}`)
        expect(mending.code, story(mending)).toBe(0)
        expect(await images()).toEqual({ 'web-0': good, 'web-1': good, 'web-2': good })
        // The patches are the claim, the images and the restore intent. The close goes to the status.
        const patched = (await bed.audit({ since, verb: 'patch', resource: 'pods', subresource: '', name: 'web-2' })).filter(
          ({ requestURI }) => !requestURI.includes('dryRun=All'),
        )
        expect(patched.map(({ responseStatus }) => responseStatus?.code)).toEqual([200, 200, 200])
        expect(await standings(bed)).toEqual(before)
        const effects = bed.effects()
        expect(effects).toEqual(way === 'back' ? { 'web-2': home } : { 'web-2': home, 'web-1': home, 'web-0': home })
        // The first restore is the one of web-2.
        expect(bed.haproxy.recorder.effects().find((effect) => effect.kind === 'ready')?.server).toBe('web-2')
        const { failed, byKind } = await traffic.stop()
        expect(failed, JSON.stringify(byKind)).toBe(0)
        const { status } = await cluster().api.waitForObject(
          'StatefulSet',
          'web',
          name,
          (set) => set.status.readyReplicas === 3 && set,
        )
        expect(status.updatedReplicas).toBe(3)
      })
    }
  }
})
