import { describe, expect, test } from 'vitest'
import type { Reason } from '../reasons/reason.ts'
import type { PodAccount, ProcessAccount } from './account.ts'
import { readPodAccount, readProcessAccount } from './account.ts'
import { KEPT_OF_POD, KEPT_PROCESSES, keptAccounts, keptProcesses } from './kept-accounts.ts'

const context = { targets: [], before: new Map<string, string>(), after: new Map<string, string>() }
const base = { startedAtMs: 0, phases: [], effects: [], restarts: [] }
const did = { ...base, phases: [{ state: 'draining', ms: 7 }], outcome: 'needsOperator', out: true }
const SAID: Reason = { code: 'said-of-pod', traffic: 'in', loadBalancers: [] }
const said = { ...base, outcome: 'resolved', reason: SAID }
const skipped = { ...base, phases: [{ state: 'checking', ms: 1 }], outcome: 'skipped' }
const unchanged = { ...base, phases: [{ state: 'queued', ms: 9 }], outcome: 'unchanged' }

/** Returns the places (from 1 on) of the accounts that are kept, and the number of lost accounts. */
function kept(...told: (Omit<PodAccount, 'epoch'> | 'unreadable')[]) {
  let written: unknown[] = []
  told.forEach((one, index) => {
    written = one === 'unreadable' ? [...written, '?'] : keptAccounts(written, { ...one, epoch: index + 1 }, context)
  })
  const accounts = written.map((value) => readPodAccount(value, context))
  return { places: accounts.map((account) => account?.epoch), lost: accounts.at(-1)?.lost }
}

describe('of a pod', () => {
  // The account of the process that drained and patched the pod stays. Lost accounts are counted.
  test('what a process did is not pushed out by what persons say', () => {
    expect(kept(did, said, said)).toEqual({ places: [1, 2, 3], lost: undefined })
    expect(kept(did, said, said, said, said)).toEqual({ places: [1, 4, 5], lost: { doing: 0, telling: 2 } })
  })

  test('what has to go is counted, and stays counted', () => {
    expect(kept(did, did, did, did, said)).toEqual({ places: [2, 3, 4, 5], lost: { doing: 1, telling: 0 } })
    expect(kept(did, did, did, did, said, said, said, did)).toEqual({ places: [3, 4, 6, 7, 8], lost: { doing: 2, telling: 1 } })
    expect(kept(did, did, did, did, skipped, skipped)).toEqual({ places: [2, 3, 4, 6], lost: { doing: 1, telling: 0 } })
  })

  test('that nothing was done with it is said once', () => {
    expect(kept(unchanged, unchanged, unchanged)).toEqual({ places: [3], lost: undefined })
    expect(kept(unchanged, skipped, skipped)).toEqual({ places: [1, 3], lost: undefined })
    expect(kept(said, unchanged, said)).toEqual({ places: [2, 3], lost: { doing: 0, telling: 1 } })
  })

  test('what processes of other runs find of it takes no place of those of its own', () => {
    const other = { ...skipped, run: 'x1' }
    expect(kept(did, skipped, other, { ...unchanged, run: 'x2' }, other)).toEqual({ places: [1, 2, 5], lost: undefined })
  })

  test('one that cannot be read may be of anything', () => {
    expect(kept('unreadable', did, did, said)).toEqual({ places: [undefined, 2, 3, 4], lost: undefined })
    expect(kept('unreadable', did, did, did)).toEqual({ places: [2, 3, 4], lost: { doing: 1, telling: 0 } })
  })

  test('there are never more than it has places for, whatever comes', () => {
    const all = Array.from(
      { length: 40 },
      (_, index) => [did, said, unchanged, { ...skipped, run: 'x' }, skipped][(index * 7) % 5]!,
    )
    expect(kept(...all).places.length).toBeLessThanOrEqual(KEPT_OF_POD.doing + KEPT_OF_POD.telling + KEPT_OF_POD.others)
  })
})

test('of a run, words of persons go before what has upgraded, and what has gone is counted', () => {
  const process = { by: 'ci', resumed: false, startedAt: '', endedAt: '', reason: SAID, window: 1, guarantees: [], warnings: [] }
  let written: unknown[] = []
  const tell = (epoch: number, outcome: ProcessAccount['outcome']) => {
    written = keptProcesses(written, { ...process, epoch, outcome })
    return written.map((value) => readProcessAccount(value)!)
  }
  for (let epoch = 1; epoch < KEPT_PROCESSES; epoch++) tell(epoch, epoch === 2 ? 'resolved' : 'interrupted')
  expect(tell(8, 'resolved').map(({ epoch }) => epoch)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  expect(tell(9, 'resolved').map(({ epoch }) => epoch)).toEqual([1, 3, 4, 5, 6, 7, 8, 9])
  tell(10, 'done')
  tell(11, 'done')
  const last = tell(12, 'done')
  expect(last.map(({ epoch }) => epoch)).toEqual([3, 4, 5, 6, 7, 10, 11, 12])
  expect(last.at(-1)?.lost).toBe(4)
})
