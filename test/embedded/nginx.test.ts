import { afterEach, expect, test } from 'vitest'
import { describeOnEachNginx } from '../products/nginx.ts'
import { onceEach } from './balancers/balancer.ts'
import { startNginxBalancer } from './balancers/nginx.ts'
import { expectDone, type ProductBed, startProductBed } from './product-bed.ts'
import { KILL_TIMEOUT_MS, KILLS, killAtRandomMoments, PODS_FOR_KILLS } from './random-kills.ts'

/* Whole upgrades, by processes of their own, behind a real nginx whose file has the pods of two workloads. */

const cleanups: (() => Promise<unknown>)[] = []
/** Each workload is behind one of the two load balancers of the config. */
const MORE = ['--allow-unbalanced']

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

// Each test has a bed of its own, since the records of runs name the file of their load balancer.
async function start(workloads: Readonly<Record<string, number>>): Promise<ProductBed> {
  const bed = await startProductBed(workloads)
  cleanups.push(() => bed.stop())
  return bed
}

await describeOnEachNginx((program) => {
  async function balance(bed: ProductBed) {
    const balancer = await startNginxBalancer(bed, program, ['web', 'api'])
    cleanups.push(() => balancer.stop())
    return { balancer, config: await bed.configure(balancer.loadBalancers), before: await balancer.settings() }
  }

  test('two workloads at once: each pod is drained once and put back once, and the file is as it was', async () => {
    const bed = await start({ api: 3, web: 3 })
    const { balancer, config, before } = await balance(bed)
    const image = bed.nextImage()
    await Promise.all(['api', 'web'].map((workload) => expectDone(bed.upgrade({ config, image, workload, more: MORE }))))
    expect(balancer.history()).toEqual(onceEach(bed.names()))
    expect(await balancer.settings()).toBe(before)
  }, 120_000)

  test(
    'killed at random moments: the same, whoever goes on',
    async () => {
      const bed = await start({ api: 1, web: PODS_FOR_KILLS })
      const { balancer, config, before } = await balance(bed)
      const image = bed.nextImage()
      const upgrade = () => bed.upgrade({ config, image, more: MORE })
      expect(await killAtRandomMoments(bed, upgrade)).toHaveLength(KILLS)
      await expectDone(upgrade())
      expect(balancer.history()).toEqual({ 'api-0': [false], ...onceEach(bed.names('web')) })
      expect(await balancer.settings()).toBe(before)
      expect(bed.images('web')).toEqual(bed.names('web').map(() => image))
    },
    KILL_TIMEOUT_MS,
  )
})
