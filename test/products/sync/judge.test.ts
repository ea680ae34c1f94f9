import { expect, test } from 'vitest'
import { type Deviation, judge, type Outage, type Turn } from './judge.ts'

const KEY = 'shop/web/10.0.0.1'

/** Turns at these instants: ready, not ready, ready and so on. */
function turns(...instants: number[]): Turn[] {
  return instants.map((at, index) => ({ at, key: KEY, isReady: index % 2 === 0 }))
}

function found(truth: Turn[], seen: Turn[], outages: Outage[] = []): Partial<Deviation>[] {
  return judge({ truth, seen, outages, endedAt: 100 }).map(({ what, from, to, ms, isLasting }) => ({
    what,
    from,
    to,
    ms,
    isLasting,
  }))
}

test('an access cluster that follows each change has its lags, and nothing that lasts', () => {
  expect(found(turns(0, 50), turns(2, 53))).toEqual([
    { what: 'stale', from: 50, to: 53, ms: 3, isLasting: false },
    { what: 'late', from: 0, to: 2, ms: 2, isLasting: false },
  ])
})

test('an address that is left behind is stale until the end', () => {
  expect(found(turns(0, 50), turns(0))).toEqual([{ what: 'stale', from: 50, to: 100, ms: 50, isLasting: true }])
})

test('an address that never arrives is late until the end', () => {
  expect(found(turns(10), [])).toEqual([{ what: 'late', from: 10, to: 100, ms: 90, isLasting: true }])
})

test('an address that goes while its source has it is dropped, and not late', () => {
  expect(found(turns(0), turns(0, 40, 60))).toEqual([{ what: 'dropped', from: 40, to: 60, ms: 20, isLasting: false }])
})

test('an address that both lose, and that the client of the access cluster sees first, is not dropped', () => {
  expect(found(turns(0, 52), turns(1, 50)).map(({ what }) => what)).toEqual(['late', 'late'])
})

test('an address that goes while its source has it, and does not come back, is dropped until the end', () => {
  expect(found(turns(0), turns(0, 40))).toEqual([{ what: 'dropped', from: 40, to: 100, ms: 60, isLasting: true }])
})

test('an address that no source ever had is added', () => {
  expect(found([], turns(20))).toEqual([{ what: 'added', from: 20, to: 100, ms: 80, isLasting: true }])
})

test('a change that comes back before it is copied is a lag of both, and not a drop', () => {
  // Ready in the source until 50 and from 52 on; in the access cluster not ready from 54 to 56.
  expect(found(turns(0, 50, 52), turns(1, 54, 56)).map(({ what }) => what)).toEqual(['stale', 'late', 'late'])
})

test('the time of an outage does not count, for the addresses that it concerns', () => {
  const outage = (concerns: Outage['concerns']): Outage => ({ from: 45, to: 70, concerns })
  const ms = (outages: Outage[]): unknown => found(turns(0, 50), turns(0, 80), outages)[0]!.ms
  expect([ms([outage(() => true)]), ms([outage(() => false)]), ms([outage(() => true), outage(() => true)])]).toEqual([
    10, 30, 10,
  ])
})
