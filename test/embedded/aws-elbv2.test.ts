import * as sdk from '@aws-sdk/client-elastic-load-balancing-v2'
import type { ChildProcess } from 'node:child_process'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { writeProfiles } from '../../adapters/aws-elbv2/testing/credentials.ts'
import { serveApi } from '../../adapters/conformance/documented/api.ts'
import { createElbv2, type Elbv2, OWNER_KEY, TARGET_GROUP } from '../../adapters/conformance/documented/elbv2.ts'
import { createPool, type Pool } from '../../demo/load-balancer/pool.ts'
import type { Pod } from '../../sim/kubelet/pod.ts'
import { PORT, type ProductBed, startProductBed, type Upgrade } from './product-bed.ts'

/* Whole upgrades, by processes of their own, behind a target group of AWS as its documentation describes it. */

const PODS = ['web-0', 'web-1', 'web-2']
const ZONES: Record<string, string> = { 'web-0': 'all' }
const zoneOf = (name: string): string => ZONES[name] ?? 'eu-central-1a'
/** The changes in the order of the rollout. */
const ONCE_EACH = PODS.toReversed().flatMap((name) => [`${name} deregistered`, `${name} registered in ${zoneOf(name)}`])
const DELAY_MS = 1_500

let bed: ProductBed
let profiles: ReturnType<typeof writeProfiles>
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  // The processes have the environment of this process.
  profiles = writeProfiles({ default: OWNER_KEY })
  bed = await startProductBed({ web: PODS.length })
}, 90_000)

afterEach(async () => {
  await bed.endUpgrades()
  for (const cleanup of cleanups.splice(0)) cleanup()
})

afterAll(async () => {
  await bed?.stop()
  profiles.remove()
})

interface TargetGroup {
  elbv2: Elbv2
  pool: Pool
  upgrade(image: string): Promise<Upgrade>
}

/** Starts the target group. `onChanged` is called with each change, after it is made and before its answer. */
async function balance(onChanged: (change: string) => void = () => {}): Promise<TargetGroup> {
  const servers = bed.endpoints().map(({ pod, address, port }) => ({ name: pod, address: `${address}:${port}` }))
  const pool = createPool(servers)
  const elbv2 = createElbv2(pool, sdk, { deregistrationMs: DELAY_MS, initialMs: 500, delaySeconds: 2 })
  let seen = 0
  const api = await serveApi({
    ...elbv2,
    answer(request) {
      const answer = elbv2.answer(request)
      for (const change of elbv2.changes().slice(seen)) onChanged(change)
      seen = elbv2.changes().length
      return answer
    },
  })
  cleanups.push(() => {
    api.server.close()
    api.server.closeAllConnections()
  })
  const options = { targetGroups: [TARGET_GROUP], endpoint: api.url, deregistrationDelay: '2s', settle: '0s' }
  const deadlines = { drain: { deadline: '5m' }, deadlines: { restore: '5m' } }
  return {
    elbv2,
    pool,
    async upgrade(image) {
      const edge = { name: 'edge', adapter: 'aws-elbv2', port: PORT, options }
      return bed.upgrade({ config: await bed.configure([edge], 'aws.yaml', deadlines), image })
    },
  }
}

/** Returns the state of each pod's target when other images of the pod were stored. */
function statesAtPatch({ elbv2, pool }: TargetGroup): string[] {
  const states: string[] = []
  const stop = bed.cluster.apiServer.store.subscribe((resource, { before, after }) => {
    if (resource !== 'pods' || before === undefined || after === undefined) return
    const [was, is] = [before as Pod, after as Pod]
    if (was.spec.containers[0]?.image === is.spec.containers[0]?.image) return
    states.push(`${is.metadata.name} ${elbv2.healthStateOf(pool.find(is.metadata.name)!)}`)
  })
  cleanups.push(stop)
  return states
}

const areHealthy = ({ elbv2, pool }: TargetGroup): boolean =>
  pool.servers().every((server) => elbv2.healthStateOf(server) === 'healthy')

test('each pod is patched once its deregistration is over, and the next one goes once it is healthy again', async () => {
  const group: TargetGroup = await balance((change) => {
    if (change.endsWith('deregistered')) others.push(unhealthyBeside(change.split(' ')[0]!))
  })
  const others: string[][] = []
  const unhealthyBeside = (name: string): string[] =>
    group.pool
      .servers()
      .filter((server) => server.name !== name && group.elbv2.healthStateOf(server) !== 'healthy')
      .map((server) => server.name)
  const states = statesAtPatch(group)
  const { code, said } = await (await group.upgrade(bed.nextImage())).ended
  expect(code, said).toBe(0)
  expect(group.elbv2.changes()).toEqual(ONCE_EACH)
  expect(states).toEqual(PODS.toReversed().map((name) => `${name} unused`))
  expect(others).toEqual([[], [], []])
  expect(areHealthy(group)).toBe(true)
}, 90_000)

test('killed right after a deregistration and a registration, before their answers: one of each pod all the same', async () => {
  let running: ChildProcess | undefined
  let left = ['web-2 deregistered', `web-1 registered in ${zoneOf('web-1')}`]
  const group = await balance((change) => {
    if (!left.includes(change)) return
    left = left.filter((one) => one !== change)
    running!.kill('SIGKILL')
  })
  const states = statesAtPatch(group)
  const codes: (number | null)[] = []
  const image = bed.nextImage()
  for (let life = 0; life < 3; life += 1) {
    const { child, ended } = await group.upgrade(image)
    running = child
    codes.push((await ended).code)
  }
  expect(codes).toEqual([null, null, 0])
  expect(group.elbv2.changes()).toEqual(ONCE_EACH)
  expect(states).toEqual(PODS.toReversed().map((name) => `${name} unused`))
  expect(areHealthy(group)).toBe(true)
}, 180_000)

test('interrupted while a pod is deregistered: it is registered again once that is over, and nothing is patched', async () => {
  const group = await balance()
  const states = statesAtPatch(group)
  const { child, ended } = await group.upgrade(bed.nextImage())
  const isDraining = (): void => expect(group.elbv2.healthStateOf(group.pool.find('web-2')!)).toBe('draining')
  await vi.waitFor(isDraining, { timeout: 30_000, interval: 10 })
  child.kill('SIGINT')
  const { code, said } = await ended
  expect(code, said).toBe(130)
  expect(group.elbv2.changes()).toEqual(ONCE_EACH.slice(0, 2))
  // The target group refuses a registration before its time.
  const refused = group.elbv2.requests().filter(({ action }) => action === 'RegisterTargets')
  expect(refused).toHaveLength(1)
  expect(states).toEqual([])
}, 90_000)
