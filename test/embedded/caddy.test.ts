import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import type { Recorded } from '../../adapters/presets/testing/recording-proxy.ts'
import { HANDLER } from '../../adapters/conformance/beds/caddy-process.ts'
import { startEmbeddedCluster } from '../../sim/http/embedded-cluster.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import type { Pod } from '../../sim/kubelet/pod.ts'
import { findProduct } from '../products/find-product.ts'
import { describeOn } from '../products/program.ts'
import { onceEach } from './balancers/balancer.ts'
import { type CaddyBalancer, startCaddyBalancer } from './balancers/caddy.ts'
import { expectDone, PORT, type ProductBed, startProductBed } from './product-bed.ts'
import { KILL_TIMEOUT_MS, KILLS, killAtRandomMoments, PODS_FOR_KILLS } from './random-kills.ts'

/* Whole upgrades, by processes of their own, behind Caddy itself, whose drain removes the entry of a pod. */

const cleanups: (() => Promise<unknown>)[] = []

const PRESET = await readFile(join(import.meta.dirname, '../../adapters/presets/caddy.yaml'), 'utf8')

/** Returns the preset as options of http without versions, as for an API that has none. */
function withoutVersions({ caddy, proxy }: CaddyBalancer, lock: object): object[] {
  const { options } = parse(PRESET.replaceAll('$(handler)', `id/${HANDLER}`).replaceAll('$(host)', caddy.adminHost)) as {
    options: Record<string, Record<string, unknown>>
  }
  for (const change of ['drain', 'restore']) delete options[change]!['headers']
  const capabilities = { ...options['capabilities'], idempotency: 'absolute-set', wholeDocument: true }
  return [{ name: 'edge', adapter: 'http', port: PORT, lock, options: { url: proxy.url, ...options, capabilities } }]
}

/** The pods that are out, in the order of a rollout. */
const ONE_BY_ONE = ['', 'web-2', '', 'web-1', '', 'web-0', '']

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

