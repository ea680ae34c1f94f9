import { describe, expect, test } from 'vitest'
import type { ReasonCode } from '../../reasons/reason.ts'
import { journalOf, writeJournal } from '../../journal/journal.ts'
import type { LedgerEntry } from '../../journal/ledger.ts'
import { testTarget } from '../../journal/testing/journals.ts'
import type { Journal, PodView } from '../../pods/glossary.ts'
import { testPod } from '../../pods/testing/raw-pod.ts'
import type { LedgerStore } from '../ledgers/ledger-store.ts'
import type { Found } from './meant.ts'
import { decide } from './resolution.ts'

const target = testTarget({ target: 'web/web-0@10.0.0.1:80' })
const journal: Journal = { run: 'r1', epoch: 3, attempt: 1, step: 'restore', generation: 2, baseline: [], targets: [target] }
const storeOf = (run: string, startedAt: string): LedgerStore => ({ ledger: { header: { run, startedAt } } }) as LedgerStore
const store = storeOf('r1', '2')
const EDGE = { loadBalancer: 'edge', target: target.target }
const INNER = { loadBalancer: 'inner', target: testTarget({ loadBalancer: 'inner' }).target }
const resolveInner = { command: 'resolve', pod: 'web-0', namespace: 'shop', loadBalancers: ['inner'], traffic: 'in' }
const saidOf = (traffic: 'in' | 'out', ...loadBalancers: string[]) => ({ code: 'said-of-pod', traffic, loadBalancers })
const refusal = (reason: { code: ReasonCode } & Record<string, unknown>): unknown =>
  expect.objectContaining({ kind: 'preflight', reason: expect.objectContaining(reason) as unknown })
const IN = { traffic: 'in', loadBalancers: [] } as const
const OUT = { traffic: 'out', loadBalancers: [] } as const

function pod(annotation?: string): PodView {
  return { ...testPod({ name: 'web-0', uid: 'u0' }), journal: annotation === undefined ? {} : { annotation } }
}

function entry(fields: Partial<LedgerEntry> = {}): LedgerEntry {
  return { uid: 'u0', pod: 'web-0', targets: [target], state: 'open', ...fields }
}

function found(view: PodView | undefined, ...entries: LedgerEntry[]): Found {
  return {
    namespace: 'shop',
    name: 'web-0',
    ...(view ? { pod: view, stored: journalOf(view) } : { stored: { kind: 'none' } }),
    entries: entries.map((one) => ({ store, entry: one })),
  }
}

