import type { AccountContext, PodAccount } from './account.ts'
import { readPodAccount } from './account.ts'
import { keptAccounts } from './kept-accounts.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'
import { writeEntry } from './ledger.ts'

/** The limit for accounts, in bytes. A ConfigMap holds 1 MiB, and the data that runs need may still grow. */
const MOST_BYTES = 1000 * 1024
const utf8 = new TextEncoder()

/** Returns the entries that these accounts belong to, with the accounts added. */
export function withAccounts({ header, entries }: Ledger, told: ReadonlyMap<string, PodAccount>): LedgerEntry[] {
  return Array.from(told, ([uid, account]) => {
    const entry = entries.get(uid)
    if (entry === undefined) return undefined
    return { ...entry, accounts: keptAccounts(entry.accounts ?? [], account, contextOf(entry, header)) }
  }).filter((entry) => entry !== undefined)
}

export function withoutAccounts(entry: LedgerEntry): LedgerEntry {
  const { accounts: _, ...rest } = entry
  return rest
}

/** Returns the accounts of an entry, the newest last. Accounts that cannot be read are left out. */
export function accountsOf(entry: LedgerEntry, header: Ledger['header']): PodAccount[] {
  return (entry.accounts ?? []).flatMap((value) => readPodAccount(value, contextOf(entry, header)) ?? [])
}

/** Returns the entries that fit into the ConfigMap beside its data. The data that runs need comes before accounts for the report. */
export function fitting(entries: readonly LedgerEntry[], data: Readonly<Record<string, string>>): LedgerEntry[] {
  let bytes = Object.entries(data).reduce((sum, [key, value]) => sum + sizeOf(key) + sizeOf(value), 0)
  return entries.filter((entry) => {
    const more = sizeOf(writeEntry(entry)) - sizeOf(data[entry.uid] ?? '')
    if (bytes + more > MOST_BYTES) return false
    bytes += more
    return true
  })
}

function contextOf({ targets, before }: LedgerEntry, { images }: Ledger['header']): AccountContext {
  return {
    targets,
    before: new Map(before?.images.map(({ container, image }) => [container, image])),
    after: new Map(images.map(({ container, image }) => [container, image])),
  }
}

function sizeOf(text: string): number {
  return utf8.encode(text).length
}
