import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AdapterError } from '../contract.ts'
import { applyChanges, BATCH_MAX, type Change, levelError, splitIntoLines, weightChange } from './effects.ts'

const LONGEST_LINE = 8000

test('lines hold every change in order, and neither too many nor too long', () => {
  const change = fc.record({
    id: fc.string(),
    commands: fc.array(
      fc.nat({ max: 300 }).map((length) => 'x'.repeat(length)),
      { minLength: 1, maxLength: 2 },
    ),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 400 }), (wanted) => {
      const lines = splitIntoLines(wanted)
      expect(lines.flat()).toEqual(wanted)
      for (const line of lines) {
        expect(line.length).toBeLessThanOrEqual(BATCH_MAX)
        expect(line.flatMap(({ commands }) => commands).join(';').length).toBeLessThanOrEqual(LONGEST_LINE)
      }
    }),
  )
})

function changes(count: number): Change[] {
  return Array.from({ length: count }, (_, index) => ({ id: `t${index}`, commands: [`set server web/s${index} state drain`] }))
}

test('each target gets the reply to its own commands', async () => {
  const write = (commands: readonly string[]) =>
    Promise.resolve(commands.map((command) => (command.includes('s1 ') ? 'No such server.' : '')))
  const results = await applyChanges('haproxy edge', { read: write, write }, [{ id: 'none', commands: [] }, ...changes(3)])
  expect([...results].map(([id, { outcome }]) => [id, outcome])).toEqual([
    ['none', 'applied'],
    ['t0', 'applied'],
    ['t1', 'failed'],
    ['t2', 'applied'],
  ])
  expect(results.get('t1')).toMatchObject({ error: { kind: 'not-found' } })
})

test('a cut in the second line: the first is done, the second ambiguous, the third not sent', async () => {
  let lines = 0
  const write = (commands: readonly string[]) => {
    lines += 1
    if (lines === 1) return Promise.resolve(commands.map(() => ''))
    return Promise.reject(new AdapterError('haproxy edge', 'ambiguous', 'cut'))
  }
  const results = await applyChanges('haproxy edge', { read: write, write }, changes(BATCH_MAX * 2 + 1))
  const kind = (index: number) => {
    const result = results.get(`t${index}`)!
    return result.outcome === 'failed' ? result.error.kind : result.outcome
  }
  expect([kind(BATCH_MAX - 1), kind(BATCH_MAX), kind(BATCH_MAX * 2)]).toEqual(['applied', 'ambiguous', 'retryable'])
  expect(lines).toBe(2)
})

test.each([
  ['Permission denied', 'fatal'],
  ['No such backend.', 'not-found'],
  ['Proxy is disabled.', 'retryable'],
  ['Backend is using a static LB algorithm and only accepts weights 0% and 100%.', 'fatal'],
])('"%s" is %s', async (reply, kind) => {
  const write = () => Promise.resolve([reply])
  const results = await applyChanges('haproxy edge', { read: write, write }, changes(1))
  expect(results.get('t0')).toMatchObject({ outcome: 'failed', error: { kind } })
})

// An operator has set another weight, or a reload has lost the one that was set.
test.each([
  [3, { state: 'ready', weight: 7 }, 'weight 3 → 7'],
  [7, { state: 'ready', weight: 7 }, undefined],
  [3, { state: 'ready' }, 'weight 3 → 1'],
  [1, { state: 'ready' }, undefined],
] as const)('weight %d, and %j to put back: %s', (weight, prior, said) => {
  const server = {
    backendId: '3',
    id: '1',
    name: 'a',
    address: '10.0.0.1',
    port: 80,
    opState: 2,
    adminState: 8,
    weight,
    configuredWeight: 1,
    agentState: 0,
    hostName: '-',
    srvRecord: '-',
  }
  expect(weightChange(server, prior)).toBe(said)
})

test.each(['user', 'operator'])('a socket that calls itself %s is refused', (reply) => {
  expect(levelError('haproxy edge', '/run/x.sock', reply)).toMatchObject({
    kind: 'fatal',
    message: expect.stringContaining('stats socket /run/x.sock level admin'),
  })
})

// What answers otherwise stands before HAProxy: what it takes shows with the first change.
test.each(['admin', 'Unknown command.'])('a socket that answers %j may be used', (reply) => {
  expect(levelError('haproxy edge', '/run/x.sock', reply)).toBeUndefined()
})
