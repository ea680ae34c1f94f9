import { expect, it } from 'vitest'
import type { History } from './judge.ts'
import { judge } from './judge.ts'

const effect = (server: string, kind: 'drain' | 'ready' | 'weight', effective = true): History['effects'][number] => ({
  at: 0,
  server,
  kind,
  effective,
})

const standing = ['web-0', 'web-1'].map((server) => ({ server, adminState: 0, weight: 100 }))

function right(): History {
  return {
    image: 'app:v2',
    pods: ['web-0', 'web-1'],
    effects: [effect('web-1', 'drain'), effect('web-1', 'ready'), effect('web-0', 'drain'), effect('web-0', 'ready')],
    before: standing,
    after: standing,
    requests: 1000,
    failures: [],
    podsAfter: ['web-0', 'web-1'].map((name) => ({
      name,
      image: 'app:v2',
      running: 'app:v2',
      ready: true,
      revision: 'r2',
      step: 'closed',
    })),
    owner: { updated: 2, replicas: 2, revision: 'r2' },
    openLedgers: [],
    holder: '',
  }
}

it('finds nothing wrong with an upgrade that kept every promise', () => {
  expect(judge(right())).toEqual([])
})

it('lets pass what changed nothing, said a second time', () => {
  const history = right()
  history.effects.splice(1, 0, effect('web-1', 'drain', false))
  expect(judge(history)).toEqual([])
})

it('counts the rounds of a pod that was put back and drained again', () => {
  const history = right()
  history.effects.unshift(effect('web-1', 'drain'), effect('web-1', 'ready'))
  expect(judge(history, { rounds: { 'web-1': 2 } })).toEqual([])
  expect(judge(history)).toEqual([expect.stringContaining('web-1: effects were [drain,ready,drain,ready]')])
})

const wrong: [string, (history: History) => void, string][] = [
  ['a second restore', ({ effects }) => effects.push(effect('web-0', 'ready')), 'web-0: effects were'],
  ['a drain without a restore', ({ effects }) => effects.pop(), 'web-0: effects were'],
  ['a restore before its drain', ({ effects }) => effects.splice(0, 2, effects[1]!, effects[0]!), 'web-1: effects were'],
  ['no effect at all', (history) => (history.effects = []), 'web-0: effects were []'],
  [
    'a weight that is changed on the way',
    ({ effects }) => effects.splice(1, 0, effect('web-1', 'weight')),
    'web-1: effects were',
  ],
  ['a stranger', ({ effects }) => effects.push(effect('api-0', 'drain')), "api-0 was changed, which was nobody's business"],
  ['two out at once', ({ effects }) => effects.splice(1, 2, effects[2]!, effects[1]!), '2 pods were out at once'],
  ['a failed request', ({ failures }) => failures.push({ at: 0, kind: '503' }), '1 of 1000 requests failed: 1 503'],
  ['no traffic', (history) => (history.requests = 0), 'no request was sent'],
  [
    'a server left drained',
    (history) => (history.after = [{ ...standing[0]!, adminState: 8 }, standing[1]!]),
    'web-0 was left at adminState 8',
  ],
  [
    'another weight',
    (history) => (history.after = [{ ...standing[0]!, weight: 1 }, standing[1]!]),
    'left at adminState 0, weight 1',
  ],
  ['a server that is gone', (history) => (history.after = [standing[0]!]), 'web-1 was left at absent'],
  ['a pod on the old image', ({ podsAfter }) => (podsAfter[0]!.image = 'app:v1'), 'web-0 has the image app:v1'],
  ['a container of the old image', ({ podsAfter }) => (podsAfter[0]!.running = 'app:v1'), 'web-0 runs app:v1'],
  ['a pod that is not ready', ({ podsAfter }) => (podsAfter[0]!.ready = false), 'web-0 is not ready'],
  ['a pod without its revision', ({ podsAfter }) => (podsAfter[0]!.revision = 'r1'), 'web-0 has the revision r1'],
  ['a pod that is gone', ({ podsAfter }) => podsAfter.pop(), 'web-1 is gone'],
  ['an owner that counts otherwise', ({ owner }) => (owner!.updated = 1), 'counts 1 of 2 updated'],
  ['an open journal', ({ podsAfter }) => (podsAfter[0]!.step = 'restore'), 'the journal of web-0 is at restore'],
  ['an open ledger', ({ openLedgers }) => openLedgers.push('r1'), 'the ledger of run r1 has no end'],
  ['a Lease that is kept', (history) => (history.holder = 'someone'), 'someone still holds the Lease'],
]

it.each(wrong)('finds %s', (_, spoil, problem) => {
  const history = right()
  spoil(history)
  expect(judge(history).join('\n')).toContain(problem)
})

it('excuses only what it was told to', () => {
  const history = right()
  history.failures.push({ at: 100, kind: 'EOF' }, { at: 200, kind: 'EOF' })
  expect(judge(history, { excused: ({ at }) => at <= 100 })).toEqual([expect.stringContaining('1 of 1000 requests failed')])
})
