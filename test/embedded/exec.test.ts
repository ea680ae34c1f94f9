import { afterEach, expect, test } from 'vitest'
import { onceEach } from './balancers/balancer.ts'
import { startProgramBalancer } from './balancers/program.ts'
import { expectDone, startProductBed } from './product-bed.ts'
import { KILL_TIMEOUT_MS, KILLS, killAtRandomMoments, PODS_FOR_KILLS } from './random-kills.ts'

/* Whole upgrades, by processes of their own, with a program for each call to the load balancer. */

const cleanups: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

test(
  'killed at random moments: each pod is drained once and put back once, whoever goes on',
  async () => {
    const bed = await startProductBed({ web: PODS_FOR_KILLS })
    cleanups.push(() => bed.stop())
    const balancer = await startProgramBalancer(bed)
    cleanups.push(() => balancer.stop())
    const [config, before, image] = [await bed.configure(balancer.loadBalancers), await balancer.settings(), bed.nextImage()]
    expect(await killAtRandomMoments(bed, () => bed.upgrade({ config, image }))).toHaveLength(KILLS)
    await expectDone(bed.upgrade({ config, image }))
    expect(balancer.history()).toEqual(onceEach(bed.names()))
    expect(await balancer.settings()).toEqual(before)
    expect(bed.images()).toEqual(bed.names().map(() => image))
  },
  KILL_TIMEOUT_MS,
)