describe('a pod that is there', () => {
  test('in: its record is closed, under the epoch of who says it', () => {
    const { journal: decided, entries } = decide(found(pod(writeJournal(journal)), entry()), IN, 9)
    expect(decided?.next).toMatchObject({ run: 'r1', step: 'closed', epoch: 9 })
    // The entry of an unfinished run is closed together with the run.
    expect(entries).toEqual([])
  })

  test('in, of one that is patched and not ready: who says so hears that no run puts it back any more', () => {
    const done = (['patched', 'restore'] as const).flatMap((step) =>
      [false, true].map((ready) => {
        const view = { ...pod(writeJournal({ ...journal, step })), ready }
        return decide(found(view, entry()), IN, 9).journal?.done
      }),
    )
    const closed = { code: 'said-and-closed', pod: 'web-0', patchedAndUnready: false }
    const unready = { ...closed, patchedAndUnready: true }
    expect(done).toEqual([unready, closed, closed, closed])
  })

  test('out: the same run goes on', () => {
    const { journal: decided } = decide(found(pod(writeJournal(journal)), entry()), OUT, 9)
    expect(decided?.next).toMatchObject({ run: 'r1', step: 'patched', attempt: 2, epoch: 9, targets: [{ said: 'out' }] })
  })

  test('out is not taken for a part of what a restore was begun for', () => {
    const inner = { ...target, loadBalancer: 'inner' }
    const both = writeJournal({ ...journal, targets: [target, inner] })
    const part = { ...OUT, loadBalancers: ['inner'] }
    expect(() => decide(found(pod(both), entry({ targets: [target, inner] })), part, 9)).toThrow(
      refusal({ code: 'say-first-where-in', pod: 'web-0', loadBalancers: ['edge'] }),
    )
    const told = writeJournal({ ...journal, targets: [{ ...target, said: 'in' }, inner] })
    expect(() => decide(found(pod(told), entry({ targets: [target, inner] })), part, 9)).toThrow(
      refusal({ code: 'said-in-before', pod: 'web-0', loadBalancers: ['edge'] }),
    )
  })

  test('a journal that cannot be read is made anew of the ledger', () => {
    const { journal: decided } = decide(found(pod('{'), entry()), OUT, 9)
    expect(decided?.next).toMatchObject({ run: 'r1', step: 'drain', targets: [{ ...target, said: 'out' }] })
    expect(decide(found(pod('{'), entry()), IN, 9).journal?.next).toMatchObject({ run: 'r1', step: 'closed' })
  })

  test('with the images that it had before: whether it was patched is told by them', () => {
    const view = { ...testPod({ uid: 'u0', containers: [{ name: 'app', image: 'app:v2' }] }), journal: { annotation: '{' } }
    const before = { images: [{ container: 'app', image: 'app:v1' }] }
    const { journal: decided } = decide(found(view, entry({ before })), OUT, 9)
    expect(decided?.next.baseline).toMatchObject([{ name: 'app', image: 'app:v1' }])
  })

  test('out says nothing of a pod whose containers have ended for good', () => {
    const ended = { ...pod(writeJournal(journal)), finished: true as const }
    expect(() => decide(found(ended, entry()), OUT, 9)).toThrow(refusal({ code: 'pod-has-ended', pod: 'web-0' }))
  })

  test('and without a ledger it can only be closed', () => {
    expect(decide(found(pod('{')), IN, 9).journal?.next).toMatchObject({ step: 'closed', epoch: 9 })
    expect(() => decide(found(pod('{')), OUT, 9)).toThrow(refusal({ code: 'nothing-on-record', pod: 'web-0' }))
  })

  test('at another address than its entries: out is not enough', () => {
    const moved = found(pod(writeJournal(journal)), entry({ state: 'abandoned' }))
    expect(() => decide(moved, OUT, 9)).toThrow(refusal({ code: 'pod-at-other-address', pod: 'web-0' }))
    expect(decide(moved, IN, 9)).toMatchObject({
      journal: { next: { step: 'closed' } },
      entries: [{ next: { state: 'closed' } }],
    })
  })

  test('nor where the run before has it open, whichever of the two is found first', () => {
    const moved = found(pod(writeJournal(journal)), entry(), entry({ state: 'abandoned' }))
    expect(() => decide(moved, OUT, 9)).toThrow(refusal({ code: 'pod-at-other-address', pod: 'web-0' }))
    expect(decide(moved, IN, 9).entries).toMatchObject([{ next: { state: 'closed' } }])
  })

  describe('that several runs have on record, in whatever order', () => {
    const of = (view: PodView, ...all: [run: string, startedAt: string, fields: Partial<LedgerEntry>][]): Found[] => {
      const entries = all.map(([run, startedAt, fields]) => ({ store: storeOf(run, startedAt), entry: entry(fields) }))
      return [entries, entries.toReversed()].map((some) => ({ ...found(view), entries: some }))
    }
    const light = { targets: [{ ...target, prior: { weight: 1 } }] }
    const heavy = { targets: [{ ...target, prior: { weight: 50 } }] }

    test('one that cannot be read is made anew of the newest', () => {
      for (const state of ['open', 'abandoned'] as const) {
        for (const one of of(pod('{'), ['a', '1', { ...light, state }], ['z', '2', heavy])) {
          expect(decide(one, OUT, 9).journal?.next).toMatchObject({ run: 'z', targets: [{ prior: { weight: 50 } }] })
        }
      }
    })

    test('what one before the drain has left to a person counts no more', () => {
      const drained = pod(writeJournal({ ...journal, run: 'z' }))
      for (const one of of(drained, ['a', '1', { state: 'abandoned' }], ['z', '2', {}]))
        expect(decide(one, OUT, 9).journal?.next).toMatchObject({ run: 'z', step: 'patched' })
    })

    test('control: the same drain, which another run has gone on with', () => {
      const adopted = pod(writeJournal({ ...journal, run: 'z', origin: 'a' }))
      for (const one of of(adopted, ['a', '1', { state: 'abandoned' }], ['z', '2', {}])) {
        expect(() => decide(one, OUT, 9)).toThrow(refusal({ code: 'pod-at-other-address', pod: 'web-0' }))
        expect(decide(one, IN, 9).entries).toMatchObject([{ next: { state: 'closed' } }])
      }
    })
  })
})

