import { writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { stringify } from 'yaml'
import type { EffectCall, Endpoint, Target } from '../../adapters/contract.ts'
import { loadAdapter } from '../../adapters/registry.ts'
import { findProduct } from '../products/find-product.ts'
import type { ProductName } from '../products/wheels.ts'
import type { KubeObject } from './kube-api.ts'
import { appPort, statefulSet } from './manifests.ts'
import { type Product, startProduct } from './products.ts'
import { describeOnCluster } from './shared-cluster.ts'
import { startTraffic, type TrafficTotals } from './traffic.ts'
import type { UpgradeBed } from './upgrade-bed.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

const PODS = ['web-0', 'web-1', 'web-2']
const IMAGES = ['localhost/app:v2', 'localhost/app:v3']
/** The expected history of each pod: in rotation, then out once and back for each image. */
const ONCE_EACH = Object.fromEntries(PODS.map((pod) => [pod, [false, ...IMAGES.flatMap(() => [true, false])]]))
/** Failures of the connection between the client and the load balancer. Where a pod fails, the load balancer answers 502. */
const CUTS = ['EOF', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'idle connection closed']
/**
 * The allowed difference by chance: a client may meet the moment of a change or not, so two rounds of equal changes have different counts.
 */
const chanceAround = (cuts: number): number => 2 * cuts + 6

const programs = new Map<ProductName, string | undefined>()
for (const name of ['caddy', 'envoy', 'nginx', 'traefik'] as const) programs.set(name, (await findProduct(name)).program)

describeOnCluster('three pods from v1 to v2 to v3 at 200 requests a second', (cluster) => {
  let bed: UpgradeBed | undefined
  const products: Product[] = []

  afterEach(async () => {
    await Promise.all(products.splice(0).map((product) => product.stop()))
    await bed?.stop()
    bed = undefined
  })

  async function start(namespace: string, names: readonly ProductName[]): Promise<{ bed: UpgradeBed; own: Product[] }> {
    bed = await startUpgradeBed(cluster(), {
      name: namespace,
      objects: [statefulSet({ name: 'web', namespace, readyAfter: 1 })],
      app: 'web',
      count: PODS.length,
    })
    for (const name of names) products.push(await startProduct(cluster(), name, programs.get(name)!, await bed.pods()))
    return { bed, own: products }
  }

  async function upgradeTwice({ configFile, upgrade, pods }: UpgradeBed, loadBalancers: readonly object[]): Promise<void> {
    await writeFile(configFile, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers }))
    for (const image of IMAGES) {
      const { code, stderr } = await upgrade('statefulset/web', `app=${image}`)
      expect(code, stderr).toBe(0)
      expect((await pods()).map(({ spec }) => spec.containers[0].image)).toEqual(PODS.map(() => image))
    }
  }

  function expectNoFailure({ failed, byKind, byVersion, failures }: TrafficTotals): void {
    expect(failed, JSON.stringify([byKind, failures.slice(0, 5)])).toBe(0)
    expect(Object.keys(byVersion).toSorted()).toEqual(['v1', 'v2', 'v3'])
  }

  for (const name of ['envoy', 'traefik'] as const)
    it.skipIf(programs.get(name) === undefined)(
      `behind ${name}: no failed request, each pod out once for each image`,
      async () => {
        const {
          bed: own,
          own: [product],
        } = await start(`behind-${name}`, [name])
        const traffic = await startTraffic(cluster(), { url: product!.url })
        await upgradeTwice(own, [product!.loadBalancer])
        expectNoFailure(await traffic.stop())
        expect(await product!.history()).toEqual(ONCE_EACH)
      },
    )

  it.skipIf(programs.get('envoy') === undefined)('behind HAProxy and Envoy at once: the same through both', async () => {
    const {
      bed: own,
      own: [envoy],
    } = await start('behind-two', ['envoy'])
    const haproxy = {
      name: 'edge',
      adapter: 'haproxy',
      port: appPort,
      options: { socket: own.haproxy.recorder.socket, backend: 'web' },
    }
    const traffic = await Promise.all([own.haproxy.url, envoy!.url].map((url) => startTraffic(cluster(), { url })))
    await upgradeTwice(own, [haproxy, envoy!.loadBalancer])
    for (const one of traffic) expectNoFailure(await one.stop())
    expect(await envoy!.history()).toEqual(ONCE_EACH)
    expect(own.effects()).toEqual(Object.fromEntries(PODS.map((pod) => [pod, IMAGES.flatMap(() => ['drain', 'ready'])])))
    expect(own.haproxy.recorder.effects()).toHaveLength(2 * PODS.length * IMAGES.length)
  })

  for (const name of ['nginx', 'caddy'] as const)
    it.skipIf(programs.get(name) === undefined)(
      `behind ${name}: an upgrade cuts no more connections than its changes do without any restart, and no pod fails`,
      async () => {
        const {
          bed: own,
          own: [product],
        } = await start(`behind-${name}`, [name])
        const pods = await own.pods()
        const control = await startTraffic(cluster(), { url: product!.url, expectFailures: true })
        await changeWithoutRestart(product!, pods)
        const changes = await control.stop()
        expect(await product!.history()).toEqual(ONCE_EACH)
        const traffic = await startTraffic(cluster(), { url: product!.url, expectFailures: true })
        await upgradeTwice(own, [product!.loadBalancer])
        const upgrade = await traffic.stop()
        const cut = [changes, upgrade].map(({ requests, byKind }) => ({ requests, byKind }))
        console.log(`${name}: ${JSON.stringify({ withoutRestart: cut[0], upgrade: cut[1] })}`)
        for (const { byKind } of cut) expect(CUTS).toEqual(expect.arrayContaining(Object.keys(byKind)))
        expect(upgrade.failed).toBeLessThanOrEqual(chanceAround(changes.failed))
        expect(Object.keys(upgrade.byVersion).toSorted()).toEqual(['v1', 'v2', 'v3'])
        expect(await product!.history()).toEqual(
          Object.fromEntries(PODS.map((pod) => [pod, [...ONCE_EACH[pod]!, ...ONCE_EACH[pod]!.slice(1)]])),
        )
      },
    )
})

/** Makes the changes in the load balancer that the upgrades of all images make, one pod after another. */
async function changeWithoutRestart(
  { loadBalancer: { adapter: name, options } }: Product,
  pods: readonly KubeObject[],
): Promise<void> {
  const definition = await loadAdapter(name)
  const adapter = definition.create(definition.options.parse(options), { name: 'edge' })
  const callOf = ({ id }: Target): EffectCall => ({
    deadlineMs: 10_000,
    assertLive: () => {},
    operationIds: new Map([[id, crypto.randomUUID()]]),
    fence: 1,
  })
  try {
    const endpoints = pods.map(({ metadata, status }): Endpoint => {
      return { uid: metadata.uid, pod: metadata.name, address: status.podIP, port: appPort }
    })
    const call = { deadlineMs: 10_000, assertLive: () => {} }
    const found = await adapter.resolve(endpoints, call as EffectCall)
    const targets = found.flatMap((one) => (one.found ? one.targets : []))
    for (const target of [...targets, ...targets]) {
      const prior = (await adapter.snapshot([target], callOf(target))).get(target.id)!.prior
      expect((await adapter.drain([target], callOf(target))).get(target.id)).toEqual({ outcome: 'applied' })
      await sleep(1_000)
      expect((await adapter.restore([{ target, prior }], callOf(target))).get(target.id)).toEqual({ outcome: 'applied' })
      await sleep(1_000)
    }
  } finally {
    await adapter.close()
  }
}
