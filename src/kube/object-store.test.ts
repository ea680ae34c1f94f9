import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ObjectRecord } from './object-record.ts'
import { createObjectStore } from './object-store.ts'

/* The store never goes back in time, whichever events are lost, late, repeated or out of order. */

interface Version extends ObjectRecord {
  version: number
}

type Event = { type: 'ADDED' | 'MODIFIED' | 'DELETED'; record: Version }

const UIDS = ['a', 'b']

/** The steps of the server: each step creates, changes or deletes an object, under the next version. */
const history = fc.array(fc.record({ uid: fc.constantFrom(...UIDS), deletes: fc.boolean() }), { minLength: 1, maxLength: 12 })

function eventsOf(steps: readonly { uid: string; deletes: boolean }[]): Event[] {
  const alive = new Set<string>()
  const lives = new Map<string, number>()
  return steps.flatMap(({ uid, deletes }, index): Event[] => {
    const version = index + 1
    if (deletes && !alive.has(uid)) return []
    const type = deletes ? 'DELETED' : alive.has(uid) ? 'MODIFIED' : 'ADDED'
    if (type === 'ADDED') lives.set(uid, (lives.get(uid) ?? 0) + 1)
    if (deletes) alive.delete(uid)
    else alive.add(uid)
    // A uid is never used again.
    const life = `${uid}${lives.get(uid)}`
    return [{ type, record: { uid: life, name: uid, namespace: 'n', resourceVersion: String(version), version } }]
  })
}

/** The objects that exist after these events. */
function worldAfter(events: readonly Event[]): Map<string, Version> {
  const world = new Map<string, Version>()
  for (const { type, record } of events) {
    if (type === 'DELETED') world.delete(record.uid)
    else world.set(record.uid, record)
  }
  return world
}

type Reach = { what: 'next' | 'again' | 'answer' | 'relist'; which: number }
const reaching = fc.array(
  fc.record({
    what: fc.constantFrom('next' as const, 'next' as const, 'again' as const, 'answer' as const, 'relist' as const),
    which: fc.nat({ max: 20 }),
  }),
  { maxLength: 40 },
)

/** Passes the events to a store in their order, with repeated events, answers and lists in between; `look` is called after each. */
function play(
  steps: readonly { uid: string; deletes: boolean }[],
  reach: readonly Reach[],
  look: (records: ReadonlyMap<string, Version>) => void,
) {
  const events = eventsOf(steps)
  const store = createObjectStore<Version>()
  let told = 0
  const heard = new Map<string, Version>()
  const known = new Set<string>()
  function hear(event: { type: string; record: Version } | undefined): void {
    if (event === undefined) return
    const before = heard.get(event.record.uid)
    if (event.type !== 'deleted') expect(event.type).toBe(before === undefined ? 'added' : 'modified')
    if (event.type === 'deleted') heard.delete(event.record.uid)
    else {
      expect(event.record.version).toBeGreaterThan(before?.version ?? 0)
      heard.set(event.record.uid, event.record)
      known.add(event.record.uid)
    }
  }
  const next = (): void => {
    const event = events[told]
    if (event === undefined) return
    told += 1
    hear(store.apply(event.type, event.record))
  }
  for (const { what, which } of reach) {
    if (what === 'next') next()
    // A stream begins after its list, and repeats no event from before it.
    const earlier = told === 0 ? undefined : events[which % told]
    if (what === 'again' && earlier && earlier.type !== 'DELETED' && known.has(earlier.record.uid))
      hear(store.apply(earlier.type, earlier.record))
    const any = events[which % Math.max(1, events.length)]
    // Only known objects are read or written.
    if (what === 'answer' && any && any.type !== 'DELETED' && known.has(any.record.uid)) store.observe(any.record)
    if (what === 'relist') {
      told = Math.max(told, Math.min(events.length, told + (which % 4)))
      const records = [...worldAfter(events.slice(0, told)).values()]
      for (const event of store.replace({
        records,
        unreadable: new Set(),
        version: String(events[told - 1]?.record.version ?? 0),
      }))
        hear(event)
    }
    look(store.records())
  }
  while (told < events.length) next()
  return { store, events, heard }
}