describe('for the report of a run', () => {
  const told = (...asked: Parameters<typeof decide>) =>
    decide(...asked).told.map(({ uid, outcome, reason, out, advice }) => ({
      uid,
      outcome,
      reason,
      out,
      ...(advice && { advice }),
    }))

  test('of a pod that is there: what was said, and whether anything is open', () => {
    const live = found(pod(writeJournal(journal)), entry())
    const base = { uid: 'u0', outcome: 'resolved' }
    expect(told(live, IN, 9)).toEqual([{ ...base, reason: saidOf('in'), out: false }])
    expect(told(live, OUT, 9)).toEqual([{ ...base, reason: saidOf('out'), out: true }])
    const inner = { ...target, loadBalancer: 'inner' }
    const both = found(pod(writeJournal({ ...journal, targets: [target, inner] })), entry({ targets: [target, inner] }))
    const [part] = told(both, { ...IN, loadBalancers: ['edge'] }, 9)
    const rest = [{ loadBalancer: 'inner', target: target.target }]
    const reason = { code: 'several', reasons: [saidOf('in', 'edge'), { code: 'rest-unsaid', entries: rest }] }
    expect(part).toMatchObject({ uid: 'u0', outcome: 'needsOperator', reason, out: true })
    expect(part?.advice).toEqual([
      { code: 'rest-is-left', entries: rest },
      { code: 'put-rest-back', commands: [resolveInner] },
    ])
  })

  test('control: of a part of a pod that is not on its way back nothing is left that a run cannot go on with', () => {
    const both = [target, { ...target, loadBalancer: 'inner' }]
    const drained = found(pod(writeJournal({ ...journal, step: 'drain', targets: both })), entry({ targets: both }))
    const words = [{ uid: 'u0', outcome: 'resolved', reason: saidOf('out', 'edge'), out: true }]
    expect(told(drained, { ...OUT, loadBalancers: ['edge'] }, 9)).toEqual(words)
  })

  test('control: nor where an operator had it out before in the rest', () => {
    const both = [target, { ...target, loadBalancer: 'inner', untouched: true }]
    const back = found(pod(writeJournal({ ...journal, targets: both })), entry({ targets: both }))
    expect(told(back, { ...IN, loadBalancers: ['edge'] }, 9)).toMatchObject([{ outcome: 'resolved', out: false }])
  })

  test('once, also of one whose entry is closed with its record', () => {
    expect(told(found(pod(writeJournal(journal)), entry({ state: 'abandoned' })), IN, 9)).toMatchObject([
      { uid: 'u0', reason: saidOf('in') },
    ])
  })

  test('of a pod that is gone: its entry, and what is left of it', () => {
    const gone = entry({ uid: 'u-gone', state: 'abandoned', targets: [target, testTarget({ loadBalancer: 'inner' })] })
    const all = {
      uid: 'u-gone',
      outcome: 'resolved',
      reason: { code: 'said-of-entries', traffic: 'in', entries: [EDGE, INNER] },
    }
    expect(told(found(undefined, gone), IN, 9)).toEqual([{ ...all, out: false }])
    const reason = {
      code: 'several',
      reasons: [
        { code: 'said-of-entries', traffic: 'in', entries: [EDGE] },
        { code: 'rest-unsaid', entries: [INNER] },
      ],
    }
    const advice = [{ code: 'rest-is-left-of-gone', entries: [INNER], commands: [{ ...resolveInner, gone: true }] }]
    const part = { uid: 'u-gone', outcome: 'needsOperator', reason, advice, out: true }
    expect(told(found(undefined, gone), { ...IN, loadBalancers: ['edge'] }, 9)).toEqual([part])
  })
})

