import { describe, expect, test } from 'vitest'
import type { PodResult } from '../events.ts'
import type { Observation } from '../../../machines/pod-upgrade/context.ts'
import type { LedgerHeader } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import { journalOf } from '../../journal/journal.ts'
import type { Term } from '../../pods/glossary.ts'
import { rawPod } from '../../pods/testing/raw-pod.ts'
import { JOURNAL_KEY } from '../../pods/view.ts'
import { closeLedgers, findLeftOpen } from './close-ledgers.ts'
import type { LedgerStore } from './ledger-store.ts'
import type { Recorded } from '../testing/ledgers.ts'
import { entryOf, ledgersOf, notFound } from '../testing/ledgers.ts'
import { said } from '../testing/said.ts'
import type { World } from '../world.ts'

const told = { process: { endedAt: 'then' }, pods: new Map() } as unknown as Parameters<typeof closeLedgers>[0]['told']
const patiently = (write: () => Promise<void>): Promise<void> => write()

const boundsOf = (): Map<string, Term> => new Map()

describe('an entry of a pod that nobody has looked after', () => {
  async function close(traffic: 'in' | 'out', pod?: ReturnType<typeof rawPod>, later: Recorded[] = []) {
    const { ledgers, ended } = ledgersOf({ startedAt: '1', entry: entryOf('web-2') }, later)
    const client = pod ? ({ get: async () => pod } as unknown as KubeClient) : notFound
    const world = {
      workloads: [],
      store: { get: () => undefined },
      journalOf,
      traffic: { inspect: async () => ({ state: traffic, inFlight: 0, detail: said('') }) },
    } as unknown as World
    const left = await findLeftOpen({ ledgers, pods: [], world, client, namespace: 'default', aborts: false })
    await closeLedgers({ ledgers, left, isComplete: true, unended: new Set(), boundsOf, told, assertOwned() {}, patiently })
    return { overlooked: left.overlooked, ended }
  }
  const journal = JSON.stringify({ v: 1, run: '1', epoch: 1, attempt: 1, step: 'drain', base: [], lbs: [] })

  test('keeps the run open, and is named: it went while it waited', async () => {
    expect(await close('out')).toEqual({ overlooked: [{ pod: 'web-2' }], ended: [] })
  })

  test('or it lives on, drained, where the selector has lost it', async () => {
    const pod = rawPod({ name: 'web-2', uid: 'uid of web-2', annotations: { [JOURNAL_KEY]: journal } })
    expect(await close('out', pod)).toEqual({ overlooked: [{ pod: 'web-2' }], ended: [] })
  })

  test('or with a record that cannot be read, which says neither', async () => {
    const pod = rawPod({ name: 'web-2', uid: 'uid of web-2', annotations: { [JOURNAL_KEY]: '{' } })
    expect(await close('out', pod)).toEqual({ overlooked: [{ pod: 'web-2' }], ended: [] })
  })

  test('control: or it is another run that has drained it since', async () => {
    const ofOther = JSON.stringify({ ...(JSON.parse(journal) as object), run: '9' })
    const pod = rawPod({ name: 'web-2', uid: 'uid of web-2', annotations: { [JOURNAL_KEY]: ofOther } })
    expect(await close('out', pod)).toEqual({ overlooked: [], ended: ['1'] })
  })

  test('control: a later run has settled it', async () => {
    const later = [{ startedAt: '2', entry: entryOf('web-2', { state: 'closed' }) }]
    expect(await close('out', undefined, later)).toEqual({ overlooked: [], ended: ['1', '2'] })
  })

  test('control: it was never drained', async () => {
    expect(await close('in')).toEqual({ overlooked: [], ended: ['1'] })
    expect(await close('out', rawPod({ name: 'web-2', uid: 'uid of web-2' }))).toEqual({ overlooked: [], ended: ['1'] })
  })
})

test('an entry of a pod that this run is not about, with a record that cannot be read: it is named, and its run stays open', async () => {
  const { ledgers } = ledgersOf({ startedAt: '2' }, [{ startedAt: '1', entry: entryOf('web-2') }])
  const left = async (stored: Observation['stored']) => {
    const world = { workloads: [], store: { get: () => ({ stored }) }, includes: () => false } as unknown as World
    const found = await findLeftOpen({ ledgers, pods: [], world, client: notFound, namespace: 'default', aborts: false })
    return [found.ledgers.size, found.overlooked]
  }
  expect(await left({ kind: 'unreadable', problem: { code: 'record-not-json' } })).toEqual([1, [{ pod: 'web-2' }]])
  expect(await left({ kind: 'none' })).toEqual([0, []])
})

test('an entry of a pod that is asked for, and of which nothing is told: an abort names it', async () => {
  const { ledgers } = ledgersOf({ startedAt: '1', entry: entryOf('web-2') })
  const journal = { run: '1', epoch: 1, attempt: 1, step: 'drain', baseline: [], targets: [] } as const
  const observed = { pod: {}, stored: { kind: 'read', journal } }
  const world = { workloads: [], store: { get: () => observed }, includes: () => true } as unknown as World
  const overlooked = async (aborts: boolean) =>
    (await findLeftOpen({ ledgers, pods: [], world, client: notFound, namespace: 'default', aborts })).overlooked
  expect(await overlooked(true)).toEqual([{ pod: 'web-2' }])
  expect(await overlooked(false), 'control: a run has a machine for it').toEqual([])
})

