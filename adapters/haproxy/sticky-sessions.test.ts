import { expect, test } from 'vitest'
import type { ServerState } from './servers-state.ts'
import type { ServerCount } from './stats.ts'
import { createStickySessions } from './sticky-sessions.ts'

const server: ServerState = {
  backendId: '3',
  id: '1',
  name: 'a',
  address: '10.0.0.1',
  port: 80,
  opState: 2,
  adminState: 8,
  weight: 1,
  configuredWeight: 1,
  agentState: 0,
  hostName: '-',
  srvRecord: '-',
}

function count(sessions: number, lastSession: number, lastChange: number): ServerCount {
  return { name: 'a', address: '10.0.0.1:80', inFlight: 0, sessions, lastSession, lastChange }
}

// On HAProxy 2.8 and later a drain does not set `lastchg`. It shows the last health check or the start.
test.each([
  { said: 'the same count as at the drain', now: count(7, 1, 60), ago: undefined },
  { said: 'a session more', now: count(8, 1, 60), ago: 1 },
  { said: 'a session more, in the second of the change', now: count(8, 0, 0), ago: 0 },
  { said: 'a session more, long ago', now: count(8, 5, 60), ago: undefined },
])('after a drain of its own, $said: $ago', ({ now, ago }) => {
  const sticky = createStickySessions()
  sticky.drained(server, count(7, 0, 60), 'first')
  expect(sticky.secondsSince(server, now, 'first')).toBe(ago)
  expect(sticky.secondsSince({ ...server, adminState: 0 }, now, 'first'), 'not drained').toBeUndefined()
})

test.each([
  { lastSession: 3, lastChange: 4, ago: 3 },
  { lastSession: 4, lastChange: 4, ago: undefined },
  { lastSession: 4, lastChange: 3, ago: undefined },
  { lastSession: 5, lastChange: 60, ago: undefined },
])('drained by another: a session $lastSession s ago, a change $lastChange s ago: $ago', ({ lastSession, lastChange, ago }) => {
  const sticky = createStickySessions()
  expect(sticky.secondsSince(server, count(1, lastSession, lastChange), 'first')).toBe(ago)
  // A reload counts from 0, so an earlier count does not help.
  sticky.drained(server, count(1, 0, 0), 'before the reload')
  expect(sticky.secondsSince(server, count(1, lastSession, lastChange), 'first')).toBe(ago)
  // A drain without a count replaces one with a count.
  sticky.drained(server, count(1, 0, 0), 'first')
  sticky.drained(server, undefined, 'first')
  expect(sticky.secondsSince(server, count(1, lastSession, lastChange), 'first')).toBe(ago)
})

test('what never had a session has none since its drain', () => {
  expect(
    createStickySessions().secondsSince(server, { name: 'a', address: '', inFlight: 0, sessions: 0 }, 'first'),
  ).toBeUndefined()
  expect(createStickySessions().secondsSince(server, undefined, 'first')).toBeUndefined()
})