describe('a pod that is gone', () => {
  const gone = entry({ uid: 'u-gone', state: 'abandoned' })

  test('nothing goes on for it: its entry is closed', () => {
    const { journal: none, entries } = decide(found(undefined, gone), IN, 9)
    expect(none).toBeUndefined()
    const done = { code: 'said-of-former-pod', pod: 'web-0', entries: [EDGE], traffic: 'in' }
    expect(entries).toMatchObject([{ next: { uid: 'u-gone', state: 'closed' }, done }])
  })

  test.each([
    ['none of its name', undefined],
    ['its successor', pod()],
  ])('out: that is on record, and a run puts it back for the pod in its place (%s)', (_, view) => {
    expect(() => decide(found(view, gone), OUT, 9)).toThrow(refusal({ code: 'pod-is-gone', pod: 'web-0' }))
  })

  test('out, of its successor that is half done: the entry of the one that is gone stays open', () => {
    const { journal: decided, entries } = decide(found(pod(writeJournal(journal)), gone), OUT, 9)
    expect([decided?.next.step, entries]).toEqual(['patched', []])
  })

  test('its successor of the same name is left alone', () => {
    const { journal: none, entries } = decide(found(pod(), gone), IN, 9)
    expect([none, entries.map(({ next }) => next.uid)]).toEqual([undefined, ['u-gone']])
  })

  test('of several entries the others stay', () => {
    const inner = testTarget({ loadBalancer: 'inner' })
    const { entries } = decide(found(undefined, { ...gone, targets: [target, inner] }), { ...IN, loadBalancers: ['edge'] }, 9)
    expect(entries[0]?.next).toMatchObject({ state: 'abandoned', targets: [inner] })
  })

  test('what an operator had out before is none of them', () => {
    const inner = testTarget({ loadBalancer: 'inner', untouched: true })
    const { entries } = decide(found(undefined, { ...gone, targets: [target, inner] }), { ...IN, loadBalancers: ['edge'] }, 9)
    expect(entries[0]?.next).toMatchObject({ state: 'closed' })
  })
})

describe('what was left out, since nothing was to come in the place of its pod', () => {
  const left = entry({ uid: 'u-gone', state: 'closed', leftOut: true })

  test.each([
    ['in', IN],
    ['out', OUT],
  ] as const)('%s: no run asks for it any more', (traffic, word) => {
    for (const view of [undefined, pod(), pod(writeJournal({ ...journal, step: 'closed' }))]) {
      const { journal: none, entries, told } = decide(found(view, left), word, 9)
      expect(none).toBeUndefined()
      expect(entries).toMatchObject([
        {
          next: { uid: 'u-gone', state: 'closed' },
          done: { code: 'said-of-former-pod', pod: 'web-0', entries: [EDGE], traffic },
        },
      ])
      expect(entries[0]?.next).not.toHaveProperty('leftOut')
      expect(told).toMatchObject([
        { outcome: 'resolved', reason: { code: 'said-of-entries', traffic, entries: [EDGE] }, out: false },
      ])
    }
  })

  test('of one that was evicted, and is there still', () => {
    const view = pod(writeJournal({ ...journal, step: 'closed' }))
    const { entries } = decide(found(view, { ...left, uid: 'u0' }), OUT, 9)
    expect(entries).toMatchObject([{ next: { uid: 'u0', state: 'closed' } }])
    expect(entries[0]?.next).not.toHaveProperty('leftOut')
  })

  test('of a part of it: the rest is left out still', () => {
    const inner = testTarget({ loadBalancer: 'inner' })
    const { entries } = decide(found(pod(), { ...left, targets: [target, inner] }), { ...OUT, loadBalancers: ['edge'] }, 9)
    expect(entries[0]?.next).toMatchObject({ state: 'closed', leftOut: true, targets: [inner] })
  })

  test('out, while its successor is half done, could be said of either', () => {
    const both = found(pod(writeJournal(journal)), left)
    expect(() => decide(both, OUT, 9)).toThrow(refusal({ code: 'two-pods-of-name', pod: 'web-0' }))
    const live = decide(both, { ...OUT, of: 'live' }, 9)
    expect([live.journal?.next.step, live.entries]).toEqual(['patched', []])
    const gone = decide(both, { ...OUT, of: 'gone' }, 9)
    expect([gone.journal, gone.entries.map(({ next }) => next.leftOut)]).toEqual([undefined, [undefined]])
  })

  test('control: out, beside what a run puts back, is not taken', () => {
    const gone = entry({ uid: 'u-other', state: 'abandoned' })
    expect(() => decide(found(undefined, left, gone), OUT, 9)).toThrow(refusal({ code: 'pod-is-gone', pod: 'web-0' }))
  })
})

