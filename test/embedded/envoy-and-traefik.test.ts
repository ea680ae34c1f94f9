import { appendFileSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { waitUntil } from '../../adapters/conformance/beds/haproxy-process.ts'
import { findProduct } from '../products/find-product.ts'
import { describeOn } from '../products/program.ts'
import { onceEach } from './balancers/balancer.ts'
import { startEnvoyBalancer, startTraefikBalancer } from './balancers/files.ts'
import { expectDone, type ProductBed, startProductBed } from './product-bed.ts'
import { KILL_TIMEOUT_MS, KILLS, killAtRandomMoments, PODS_FOR_KILLS } from './random-kills.ts'

/* Whole upgrades, by processes of their own, behind an Envoy and a Traefik at once, each with its file. */

const [envoyProgram, traefikProgram] = [await findProduct('envoy'), await findProduct('traefik')]
const both = { ...envoyProgram, title: `${envoyProgram.title} and ${traefikProgram.title}` }

describeOn(traefikProgram.program === undefined ? { ...both, program: undefined } : both, (program) => {
  let bed: ProductBed
  let envoy: Awaited<ReturnType<typeof startEnvoyBalancer>>
  let traefik: Awaited<ReturnType<typeof startTraefikBalancer>>
  let begun: { config: string; image: string }
  let before: unknown[]

  const settings = () => Promise.all([envoy, traefik].map((balancer) => balancer.settings()))

  beforeAll(async () => {
    bed = await startProductBed({ web: PODS_FOR_KILLS })
  }, 90_000)

  afterAll(() => bed?.stop())

  beforeEach(async () => {
    envoy = await startEnvoyBalancer(bed, program)
    traefik = await startTraefikBalancer(bed, traefikProgram.program!)
    const config = await bed.configure([...envoy.loadBalancers, ...traefik.loadBalancers])
    begun = { config, image: bed.nextImage() }
    before = await settings()
  })

  afterEach(async () => {
    await bed.endUpgrades()
    await Promise.all([envoy?.stop(), traefik?.stop()])
  })

  async function expectOnceEach(): Promise<void> {
    expect(envoy.history()).toEqual(onceEach(bed.names()))
    expect(traefik.history()).toEqual(onceEach(bed.names()))
    expect(bed.images()).toEqual(bed.names().map(() => begun.image))
    expect(await settings()).toEqual(before)
  }

  test('each pod is out once in both files, and both files are as before', async () => {
    await expectDone(bed.upgrade(begun))
    await expectOnceEach()
    expect(await envoy.envoy.ask('/stats?filter=cluster.web.update_rejected')).toContain(': 0')
    // Negative control: a second drain of one pod would be seen.
    const text = String(before[1])
    appendFileSync(traefik.log, `${text.replace('- url:', '- weight: 0\n            url:')}--\n${text}--\n`)
    expect(traefik.history()).toEqual({ ...onceEach(bed.names()), 'web-0': [false, true, false, true, false] })
  }, 90_000)

  test('an Envoy that goes away while a pod is out does not keep the pod out of the file, and the upgrade goes on once it is back', async () => {
    const upgrade = bed.upgrade(begun)
    const file = (): string => readFileSync(envoy.file, 'utf8')
    const isOut = (): boolean => file().includes('DRAINING')
    await waitUntil(async () => isOut() && bed.images().includes(begun.image), 'a pod is out and patched')
    await envoy.envoy.stop()
    expect(isOut()).toBe(true)
    await waitUntil(async () => !isOut(), 'the pod is back in the file')
    expect(upgrade.child.exitCode).toBe(null)
    await envoy.envoy.restart()
    await expectDone(upgrade)
    await expectOnceEach()
  }, 90_000)

  test(
    'killed at random moments, whoever goes on changes nothing twice',
    async () => {
      expect(await killAtRandomMoments(bed, () => bed.upgrade(begun))).toHaveLength(KILLS)
      await expectDone(bed.upgrade(begun))
      await expectOnceEach()
    },
    KILL_TIMEOUT_MS,
  )
})
