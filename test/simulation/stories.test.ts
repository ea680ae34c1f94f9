import { expect, test } from 'vitest'
import type { HistoryEntry } from './checker/history.ts'
import type { Incident, Scene } from './scene.ts'
import { plainBalancer, plainScene } from './scene.ts'
import { simulate } from './simulate.ts'

/* Scenes that have shown a fault, each as a test of its own. */

const at = (atMs: number, kind: Incident['kind'], which = 0, forMs = 200): Incident => ({ atMs, kind, which, forMs })

async function play(change: Partial<Scene>) {
  const { history, violations, ends } = await simulate(plainScene({ calmAtMs: 60_000, ...change }))
  const told = history.flatMap((entry) => (entry.type === 'process' && entry.outcome !== undefined ? [entry.outcome] : []))
  return { history, violations, ends, told }
}

const drains = (history: readonly HistoryEntry[]): string[] =>
  history.flatMap((entry) => (entry.type === 'effect' && entry.effect === 'drain' ? [entry.target] : []))

test('a window that others hold for good is not waited for without end, and who holds it is said', async () => {
  // The replacement of the deleted pod comes from the new template, whose image does not exist.
  const { violations, told } = await play({ pods: 2, image: 'bad', incidents: [at(50, 'pod-force-deleted', 1)] })
  expect(violations).toEqual([])
  expect(told[0]).toBe('deadline: no pod may leave in time: the window of 1 is full: web-1 is not ready')
})

test('a pod that is being deleted takes a place in the window, and so does the one that is missed after it', async () => {
  const { violations, ends, history } = await play({ pods: 3, preStopMs: 2_000, incidents: [at(3_000, 'pod-evicted', 0)] })
  expect([violations, ends.at(-1)]).toEqual([[], 'done'])
  expect(drains(history)).toHaveLength(2)
})

test('a target that an operator had out and puts back while the pod is being emptied: the pod is not patched behind it', async () => {
  const balancers = [plainBalancer(), plainBalancer({ name: 'inner', maintained: [0], longestRequestMs: 8_000 })]
  const { violations, history, ends } = await play({ balancers, incidents: [at(400, 'operator-ends-maintenance', 1)] })
  expect([violations, ends.at(-1)]).toEqual([[], 'done'])
  expect(history.some((entry) => entry.type === 'target' && entry.by === 'operator' && entry.after?.admin === 'ready')).toBe(true)
})

test('a run that is refused names what an earlier one has left out of rotation, also of a pod that is gone', async () => {
  const { violations, told } = await play({
    pods: 2,
    hostNetwork: true,
    workload: 'DaemonSet',
    settings: { ...plainScene().settings, maxUnavailable: { count: 2 } },
    incidents: [at(500, 'crash', 0, 20_000), at(1_000, 'pod-deleted', 0), at(2_000, 'template-edited')],
  })
  expect(violations).toEqual([])
  const refused = told.filter((outcome) => outcome.startsWith('refused'))
  expect(refused.length).toBeGreaterThan(0)
  for (const outcome of refused)
    expect(outcome).toMatch(/run \w+ has left pod\/web-\w+ (drained, and that pod is gone|half done)/)
})

test('named pods of which one is gone: the error says which run has left the others unfinished', async () => {
  const { violations, told } = await play({
    pods: 2,
    workload: 'Pod',
    settings: { ...plainScene().settings, maxUnavailable: { count: 2 } },
    incidents: [at(300, 'crash', 0, 5_000), at(600, 'pod-force-deleted', 0)],
  })
  expect(violations).toEqual([])
  expect(told.at(-1)).toMatch(/there is no pod\/web-0 .*; run \w+ is not finished, and may have left half done: .*web-1/)
})

// The refusal has to mention the drained targets of the former process.
test.each([
  { when: 'as it begins', againAfterMs: 20_000, downAtMs: 15_000 },
  { when: 'when it has the Lease', againAfterMs: 100, downAtMs: 12_000 },
])('a load balancer does not answer $when: the refusal says what an earlier run may have left', async (moments) => {
  const { violations, told } = await play({
    pods: 2,
    incidents: [at(500, 'crash', 0, moments.againAfterMs), at(moments.downAtMs, 'balancer-restart', 0, 10_000)],
  })
  expect(violations).toEqual([])
  expect(told[0]).toMatch(/could not be asked: .*; run \w+ is not finished, and may have left half done: web-1/)
})

