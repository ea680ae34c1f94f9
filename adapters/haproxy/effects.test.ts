import { expect, test } from 'vitest'
import { AdapterError } from '../contract.ts'
import { LONGEST_WRITE } from './connection.ts'
import { applyChanges, type Change, levelError, weightChange } from './effects.ts'

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

test('a cut in the second write: the first is done, the second ambiguous, the third not sent', async () => {
  const writes: (readonly string[])[] = []
  const write = (commands: readonly string[]) => {
    writes.push(commands)
    if (writes.length === 1) return Promise.resolve(commands.map(() => ''))
    return Promise.reject(new AdapterError('haproxy edge', 'ambiguous', 'cut'))
  }
  const wanted = changes((3 * LONGEST_WRITE) / 'set server web/s100 state drain'.length)
  const results = [...(await applyChanges('haproxy edge', { read: write, write }, wanted)).values()]
  const kinds = results.map((result) => (result.outcome === 'failed' ? result.error.kind : result.outcome))
  const [first = [], second = [], ...more] = writes
  expect(more).toEqual([])
  expect(kinds.slice(0, first.length)).toEqual(first.map(() => 'applied'))
  expect(kinds.slice(first.length, first.length + second.length)).toEqual(second.map(() => 'ambiguous'))
  expect(new Set(kinds.slice(first.length + second.length))).toEqual(new Set(['retryable']))
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

// An operator has set another weight, or a reload has lost the weight.
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

// A proxy in front of HAProxy may answer otherwise. The first change shows what it allows.
test.each(['admin', 'Unknown command.'])('a socket that answers %j may be used', (reply) => {
  expect(levelError('haproxy edge', '/run/x.sock', reply)).toBeUndefined()
})
