import type { ChildProcess } from 'node:child_process'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type JobBalancer, startJobBalancer } from './job-balancer.ts'
import { PORT, type ProductBed, startProductBed, type Upgrade } from './product-bed.ts'

/* Whole upgrades, by processes of their own, behind a load balancer whose changes are accepted with 202 and done later. */

const PODS = ['web-0', 'web-1', 'web-2']
/** Each effect is one call, in the order of the rollout. */
const ONCE_EACH = PODS.toReversed().flatMap((name) => [`${name} drain 202`, `${name} ready 202`])

let bed: ProductBed
const cleanups: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  bed = await startProductBed({ web: PODS.length })
}, 90_000)

afterEach(async () => {
  await bed.endUpgrades()
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

afterAll(() => bed?.stop())

async function balance({ jobMs }: { jobMs: number }): Promise<JobBalancer> {
  const servers = bed.pods().map(({ metadata: { name }, status }) => ({
    name,
    address: `${status!.podIP}:${PORT}`,
    state: 'ready',
  }))
  const balancer = await startJobBalancer({ servers, jobMs })
  cleanups.push(balancer.stop)
  return balancer
}

async function upgrade({ url }: JobBalancer, image: string): Promise<Upgrade> {
  const path = '/servers/${target.id}'
  const options = {
    url,
    targets: { request: { path: '/servers' }, each: 'body.servers', id: 'entry.name', address: 'entry.address' },
    inspect: { admin: 'entry.state == "ready" ? "in" : "draining"', prior: '{"state": entry.state}' },
    drain: { method: 'PUT', path, body: { state: 'drain' }, expect: [202] },
    restore: { method: 'PUT', path, body: { state: '${prior.state}' }, expect: [202] },
  }
  return bed.upgrade({ config: await bed.configure([{ name: 'edge', adapter: 'http', port: PORT, options }]), image })
}

const inRotation = ({ servers }: JobBalancer): boolean => servers.every(({ state }) => state === 'ready')

test('three pods: one call an effect, though each is done a second and a half after its answer', async () => {
  const balancer = await balance({ jobMs: 1_500 })
  const { code, said, stderr } = await (await upgrade(balancer, bed.nextImage())).ended
  expect(code, said).toBe(0)
  expect(stderr).not.toContain('202')
  expect(balancer.writes).toEqual(ONCE_EACH)
  expect(inRotation(balancer)).toBe(true)
}, 90_000)

test('killed right after a drain and a restore were accepted: whoever goes on waits for them, and sends none twice', async () => {
  const balancer = await balance({ jobMs: 2_000 })
  let running: ChildProcess | undefined
  let left = ['web-2 drain', 'web-2 ready']
  balancer.onAccepted((write) => {
    if (!left.includes(write)) return
    left = left.filter((one) => one !== write)
    running!.kill('SIGKILL')
  })
  const codes: (number | null)[] = []
  const image = bed.nextImage()
  for (let life = 0; life < 3; life += 1) {
    const { child, ended } = await upgrade(balancer, image)
    running = child
    codes.push((await ended).code)
  }
  expect(codes).toEqual([null, null, 0])
  expect(balancer.writes).toEqual(ONCE_EACH)
  expect(inRotation(balancer)).toBe(true)
}, 180_000)