test('a version is never replaced by an older one', () => {
  fc.assert(
    fc.property(history, reaching, (steps, reach) => {
      const newest = new Map<string, number>()
      play(steps, reach, (records) => {
        for (const [uid, { version }] of records) {
          expect(version).toBeGreaterThanOrEqual(newest.get(uid) ?? 0)
          newest.set(uid, version)
        }
      })
    }),
    { numRuns: 1_000 },
  )
})

test('once the whole stream has come, the store is what the server has, and so is what was told of it', () => {
  fc.assert(
    fc.property(history, reaching, (steps, reach) => {
      const { store, events, heard } = play(steps, reach, () => {})
      const world = worldAfter(events)
      expect(new Map(store.records())).toEqual(world)
      expect(heard).toEqual(world)
    }),
    { numRuns: 1_000 },
  )
})

test('a look at one name that is older than what the watch has told of it changes nothing', () => {
  const record = (uid: string, version: number): Version => ({
    uid,
    name: 'web-0',
    namespace: 'n',
    resourceVersion: String(version),
    version,
  })
  const store = createObjectStore<Version>()
  const looked = (records: Version[], version: string) =>
    store.replace({ records, unreadable: new Set(), version, name: 'web-0' }).map(({ type }) => type)
  store.apply('ADDED', record('old', 1))
  store.apply('DELETED', record('old', 2))
  store.apply('ADDED', record('new', 3))
  expect(looked([record('old', 1)], '1')).toEqual([])
  expect(looked([], '2')).toEqual([])
  expect([...store.records().keys()]).toEqual(['new'])
  // Control: a later answer counts.
  expect(looked([], '4')).toEqual(['deleted'])
  expect(looked([record('newest', 5)], '5')).toEqual(['added'])
})

test('after a restore of etcd, one list makes the store what the server has, and the stream goes on from there', () => {
  const stateAt = (events: readonly Event[], at: number): Map<string, Version> => worldAfter(events.slice(0, at))
  fc.assert(
    fc.property(
      history,
      reaching,
      fc.record({ keeps: fc.nat({ max: 12 }), isRaised: fc.boolean(), branch: history, listed: fc.nat({ max: 12 }) }),
      (steps, reach, { keeps, isRaised, branch, listed }) => {
        const { store, events, heard } = play(steps, reach, () => {})
        // The server goes back to an earlier state, and on from there: with the next versions, or with ones above all that were used.
        const kept = Math.min(keeps, events.length)
        const base = isRaised ? 1_000 : Number(events[kept - 1]?.record.version ?? 0)
        const after = eventsOf(branch).map(({ type, record }): Event => {
          const version = record.version + base
          return { type, record: { ...record, uid: `${record.uid}-again`, resourceVersion: String(version), version } }
        })
        const restored = [...events.slice(0, kept), ...after]
        const at = kept + Math.min(listed, after.length)
        const version = String(Math.max(base, restored[at - 1]?.record.version ?? 0))
        const seen = Number(events.at(-1)?.record.version ?? 0)
        const hasGoneBack = Number(version) < seen
        for (const { type, record } of store.replace({
          records: [...stateAt(restored, at).values()],
          unreadable: new Set(),
          version,
          hasGoneBack,
        })) {
          if (type === 'deleted') heard.delete(record.uid)
          else heard.set(record.uid, record)
        }
        expect(new Map(store.records())).toEqual(stateAt(restored, at))
        expect(heard).toEqual(stateAt(restored, at))
        for (const { type, record } of restored.slice(at)) store.apply(type, record)
        expect(new Map(store.records())).toEqual(worldAfter(restored))
      },
    ),
    { numRuns: 1_000 },
  )
})