describeOn(await findProduct('caddy'), (program) => {
  async function start(workloads: Readonly<Record<string, number>>): Promise<{
    bed: ProductBed
    balancer: CaddyBalancer
    config: string
    before: unknown
    image: string
  }> {
    const bed = await startProductBed(workloads)
    cleanups.push(() => bed.stop())
    const balancer = await startCaddyBalancer(bed, program)
    cleanups.push(() => balancer.stop())
    const [config, before] = [await bed.configure(balancer.loadBalancers), await balancer.settings()]
    return { bed, balancer, config, before, image: bed.nextImage() }
  }

  async function expectOnceEach({ bed, balancer, before, image }: Awaited<ReturnType<typeof start>>): Promise<void> {
    expect(balancer.history()).toEqual(onceEach(bed.names()))
    expect(await balancer.settings()).toEqual(before)
    expect(bed.images()).toEqual(bed.names().map(() => image))
  }

  test('three pods: each is taken away once, and put back once, with one change each', async () => {
    const begun = await start({ web: 3 })
    await expectDone(begun.bed.upgrade(begun))
    await expectOnceEach(begun)
    expect(begun.balancer.proxy.writes).toHaveLength(6)
    expect(begun.balancer.sequence()).toEqual(ONE_BY_ONE)
  }, 90_000)

  test.each([1, 2])(
    'killed once change %i is done and not answered: whoever goes on takes none away twice',
    async (number) => {
      const begun = await start({ web: 3 })
      const { bed, balancer } = begun
      const first = bed.upgrade(begun)
      balancer.proxy.onDone = () => {
        if (balancer.proxy.writes.length === number) first.child.kill('SIGKILL')
      }
      expect((await first.ended).code).toBe(null)
      balancer.proxy.onDone = undefined
      await expectDone(bed.upgrade(begun))
      await expectOnceEach(begun)
      expect(balancer.sequence()).toEqual(ONE_BY_ONE)
    },
    180_000,
  )

  test(
    'killed at random moments: the same, whoever goes on',
    async () => {
      const begun = await start({ web: PODS_FOR_KILLS })
      expect(await killAtRandomMoments(begun.bed, () => begun.bed.upgrade(begun))).toHaveLength(KILLS)
      await expectDone(begun.bed.upgrade(begun))
      await expectOnceEach(begun)
    },
    KILL_TIMEOUT_MS,
  )

  /** Makes both runs read one array before either writes: the second change continues after the first is done. */
  function meetAtFirst({ caddy, proxy }: CaddyBalancer, pass: (write: Recorded) => void = () => {}): void {
    const { promise: bothCame, resolve: come } = Promise.withResolvers<void>()
    const { promise: firstDone, resolve: done } = Promise.withResolvers<void>()
    let came = 0
    proxy.onWrite = async (write) => {
      pass(write)
      came += 1
      if (came === 1) return bothCame
      if (came > 2) return undefined
      come()
      await firstDone
      // The admin API listens again after a change.
      await vi.waitFor(() => caddy.upstreams(), { timeout: 10_000 })
      return undefined
    }
    proxy.onDone = () => done()
  }

  test('two workloads in one array at once: a change that rests on an older array is refused, and each pod is out once', async () => {
    const begun = await start({ api: 3, web: 3 })
    const { bed, balancer } = begun
    meetAtFirst(balancer)
    await Promise.all(['api', 'web'].map((workload) => expectDone(bed.upgrade({ ...begun, workload }))))
    await expectOnceEach(begun)
    expect(balancer.proxy.writes.map(({ status }) => status)).toContain(412)
    // The array had both pods out at once: neither run has put back the pod of the other.
    expect(balancer.sequence()).toContain('api-2 web-2')
  }, 120_000)

  describe('without If-Match, and under a lock', () => {
    /** Returns the options of a lock in another cluster, which both runs name. */
    async function another(): Promise<object> {
      const cluster = await startEmbeddedCluster({ nodes: 1, images: {} })
      cleanups.push(() => cluster.close())
      const folder = await mkdtemp(join(tmpdir(), 'sluice-locks-'))
      cleanups.push(() => rm(folder, { recursive: true }))
      await writeKubeconfig(join(folder, 'kubeconfig'), cluster.url)
      return { kubeconfig: join(folder, 'kubeconfig') }
    }

    test.each([
      ['its cluster', async () => ({})],
      ['another cluster', another],
    ])(
      'by a Lease of %s: two workloads in one array are changed one after another, and each pod is out once',
      async (_, where) => {
        const begun = await start({ api: 2, web: 2 })
        const { bed, balancer } = begun
        const config = await bed.configure(withoutVersions(balancer, { namespace: 'default', ...(await where()) }), 'locked.yaml')
        const intents = new Set<string>()
        const { promise: bothWait, resolve: meet } = Promise.withResolvers<void>()
        cleanups.push(
          bed.cluster.apiServer.store.subscribe((resource, { after }) => {
            if (resource !== 'pods' || !JSON.stringify(after).includes(String.raw`\"step\":\"drain\"`)) return
            intents.add((after as Pod).metadata.labels!['app']!)
            if (intents.size === 2) meet()
          }) as unknown as () => Promise<void>,
        )
        // The first change continues once the other run wants to make a change.
        balancer.proxy.onWrite = () => bothWait
        await Promise.all(['api', 'web'].map((workload) => expectDone(bed.upgrade({ ...begun, config, workload }))))
        await expectOnceEach(begun)
        expect(balancer.proxy.writes.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
      },
      120_000,
    )

    test('by Leases that are not the same: the one puts back what the other has taken away (negative control)', async () => {
      const begun = await start({ api: 1, web: 1 })
      const { bed, balancer } = begun
      meetAtFirst(balancer)
      await Promise.all(
        ['api', 'web'].map(async (workload) => {
          const lock = { namespace: 'default', key: workload }
          const config = await bed.configure(withoutVersions(balancer, lock), `${workload}.yaml`)
          await expectDone(bed.upgrade({ ...begun, config, workload }))
        }),
      )
      expect(Object.values(balancer.history()).map(({ length }) => length)).toContain(5)
    }, 120_000)
  })

  test('the same without If-Match: the one puts back what the other has taken away (negative control)', async () => {
    const begun = await start({ api: 1, web: 1 })
    const { bed, balancer } = begun
    meetAtFirst(balancer, ({ headers }) => delete headers['if-match'])
    await Promise.all(['api', 'web'].map((workload) => expectDone(bed.upgrade({ ...begun, workload }))))
    // The restored pod is seen in rotation, and drained again.
    const histories = Object.values(balancer.history()).toSorted((a, b) => a.length - b.length)
    expect(histories).toEqual([
      [false, true, false],
      [false, true, false, true, false],
    ])
  }, 120_000)
})
