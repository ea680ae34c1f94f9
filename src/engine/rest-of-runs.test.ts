import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { Ledger, LedgerHeader } from '../journal/ledger.ts'
import type { PodView } from '../pods/glossary.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import type { RunLedgers } from './ledgers/history.ts'
import type { RestOfRun } from './rest-of-runs.ts'
import { restOfRuns, restReasons } from './rest-of-runs.ts'
import { entryOf } from './testing/ledgers.ts'
import type { World } from './world.ts'

const image = (tag: string) => [{ container: 'app', image: `app:${tag}` }]
const WEB = { ...STATEFUL_SET, name: 'web', uid: 'w' }

const pod = (name: string, tag: string, change: Parameters<typeof testPod>[0] = {}): PodView =>
  testPod({ name, uid: `uid of ${name}`, owner: WEB, containers: [{ name: 'app', image: `app:${tag}` }], ...change })

/** The ledger of a run about all three pods. */
function ledger(run: string, tag: string, header: Partial<LedgerHeader> = {}): Ledger {
  const entries = new Map(['web-0', 'web-1', 'web-2'].map((name) => [`uid of ${name}`, entryOf(name)]))
  return { header: { run, workloads: [WEB], images: image(tag), startedAt: run, chunks: 1, ...header }, entries }
}

interface Runs {
  before?: Ledger[]
  finished?: Ledger[]
  seen?: PodView[]
  beside?: PodView[]
  wanted?: (pod: PodView) => { container: string; image: string }[]
}

/** The rest at the end of a run r3 to v2 that is about web-1 alone, and has brought it there. */
function rest({ before = [], finished = [], wanted = () => image('v2'), ...pods }: Runs): RestOfRun[] {
  const { seen = [pod('web-0', 'v1'), pod('web-1', 'v2'), pod('web-2', 'v1')], beside = [] } = pods
  const own = ledger('r3', 'v2')
  for (const name of ['web-0', 'web-2']) own.entries.delete(`uid of ${name}`)
  const stores = (some: Ledger[]) => some.map((one) => ({ ledger: one }))
  const ledgers = { current: { ledger: own }, superseded: stores(before), finished: stores(finished) }
  const world = {
    store: { get: (uid: string) => seen.flatMap((one) => (one.uid === uid ? [{ pod: one }] : []))[0] },
    beside: { all: () => beside.map((one) => ({ pod: one })) },
    workloadOf: (one: PodView) => (one.owner?.name === WEB.name ? { workload: { ref: WEB } } : undefined),
    imagesFor: wanted,
  }
  const isBrought = (uid: string): boolean => uid === 'uid of web-1'
  return restOfRuns({ ledgers: ledgers as unknown as RunLedgers, world: world as unknown as World, isBrought })
}

const shown = (some: RestOfRun[]) =>
  some.map((one) => [one.ledger.header.run, one.pods.map(({ name }) => name).join(), one.staysOpen])

test('a run before it that asked for the same stays open for pods that it is not about, by name or beside those of a label', () => {
  const [web0, web1, web2] = [pod('web-0', 'v1'), pod('web-1', 'v2'), pod('web-2', 'v1')]
  const open = [['r1', 'web-0,web-2', true]]
  expect(shown(rest({ before: [ledger('r1', 'v2')] }))).toEqual(open)
  expect(shown(rest({ before: [ledger('r1', 'v2')], seen: [web1], beside: [web0, web2] }))).toEqual(open)
})

test('one that asked for others, or for others of these containers, is not gone on with: they are named', () => {
  const runs = [ledger('r2', 'v2', { images: image('v9') }), ledger('r1', 'v0')]
  const left = [
    ['r2', 'web-0,web-2', false],
    ['r1', 'web-0,web-2', false],
  ]
  expect(shown(rest({ before: runs }))).toEqual(left)
  const several = [...image('v2'), { container: 'proxy', image: 'proxy:v1' }]
  expect(shown(rest({ before: [ledger('r1', 'v2')], wanted: () => several }))).toEqual([['r1', 'web-0,web-2', false]])
})

test('nor one whose workload another has come to its end with since, on other images perhaps', () => {
  const between = ledger('r2', 'v1', { finishedAt: 'then' })
  expect(rest({ before: [ledger('r1', 'v2')], finished: [between] })).toEqual([])
  // Controls: the later run was about a part itself, or about another workload.
  const others = [{ part: true as const }, { workloads: [{ ...WEB, name: 'api' }] }]
  for (const header of others)
    expect(
      rest({ before: [ledger('r1', 'v2')], finished: [{ ...between, header: { ...between.header, ...header } }] }),
    ).toHaveLength(1)
})

test.each<[string, PodView[]]>([
  ['is at the images', [pod('web-0', 'v2')]],
  ['is gone', []],
  ['is going', [pod('web-0', 'v1', { deleting: true })]],
  ['has come to its end', [pod('web-0', 'v1', { phase: 'Failed' })]],
  ['has been let go of by its workload', [pod('web-0', 'v1', { owner: { ...WEB, name: 'api' } })]],
  ['was brought there, and has got others from somebody since', [pod('web-1', 'v9')]],
  ['came later, on no record', [pod('web-9', 'v1')]],
])('no run stays open for a pod that %s', (_, seen) => {
  expect(rest({ before: [ledger('r1', 'v2')], seen })).toEqual([])
})

test('an undo has nothing to do with it: nor is it left on other images', () => {
  expect(rest({ before: [ledger('r1', 'v2')], wanted: () => [] })).toEqual([])
})

test('as reasons, of this run and of others', () => {
  const of = (run: string, names: string[], change: Partial<RestOfRun>): RestOfRun => ({
    ledger: ledger(run, 'v2'),
    isOwn: false,
    pods: names.map((name) => pod(name, 'v1')),
    staysOpen: true,
    ...change,
  })
  const own = of('r3', ['web-0'], { isOwn: true })
  expect(restReasons([])).toEqual([])
  expect(restReasons([own])).toEqual([{ code: 'stays-open', runs: [{ pods: ['web-0'] }] }])
  expect(restReasons([own, of('r2', ['web-2'], {}), of('r1', ['web-0', 'web-2'], { staysOpen: false })])).toEqual([
    { code: 'stays-open', runs: [{ pods: ['web-0'] }, { run: 'r2', pods: ['web-2'] }] },
    { code: 'on-other-images', run: 'r1', pods: ['web-0', 'web-2'] },
  ])
})
