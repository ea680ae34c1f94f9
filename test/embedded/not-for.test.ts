import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type JobBalancer, startJobBalancer } from './job-balancer.ts'
import { expectDone, PORT, type ProductBed, startProductBed } from './product-bed.ts'

/* Whole upgrades where `drain.notFor` names a sidecar, by processes of their own. */

const PODS = ['web-0', 'web-1', 'web-2']
const AGENT = 'log-agent'
/** The calls in the order of the rollout. */
const ONCE_EACH = PODS.toReversed().flatMap((name) => [`${name} drain 202`, `${name} ready 202`])

let bed: ProductBed
let balancer: JobBalancer
let config: string
/** The path of the config without `drain.notFor`. */
let plainConfig: string

beforeAll(async () => {
  bed = await startProductBed({ web: PODS.length }, [AGENT])
  const servers = bed.pods().map(({ metadata: { name }, status }) => ({
    name,
    address: `${status!.podIP}:${PORT}`,
    state: 'ready',
  }))
  balancer = await startJobBalancer({ servers, jobMs: 0 })
  const path = '/servers/${target.id}'
  const options = {
    url: balancer.url,
    targets: { request: { path: '/servers' }, each: 'body.servers', id: 'entry.name', address: 'entry.address' },
    inspect: { admin: 'entry.state == "ready" ? "in" : "draining"', prior: '{"state": entry.state}' },
    drain: { method: 'PUT', path, body: { state: 'drain' }, expect: [202] },
    restore: { method: 'PUT', path, body: { state: '${prior.state}' }, expect: [202] },
  }
  const edge = [{ name: 'edge', adapter: 'http', port: PORT, options }]
  config = await bed.configure(edge, 'sluice.yaml', { drain: { notFor: [AGENT] } })
  plainConfig = await bed.configure(edge, 'plain.yaml')
}, 90_000)

afterEach(async () => {
  await bed.endUpgrades()
  balancer.requests.length = 0
  balancer.writes.length = 0
})

afterAll(async () => {
  await balancer?.stop()
  await bed?.stop()
})

const imagesOf = (container: string): string[] =>
  bed.pods().map(({ spec }) => spec.containers.find(({ name }) => name === container)!.image)
const startsOf = (container: string): (string | undefined)[] =>
  bed.pods().map(({ status }) => status!.containerStatuses!.find(({ name }) => name === container)!.containerID)
const all = (image: string): string[] => PODS.map(() => image)

/** Begins to give the sidecar an image, and kills the process once the first pod has it. */
async function killedInBetween(image: string): Promise<void> {
  const { child, ended } = bed.upgrade({ config, image, container: AGENT })
  await vi.waitFor(() => expect(imagesOf(AGENT)).toContain(image), { timeout: 30_000, interval: 5 })
  child.kill('SIGKILL')
  await ended
}

test('a run that changes the sidecar alone sends no load balancer anything, and restarts nothing else', async () => {
  const image = bed.nextImage()
  const [apps, agents] = [startsOf('app'), startsOf(AGENT)]
  const upgrade = bed.upgrade({ config, image, container: AGENT })
  await expectDone(upgrade)
  expect(balancer.requests).toEqual([])
  expect(imagesOf(AGENT)).toEqual(all(image))
  expect(startsOf('app')).toEqual(apps)
  for (const [place, id] of startsOf(AGENT).entries()) expect(id).not.toBe(agents[place])
}, 90_000)

test('so does its plan, which says why', async () => {
  const { code, said } = await bed.upgrade({ config, image: 'app:v0', container: AGENT, command: 'plan' }).ended
  expect(code, said).toBe(1)
  expect(said).toContain('stays as it is in rotation: drain.notFor names each container that changes')
  expect(balancer.requests).toEqual([])
}, 60_000)

test('control: without drain.notFor each pod is drained for it, and put back', async () => {
  const image = bed.nextImage()
  await expectDone(bed.upgrade({ config: plainConfig, image, container: AGENT }))
  expect(balancer.writes).toEqual(ONCE_EACH)
  expect(imagesOf(AGENT)).toEqual(all(image))
}, 90_000)

test('one that changes both drains each pod once', async () => {
  const image = bed.nextImage()
  await expectDone(bed.upgrade({ config, image, more: [`${AGENT}=${image}`] }))
  expect(balancer.writes).toEqual(ONCE_EACH)
  expect([imagesOf('app'), imagesOf(AGENT)]).toEqual([all(image), all(image)])
}, 90_000)

test('killed in between, it is gone on with, and no load balancer is sent anything', async () => {
  const image = bed.nextImage()
  await killedInBetween(image)
  await expectDone(bed.upgrade({ config, image, container: AGENT }))
  expect(balancer.requests).toEqual([])
  expect(imagesOf(AGENT)).toEqual(all(image))
}, 90_000)

test('killed in between, and the application is asked for then: the sidecar is ended first, and each pod drained once', async () => {
  await killedInBetween(bed.nextImage())
  expect(balancer.writes).toEqual([])
  const image = bed.nextImage()
  await expectDone(bed.upgrade({ config, image, more: [`${AGENT}=${image}`] }))
  // The next pod may begin while the first one is being closed.
  expect(balancer.writes.toSorted()).toEqual(ONCE_EACH.toSorted())
  expect([imagesOf('app'), imagesOf(AGENT)]).toEqual([all(image), all(image)])
}, 90_000)

test('killed in between, and the config does not name the sidecar any more: another image of it is refused, with a way out', async () => {
  await killedInBetween(bed.nextImage())
  const image = bed.nextImage()
  const { code, said } = await bed.upgrade({ config: plainConfig, image, container: AGENT }).ended
  expect(code, said).toBe(3)
  expect(said).toContain(`is half done without a drain, since drain.notFor has named ${AGENT}, which it does not any more`)
  await expectDone(bed.upgrade({ config, image, container: AGENT }))
  expect(balancer.writes).toEqual([])
  expect(imagesOf(AGENT)).toEqual(all(image))
}, 120_000)
