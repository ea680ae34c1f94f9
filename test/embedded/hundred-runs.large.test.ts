import { afterAll, beforeAll, expect, test } from 'vitest'
import { isReady } from '../../sim/kubelet/pod.ts'
import { connectManyRuns, type EndedRun, type ManyRuns } from './many-runs.ts'
import { type ManySets, startManySets } from './many-sets.ts'

/* 100 runs in one process, each of 10 pods of a StatefulSet of its own, in one namespace. */

const RUNS = 100
const PODS = 10
/** The delays are short, so that most of the time is sluice's. */
const DELAYS = { relistPeriod: [200, 220], sandbox: [5, 10], start: [10, 20], stop: [5, 10] } as const

let sets: ManySets
const connected: ManyRuns[] = []

beforeAll(async () => {
  sets = await startManySets({ sets: RUNS, pods: PODS, readyAfterMs: 0, delays: DELAYS })
})
afterAll(async () => {
  for (const runs of connected) await runs.close()
  await sets?.stop()
})

async function upgrade(image: string, sharesObservation: boolean): Promise<{ ended: EndedRun[]; runs: ManyRuns; most: number }> {
  const servers = sets.pods().map(({ metadata: { name }, status }) => ({ name, address: status!.podIP! }))
  const runs = await connectManyRuns({
    url: sets.cluster.url,
    servers,
    maxUnavailable: 5,
    scope: sharesObservation ? 'namespace' : 'request',
    sharesObservation,
  })
  connected.push(runs)
  await expect.poll(() => sets.watches.open(), { timeout: 10_000 }).toEqual([])
  sets.watches.reset()
  const ended = await runs.upgrade(sets.names, image)
  return { ended, runs, most: sets.watches.most() }
}

test('one observation: at most 5 watches at the API server, every run done, one drain and one restore a pod', async () => {
  const { ended, runs, most } = await upgrade('app:v2', true)
  expect(ended.flatMap(({ result: { outcome, reason } }) => (outcome === 'done' ? [] : [`${outcome}: ${reason}`]))).toEqual([])
  const outcomes = ended.flatMap(({ result }) => result.pods.map(({ outcome }) => outcome))
  expect([outcomes.length, new Set(outcomes)]).toEqual([RUNS * PODS, new Set(['upgraded'])])
  expect(new Set(ended.flatMap(({ warnings }) => warnings))).toEqual(new Set())

  const byServer = Map.groupBy(runs.balancer.changes, ({ id }) => id)
  const sequences = new Set(Array.from(byServer.values(), (own) => own.map(({ kind }) => kind).join(' ')))
  expect([byServer.size, sequences]).toEqual([RUNS * PODS, new Set(['drain restore'])])
  const images = new Set(sets.pods().map(({ spec }) => spec.containers[0]!.image))
  expect([sets.pods().every(isReady), images]).toEqual([true, new Set(['app:v2'])])

  expect(most).toBeLessThanOrEqual(5)
  // The last user closes a feed.
  await expect.poll(() => sets.watches.open(), { timeout: 10_000 }).toEqual([])
})

// The outcome of the runs is not tested here: 400 watches of one process are too many for this machine.
test('control: with an observation a run there are 400 watches', async () => {
  const { most } = await upgrade('app:v3', false)
  expect(most).toBeGreaterThanOrEqual(4 * RUNS)
})