// Pods that are home, and pods whose turn has not come, are not named.
test('of pods whose own journals say that they are not half done it says nothing', async () => {
  const { violations, told } = await play({
    pods: 3,
    incidents: [at(4_500, 'crash', 0, 20_000), at(19_500, 'balancer-restart', 0, 10_000)],
  })
  expect(violations).toEqual([])
  expect(told[0]).toMatch(/could not be asked: .*; run \w+ is not finished, and may have left half done: web-1$/)
})

test.each([
  [87, ['done', 'done']],
  // The process begins again: the API server has come up, and forbids all requests at first.
  [366, ['deadline', 'done']],
])('who has waited for the Lease looks at the pods anew: nothing is settled twice (seed %d)', async (seed, wanted) => {
  const unreadable = plainBalancer({ level: 'G0', longestRequestMs: 100 })
  const { violations, history, ends } = await play({
    seed,
    workload: 'DaemonSet',
    readyAfterMs: 0,
    preStopMs: 2_000,
    balancers: [unreadable, { ...unreadable, name: 'inner', longestRequestMs: 2_000 }],
    settings: { ...plainScene().settings, readyForMs: 0 },
    faults: ['api-request-lost', 'api-409', 'watch-cut', 'watch-old-version', 'watch-malformed'],
    rate: 0.03,
    incidents: [
      at(1080.3058482706547, 'rival', 8, 40_000),
      at(1651.02244541049, 'pod-deleted', 5),
      at(2812.7145376056433, 'api-server-restart', 7, 40_000),
    ],
  })
  expect([violations, ends]).toEqual([[], wanted])
  const restores = history.flatMap((entry) => (entry.type === 'effect' && entry.effect === 'restore' ? [entry.balancer] : []))
  expect(restores.toSorted()).toEqual(['edge', 'inner'])
})

// Two Leases may have one epoch, so records of another owner must not be taken for its own.
test.each([394])(
  'who makes a Lease late, when another has come and its own was deleted, begins nothing (seed %d)',
  async (seed) => {
    const incidents = [at(30, 'takeover', 0, 20_000), at(2_300, 'lease-deleted')]
    const { violations, told, ends } = await play({ seed, pods: 2, faults: ['api-delayed'], rate: 0.2, incidents })
    expect([violations, ends.at(-1)]).toEqual([[], 'done'])
    expect(told).toContainEqual(expect.stringMatching(/^conflict: another run has come while the Lease sluice-statefulset-web/))
  },
)

test('Ctrl-C at any moment of a run that goes on with another: never taken for done before its pods are', async () => {
  const crash = at(40, 'crash', 0, 0)
  const { history } = await play({ pods: 2, incidents: [crash] })
  const starts = history.flatMap((entry) => (entry.type === 'process' && entry.what === 'started' ? [entry.at] : []))
  // The Lease of the dead process has run out by then.
  const takenAtMs = history.find((entry) => entry.at > starts[1]! + 10_000)!.at - starts[0]!
  for (let moment = takenAtMs - 40; moment < takenAtMs + 80; moment++) {
    const { told } = await play({ pods: 2, incidents: [crash, at(moment, 'interrupt')] })
    expect(told[0]).not.toMatch(/^done: 0/)
  }
})

test.each<{ name: string; change: Partial<Scene>; readyForMs?: number; stoppedAtMs?: number }>([
  { name: 'ready deadline is over, while the pod comes up', change: {} },
  {
    name: 'ready deadline is over, while the pod comes up and its watches are cut',
    change: { service: true, incidents: [at(40_000, 'api-server-restart', 0, 1_000)] },
  },
  { name: 'ready deadline is over, while the pod comes up, which has to be ready for a second', change: {}, readyForMs: 1_000 },
  {
    name: 'restart deadline is over, while the pod comes up on the same digest, which time alone proves',
    change: { image: 'v1-again', readyAfterMs: 1_000 },
    stoppedAtMs: 600,
  },
])('stopped until the $name: it is not rolled back', async ({ change, readyForMs = 0, stoppedAtMs = 20_000 }) => {
  const settings = { ...plainScene().settings, onFailure: 'rollback' as const, readyForMs }
  const incidents = [at(stoppedAtMs, 'stop', 0, 70_000), ...(change.incidents ?? [])]
  const { violations, told } = await play({ readyAfterMs: 50_000, calmAtMs: 120_000, ...change, settings, incidents })
  expect([violations, told]).toEqual([[], ['done: 1 upgraded, 0 at the wanted images already']])
})