describe('a pod that is half done, in the place of one of its name that is gone', () => {
  const inner = testTarget({ loadBalancer: 'inner' })
  const live = pod(writeJournal({ ...journal, step: 'patched' }))
  const both = found(live, entry({ uid: 'u-gone', state: 'abandoned', targets: [target, inner] }))
  const outcome = (...asked: Parameters<typeof decide>) => {
    const { journal: decided, entries } = decide(...asked)
    return [decided?.next.step, entries.map(({ next }) => [next.state, next.targets.length])]
  }

  test('in: it is asked which, and how that is said', () => {
    expect(() => decide(both, IN, 9)).toThrow(
      refusal({ code: 'two-pods-of-name', pod: 'web-0', live: [EDGE], gone: [EDGE, INNER] }),
    )
    expect(() => decide(both, { ...IN, loadBalancers: ['edge'] }, 9)).toThrow(refusal({ code: 'two-pods-of-name', pod: 'web-0' }))
  })

  test('of each of them', () => {
    expect(outcome(both, { ...IN, of: 'live' }, 9)).toEqual(['closed', []])
    expect(outcome(both, { ...IN, of: 'gone' }, 9)).toEqual([undefined, [['closed', 2]]])
    expect(outcome(both, { ...IN, of: 'gone', loadBalancers: ['edge'] }, 9)).toEqual([undefined, [['abandoned', 1]]])
  })

  test('of a load balancer that only one of them has: that one is meant', () => {
    expect(outcome(both, { ...IN, loadBalancers: ['inner'] }, 9)).toEqual([undefined, [['abandoned', 1]]])
    const elsewhere = found(live, entry({ uid: 'u-gone', state: 'abandoned', targets: [inner] }))
    expect(outcome(elsewhere, { ...IN, loadBalancers: ['edge'] }, 9)).toEqual(['closed', []])
  })

  test('control: out is said of the one that is there, without a word', () => {
    expect(outcome(both, OUT, 9)).toEqual(['patched', []])
    expect(() => decide(both, { ...OUT, of: 'gone' }, 9)).toThrow(refusal({ code: 'pod-is-gone', pod: 'web-0' }))
  })

  test('control: nor where nothing is open for one of them; then there is nothing to say of it', () => {
    const successor = found(pod(), entry({ uid: 'u-gone', state: 'abandoned' }))
    expect(outcome(successor, IN, 9)).toEqual([undefined, [['closed', 1]]])
    expect(() => decide(successor, { ...IN, of: 'live' }, 9)).toThrow(
      refusal({ code: 'nothing-to-resolve', pod: 'web-0', namespace: 'shop', of: 'live' }),
    )
    expect(outcome(found(live, entry()), IN, 9)).toEqual(['closed', []])
    expect(() => decide(found(live, entry()), { ...IN, of: 'gone' }, 9)).toThrow(
      refusal({ code: 'nothing-to-resolve', pod: 'web-0', of: 'gone' }),
    )
  })

  test('one that has come to another address, too', () => {
    const moved = found(live, entry({ state: 'abandoned' }), entry({ uid: 'u-gone', state: 'abandoned' }))
    expect(() => decide(moved, IN, 9)).toThrow(refusal({ code: 'two-pods-of-name', pod: 'web-0' }))
    expect(decide(moved, { ...IN, of: 'live' }, 9)).toMatchObject({ journal: {}, entries: [{ next: { uid: 'u0' } }] })
    expect(decide(moved, { ...IN, of: 'gone' }, 9).entries).toMatchObject([{ next: { uid: 'u-gone' } }])
  })
})

describe('refused', () => {
  test.each([
    ['nothing is on record', found(pod())],
    ['no such pod', found(undefined)],
    ['it is closed', found(pod(writeJournal({ ...journal, step: 'closed' })))],
    ['an entry of a run that has not come to the pod', found(pod(), entry())],
  ])('%s: there is nothing to resolve', (_, world) => {
    expect(() => decide(world, IN, 9)).toThrow(
      refusal({ code: 'nothing-to-resolve', pod: 'web-0', namespace: 'shop', of: 'any' }),
    )
    expect(() => decide(world, OUT, 9)).toThrow(expect.objectContaining({ kind: 'preflight' }))
  })

  test('a load balancer that does not have it', () => {
    expect(() => decide(found(pod(writeJournal(journal))), { ...IN, loadBalancers: ['inner'] }, 9)).toThrow(
      refusal({ code: 'not-in-named-load-balancers', pod: 'web-0', known: ['edge'], named: ['inner'] }),
    )
  })
})
