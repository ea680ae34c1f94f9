import { describe, expect, test } from 'vitest'
import { said } from '../cli/testing/samples.ts'
import type { PodAccount } from './account.ts'
import { accountsOf, fitting, withAccounts } from './ledger-accounts.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'
import { ENTRIES_PER_CHUNK, HEADER_KEY, writeEntry, writeHeader } from './ledger.ts'

const LIMIT = 2 ** 20

function entryOf(index: number): LedgerEntry {
  return {
    uid: `0f0e0d0c-0b0a-4000-8000-${String(index).padStart(12, '0')}`,
    pod: `checkout-frontend-${index}`,
    address: `10.244.${Math.floor(index / 250)}.${index % 250}`,
    node: `ip-10-0-12-${index % 250}.eu-central-1.compute.internal`,
    owner: { kind: 'StatefulSet', name: 'checkout-frontend', uid: 'f0e0d0c0-0b0a-4000-8000-000000000000', apiVersion: 'apps/v1' },
    targets: [
      {
        loadBalancer: 'edge',
        target: `web/checkout-frontend-${index}@10.244.0.1:8080`,
        scope: 'web',
        prior: { state: 'ready', weight: 100 },
        untouched: false,
      },
    ],
    before: {
      images: [{ container: 'app', image: 'registry.example/team/checkout:v1' }],
      revision: 'checkout-frontend-6c694d4cbf',
    },
    state: 'open',
  }
}

function accountOf(index: number): PodAccount {
  const states = ['queued', 'checking', 'draining', 'emptying', 'patching', 'restarting', 'warming', 'restoring', 'verifying']
  const call = {
    loadBalancer: 'edge',
    target: entryOf(index).targets[0]!.target,
    operation: '0123456789abcdef0123456789abcdef',
    durationMs: 12_345,
  }
  return {
    epoch: 12,
    startedAtMs: 1_792_000_000_000 + index,
    phases: states.map((state) => ({ state, ms: 12_345, waiting: { code: 'in-flight', requests: 0 } })),
    effects: [
      { ...call, afterMs: 1_234_567, effect: 'drain', outcome: 'applied', batch: 50 },
      { ...call, afterMs: 1_244_567, effect: 'restore', outcome: 'applied', batch: 50 },
    ],
    restarts: [
      {
        container: 'app',
        image: { from: 'registry.example/team/checkout:v1', to: 'registry.example/team/checkout:v2' },
        containerId: { from: '77135f95c0a1', to: '0b7d0f3c55aa' },
        imageId: { from: '4ceffbbb1234', to: '9b1de0c0ffee' },
      },
    ],
    outcome: 'upgraded',
    reason: { code: 'upgraded', rotation: 'in' },
    proof: 'witness',
    out: false,
  }
}

function ledgerOf(count: number): Ledger {
  return {
    header: {
      run: 'k3m9',
      workloads: [],
      images: [{ container: 'app', image: 'registry.example/team/checkout:v2' }],
      startedAt: '2026-01-01T00:00:00.000Z',
      chunks: 1,
    },
    entries: new Map(Array.from({ length: count }, (_, index) => [entryOf(index).uid, entryOf(index)])),
  }
}

function dataOf({ header, entries }: Ledger): Record<string, string> {
  return {
    [HEADER_KEY]: writeHeader(header),
    ...Object.fromEntries(Array.from(entries.values(), (entry) => [entry.uid, writeEntry(entry)])),
  }
}

const bytesOf = (data: Record<string, string>): number =>
  Object.entries(data).reduce((sum, [key, text]) => sum + key.length + Buffer.byteLength(text), 0)

function tell(ledger: Ledger, told: (index: number) => PodAccount): LedgerEntry[] {
  const accounts = new Map(Array.from(ledger.entries.keys(), (uid, index) => [uid, told(index)]))
  return fitting(withAccounts(ledger, accounts), dataOf(ledger))
}

describe('accounts in a ledger', () => {
  test('a full ConfigMap holds those of all its pods', () => {
    const ledger = ledgerOf(ENTRIES_PER_CHUNK)
    const entries = tell(ledger, accountOf)
    expect(entries).toHaveLength(ENTRIES_PER_CHUNK)
    for (const entry of entries) ledger.entries.set(entry.uid, entry)
    expect(bytesOf(dataOf(ledger))).toBeLessThan(LIMIT)
  })

  test('where there is no room for all, what is left out is whole, and the ConfigMap stays below its limit', () => {
    const ledger = ledgerOf(ENTRIES_PER_CHUNK)
    const long = (index: number): PodAccount => ({
      ...accountOf(index),
      outcome: 'failed',
      reason: said('ö'.repeat(300)),
      advice: [{ code: 'see-why', commands: [{ command: 'kubectl', namespace: 'shop', args: ['ö'.repeat(900)] }] }],
    })
    const entries = tell(ledger, long)
    expect(entries.length).toBeGreaterThan(0)
    expect(entries.length).toBeLessThan(ENTRIES_PER_CHUNK)
    for (const entry of entries) ledger.entries.set(entry.uid, entry)
    expect(bytesOf(dataOf(ledger))).toBeLessThan(LIMIT)
  })

  test('the newest come last, and the oldest go', () => {
    const ledger = ledgerOf(1)
    const [uid] = ledger.entries.keys()
    for (const epoch of [1, 2, 3, 4, 5]) {
      const [entry] = withAccounts(ledger, new Map([[uid!, { ...accountOf(0), epoch }]]))
      ledger.entries.set(uid!, entry!)
    }
    const entry = ledger.entries.get(uid!)!
    expect(accountsOf(entry, ledger.header).map(({ epoch }) => epoch)).toEqual([3, 4, 5])
    const { effects, restarts } = accountOf(0)
    const lost = { doing: 2, telling: 0 }
    expect(accountsOf(entry, ledger.header)[2]).toMatchObject({ effects, restarts, outcome: 'upgraded', lost })
  })

  test('who finds it done again and again does not push out who has upgraded it', () => {
    const ledger = ledgerOf(1)
    const [uid] = ledger.entries.keys()
    for (const epoch of [1, 2, 3, 4, 5]) {
      const found = { outcome: 'skipped', phases: [], effects: [], restarts: [] }
      const [entry] = withAccounts(ledger, new Map([[uid!, { ...accountOf(0), epoch, ...(epoch > 1 && found) }]]))
      ledger.entries.set(uid!, entry!)
    }
    const told = accountsOf(ledger.entries.get(uid!)!, ledger.header).map(({ epoch, outcome }) => [epoch, outcome])
    expect(told).toEqual([
      [1, 'upgraded'],
      [5, 'skipped'],
    ])
  })

  test('of a pod that the ledger does not know nothing is kept', () => {
    expect(withAccounts(ledgerOf(1), new Map([['nobody', accountOf(0)]]))).toEqual([])
  })

  test('one that cannot be read is left out', () => {
    const ledger = ledgerOf(1)
    const [entry] = ledger.entries.values()
    expect(accountsOf({ ...entry!, accounts: ['?', { v: 9 }] }, ledger.header)).toEqual([])
  })
})