test('what was left out for a pod, and is told to be out of rotation for the one that has come all the same: its run stays open', async () => {
  const entry = entryOf('web-2', { state: 'closed', leftOut: true })
  const { ledgers } = ledgersOf({ startedAt: '2' }, [{ startedAt: '1', entry }])
  const world = { workloads: [], store: { get: () => undefined } } as unknown as World
  const left = async (out: boolean) => {
    const pods: PodResult[] = [
      {
        uid: entry.uid,
        pod: 'web-2',
        outcome: out ? 'needsOperator' : 'settled',
        reason: said('no answer'),
        traffic: out ? 'out' : 'leftOut',
        record: out ? 'open' : 'closed',
        advice: [],
        phases: {},
      },
    ]
    const found = await findLeftOpen({ ledgers, pods, world, client: notFound, namespace: 'default', aborts: false })
    return Array.from(found.ledgers, ({ ledger }) => ledger.header.run)
  }
  expect(await left(true)).toEqual(['1'])
  // Control: no replacement has come.
  expect(await left(false)).toEqual([])
})

test('a run that is over is so from the moment that its last process tells of: its report has nobody close it later', async () => {
  const { ledgers } = ledgersOf({ startedAt: '1' })
  const endings: Parameters<LedgerStore['conclude']>[0][] = []
  ledgers.current.conclude = async (ending) => void endings.push(ending)
  const left = { ledgers: new Set<never>(), overlooked: [], shared: new Set<never>() }
  await closeLedgers({ ledgers, left, isComplete: true, unended: new Set(), boundsOf, told, assertOwned() {}, patiently })
  expect(endings).toEqual([{ finished: { at: 'then' }, told: { ...told, voidBelow: new Map() } }])
})

test('one before it that goes on for other pods stays open, and what is over beside it says so; unless an order ends all', async () => {
  const close = async (aborted?: LedgerHeader['aborted']) => {
    const { ledgers } = ledgersOf({ startedAt: '3' }, [{ startedAt: '2' }, { startedAt: '1' }])
    const endings = new Map<string, unknown>()
    for (const store of [ledgers.current, ...ledgers.superseded])
      store.conclude = async ({ finished }) => void endings.set(store.ledger.header.run, finished)
    const left = { ledgers: new Set<never>(), overlooked: [], shared: new Set<never>() }
    const unended = new Set([ledgers.superseded[1]!.ledger])
    await closeLedgers({
      ledgers,
      left,
      isComplete: true,
      unended,
      boundsOf,
      told,
      assertOwned() {},
      patiently,
      ...(aborted ? { aborted } : {}),
    })
    return Object.fromEntries(endings)
  }
  const part = { at: 'then', part: true }
  expect(await close()).toEqual({ 2: part, 3: part })
  const aborted = { by: 'ann', left: [] }
  const ended = { at: 'then', aborted }
  expect(await close(aborted)).toEqual({ 1: ended, 2: ended, 3: ended })
})

test('what is told of a pod in the ledger of another run says whose word it is', async () => {
  const { ledgers } = ledgersOf({ startedAt: '2', entry: entryOf('web-2') }, [{ startedAt: '1', entry: entryOf('web-1') }])
  const endings = new Map<string, unknown>()
  for (const store of [ledgers.current, ...ledgers.superseded])
    store.conclude = async ({ told: own }) => void endings.set(store.ledger.header.run, [...(own?.pods ?? [])])
  const account = { epoch: 2, startedAtMs: 0, phases: [], effects: [], restarts: [], outcome: 'skipped', out: false }
  const pods = new Map(['web-1', 'web-2'].map((name) => [`uid of ${name}`, account]))
  const left = { ledgers: new Set<never>(), overlooked: [], shared: new Set<never>() }
  const own = { ...told, pods }
  await closeLedgers({ ledgers, left, isComplete: true, unended: new Set(), boundsOf, told: own, assertOwned() {}, patiently })
  expect(Object.fromEntries(endings)).toEqual({ 1: [['uid of web-1', { ...account, run: '2' }]], 2: [...pods] })
})

test('each says which drain intents count for nothing, whether it stays open or is over', async () => {
  const term = { lease: 'lease-1', epoch: 5 }
  const { ledgers } = ledgersOf({ startedAt: '2' }, [{ startedAt: '1' }])
  const endings = new Map<string, unknown>()
  for (const store of [ledgers.current, ...ledgers.superseded])
    store.conclude = async ({ told: own }) => void endings.set(store.ledger.header.run, own?.voidBelow)
  const close = (shared: LedgerStore[]) =>
    closeLedgers({
      ledgers,
      left: { ledgers: new Set<never>(), overlooked: [], shared: new Set(shared) },
      isComplete: true,
      unended: new Set(),
      boundsOf: ({ header }) => new Map([[`of ${header.run}`, term]]),
      told,
      assertOwned() {},
      patiently,
    })
  await close(ledgers.superseded)
  const terms = { 1: new Map([['of 1', term]]), 2: new Map([['of 2', term]]) }
  expect(Object.fromEntries(endings)).toEqual(terms)
  endings.clear()
  await close([])
  expect(Object.fromEntries(endings)).toEqual(terms)
})
