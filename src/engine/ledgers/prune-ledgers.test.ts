import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { Ledger, LedgerEntry } from '../../journal/ledger.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Recorded } from '../testing/ledgers.ts'
import { entryOf, ledgersOf } from '../testing/ledgers.ts'
import { pruneLedgers } from './prune-ledgers.ts'

describe('what is kept of finished runs', () => {
  async function removed(
    finished: Recorded[],
    elsewhere: Ledger[] = [],
    heldFor = Infinity,
    named: string[] = [],
  ): Promise<string[]> {
    const { ledgers } = ledgersOf({ startedAt: '99' }, [], finished, elsewhere)
    const paths: string[] = []
    const remove = async (path: string, options: unknown): Promise<void> => {
      // The removal names the version that was read.
      expect(options).toEqual({ resourceVersion: '7' })
      paths.push(path)
    }
    const client = { delete: remove } as unknown as KubeClient
    const assertOwned = (): void => {
      if (paths.length >= heldFor) throw new Error('taken')
    }
    const pruning = pruneLedgers({ ledgers, client, namespace: 'default', assertOwned, named: new Set(named) })
    const [pruned] = await Promise.allSettled([pruning])
    expect(pruned.status).toBe(heldFor < Infinity ? 'rejected' : 'fulfilled')
    return paths.map((path) => path.split('-').at(-1)!)
  }
  /** The runs, the newest first. */
  const runs = (from: number, to: number, entry?: LedgerEntry): Recorded[] =>
    Array.from({ length: from - to + 1 }, (_, index) => ({ startedAt: String(from - index), ...(entry ? { entry } : {}) }))
  const worked = entryOf('web-0', { state: 'closed' })

  test('the newest ten, with this one', async () => {
    expect(await removed(runs(60, 50, worked))).toEqual(['51', '50'])
  })

  // Without the ledger, a drain intent that comes late would count.
  test('and one that the open journal of a pod names', async () => {
    expect(await removed(runs(60, 50, worked), [], Infinity, ['51'])).toEqual(['50'])
  })

  test('and what is not removed yet when the Lease is lost', async () => {
    expect(await removed(runs(60, 49, worked), [], 1)).toEqual(['51'])
  })

  test('and one that an undo of another workload needs, which was killed', async () => {
    const header = { run: 'u', undoes: '51', workloads: [], images: [], startedAt: '70', chunks: 1 }
    expect(await removed(runs(60, 50, worked), [{ header, entries: new Map() }])).toEqual(['50'])
  })

  test('and of those that have settled a pod of one that is not finished, the last that is left', async () => {
    const once = entryOf('web-1', { state: 'closed' })
    const both = [
      { startedAt: '51', entry: once },
      { startedAt: '50', entry: once },
    ]
    const open = ledgersOf({ startedAt: '40', entry: entryOf('web-1') }).ledgers.current.ledger
    expect(await removed([...runs(60, 52, worked), ...both], [open])).toEqual(['51'])
  })

  test('and what is among the newest ten of another workload, which an undo of that would miss', async () => {
    const api = [{ ...STATEFUL_SET, name: 'api', uid: 'a' }]
    const shared = { startedAt: '50', entry: worked, workloads: api }
    expect(await removed([...runs(60, 51, worked), shared])).toEqual(['51'])
    const header = { run: 'r', workloads: api, images: [], chunks: 1 }
    const later = runs(79, 70).map(({ startedAt }): Ledger => ({
      header: { ...header, startedAt },
      entries: new Map([[worked.uid, worked]]),
    }))
    expect(await removed([...runs(60, 51, worked), shared], later)).toEqual(['51', '50'])
  })

  test('those that found all done go first: what there is to undo is not pushed out by them', async () => {
    expect(await removed([...runs(70, 61), ...runs(40, 39, worked)])).toEqual(['63', '62', '61'])
  })
})
