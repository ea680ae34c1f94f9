import type { PatchOperation } from '../../kube/client.ts'
import { isNotFound, KubeError } from '../../kube/errors.ts'
import { RunError } from '../errors.ts'
import type { PodAccount, ProcessAccount } from '../../journal/account.ts'
import { countedAsLost, keptProcesses } from '../../journal/kept-accounts.ts'
import { fitting, withAccounts, withoutAccounts } from '../../journal/ledger-accounts.ts'
import type { Ledger, LedgerEntry, LedgerHeader, LedgerWorkload, PlacedLedger, RetiredPlace } from '../../journal/ledger.ts'
import {
  FENCE_KEY,
  HEADER_KEY,
  chunkName,
  entryChunks,
  ledgerChunks,
  storedAborted,
  writeEntry,
  writeHeader,
} from '../../journal/ledger.ts'
import type { Term } from '../../pods/glossary.ts'
import { displayName } from '../../pods/workload-id.ts'
import type { AssertOwned, LedgerOptions } from './create-part.ts'
import { createNextPart, createPart, pathOfPart, RawConfigMap } from './create-part.ts'
import { isPassing } from './until-answered.ts'

/** The tries of one write, since the ConfigMap may be edited meanwhile. */
const MOST_REREADS = 3

/** The ledger of one run. Only its owner writes it. */
export interface LedgerStore {
  readonly ledger: Ledger
  /**
   * Adds or replaces one entry. An equal entry is not written. Rejects with a KubeError, and with the error of `assertOwned`, which is
   * asked before each try of each write.
   */
  put(entry: LedgerEntry, assertOwned?: AssertOwned): Promise<void>
  /** Adds the entries that the ledger lacks, in as few writes as possible. Rejects as `put` and `amend` do. */
  add(entries: readonly LedgerEntry[], assertOwned: AssertOwned): Promise<void>
  /**
   * Writes the former templates and the retired places into the header. An equal header is not written. Rejects with a KubeError, with a
   * RunError where the header was written since it was read, and with the error of `assertOwned`.
   */
  amend(change: { workloads: LedgerWorkload[]; retired?: RetiredPlace[] }, assertOwned: AssertOwned): Promise<void>
  /**
   * Writes the end of a process, in one write for each ConfigMap, the header last. `finished` is present where nothing is open any more,
   * with `aborted` where an order ended the run, and `part` where an earlier run stays open. Rejects as `put` does; only `conclude` may be
   * called after that.
   */
  conclude(
    ending: { finished?: { at: string } & Pick<LedgerHeader, 'aborted' | 'part'>; told?: Told },
    assertOwned?: AssertOwned,
  ): Promise<void>
}

/** The accounts of a process about its part of the run, for the report. */
export interface Told {
  /** Absent in the ledger of another run, whose pods the process has looked after. */
  process?: ProcessAccount
  /** The accounts of the pods, by uid. */
  pods: ReadonlyMap<string, PodAccount>
  /** The uids of pods for which nothing is drained now. */
  idle?: ReadonlySet<string>
  /** The terms below which drain intents are void, by uid. */
  voidBelow?: ReadonlyMap<string, Term>
}

/**
 * Writes a new ledger, and the header last, in a write of its own that tests the fence. A ledger without a header means that nothing began.
 * Without the test, a late write could make a ledger that counts as the newest after the next run has ended.
 */
export async function createLedger(
  ledger: Ledger,
  { client, namespace }: LedgerOptions,
  assertOwned: AssertOwned = () => {},
): Promise<LedgerStore> {
  const chunks = ledgerChunks(ledger)
  const chunkOf = new Map<string, number>()
  chunks.forEach((data, chunk) => Object.keys(data).forEach((uid) => chunkOf.set(uid, chunk)))
  const { run } = ledger.header
  const workloads = ledger.header.workloads.map(displayName)
  for (let chunk = chunks.length - 1; chunk >= 0; chunk--) {
    const { [HEADER_KEY]: _, ...data } = chunks[chunk]!
    await createPart({ run, chunk, fence: run, workloads, data }, { client, namespace }, assertOwned)
  }
  const fences = chunks.map(() => run)
  const header = { ...ledger.header, chunks: chunks.length }
  const store = ledgerStore({ header, entries: ledger.entries }, { chunkOf, fences, isBegun: false }, { client, namespace })
  await store.begin(assertOwned)
  return store
}

/** Continues a ledger of an earlier owner. A run must have fenced it before. */
export function resumeLedger({ ledger, places }: PlacedLedger, options: LedgerOptions): LedgerStore {
  const fences = places.parts.map(({ fence }) => fence)
  return ledgerStore(ledger, { chunkOf: places.chunkOf, fences, isBegun: true }, options)
}

function textsOf(entries: readonly LedgerEntry[]): (readonly [string, string])[] {
  return entries.map((entry) => [entry.uid, writeEntry(entry)])
}

interface KnownPlaces {
  chunkOf: Map<string, number>
  /** The fences by chunk. */
  fences: (string | undefined)[]
  /** Whether the header exists. */
  isBegun: boolean
}

interface NewLedgerStore extends LedgerStore {
  /** Writes the header, once all other data is written. Rejects as `amend` does. */
  begin(assertOwned: AssertOwned): Promise<void>
}

function ledgerStore(
  ledger: Ledger,
  { chunkOf, fences, isBegun }: KnownPlaces,
  { client, namespace }: LedgerOptions,
): NewLedgerStore {
  const { run } = ledger.header
  const options = { client, namespace }

  /** The stored text by key, as far as it is known. It is made at the first write, since most ledgers are only read. */
  let written: Map<string, string> | undefined

  /** The turn of writes that change the number of ConfigMaps. Two such writes at once would both make the next ConfigMap. */
  let turn: Promise<unknown> = Promise.resolve()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  /** The entry to be written last, by uid, until it is known to be stored. Its write is under way, or has no good answer. */
  const asked = new Map<string, LedgerEntry>()

  /** The uids of pods of whose accounts some were dropped. The account of the process has their number. */
  const withoutRoom = new Set<string>()

  function standing(): Map<string, string> {
    written ??= new Map([
      ...(isBegun ? [[HEADER_KEY, writeHeader(ledger.header)] as const] : []),
      ...Array.from(ledger.entries.values(), (entry) => [entry.uid, writeEntry(entry)] as const),
    ])
    return written
  }

  /**
   * Writes only over the known text, only while this process owns the Lease, and only with the known fence. A late write of an earlier
   * owner could otherwise open the ledger again after the next owner has ended the run. The Lease is checked right before each try, since a
   * write can be delayed for long. See fence-ledger.ts.
   */
  async function patch(chunk: number, values: Record<string, string>, assertOwned: AssertOwned): Promise<void> {
    const known = standing()
    const operations = [
      // The API server compares a missing key with null. This was measured.
      { op: 'test', path: `/data/${FENCE_KEY}`, value: fences[chunk] ?? null },
      ...Object.entries(values).flatMap(([key, value]): PatchOperation[] => [
        { op: 'test', path: `/data/${key}`, value: known.get(key) ?? null },
        { op: 'add', path: `/data/${key}`, value },
      ]),
    ] satisfies PatchOperation[]
    await assertOwned()
    await client.patch(pathOfPart(namespace, chunkName(run, chunk)), operations, { beforeAgain: assertOwned })
    for (const [key, value] of Object.entries(values)) known.set(key, value)
  }

  async function set(
    chunk: number,
    values: Record<string, string>,
    assertOwned: AssertOwned = () => {},
    tries = 0,
  ): Promise<void> {
    const fence = fences[chunk]
    try {
      await patch(chunk, values, assertOwned)
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      if (isNotFound(error)) {
        // The ConfigMap was deleted, and is made again from memory. It is the only record of pods that are gone.
        const own = fence ?? run
        await createPart({ run, chunk, fence: own, data: { ...dataOf(chunk), ...values } }, options, assertOwned)
        fences[chunk] = own
        for (const [key, value] of Object.entries(values)) standing().set(key, value)
      } else if (error.status === 422 && tries < MOST_REREADS && (await isOtherwise(chunk, Object.keys(values), fence))) {
        // A run that has ended meanwhile must not be opened again by an old header.
        const { [HEADER_KEY]: header } = values
        if (header !== undefined && !isHeaderOver(header) && isHeaderOver(standing().get(HEADER_KEY)))
          throw changedMeanwhile(error)
        return set(chunk, values, assertOwned, tries + 1)
      } else throw error
    }
  }

  /**
   * Reads the stored data after a failed guard, and reports whether it differs from the known data. The cause can be an own write without
   * an answer, an edit, or the fence of the owner of another workload of the run. `fence` is the fence of the failed write, since a
   * concurrent write may have read the new one.
   */
  async function isOtherwise(chunk: number, keys: readonly string[], fence: string | undefined): Promise<boolean> {
    const { data } = RawConfigMap.parse(await client.get(pathOfPart(namespace, chunkName(run, chunk))))
    const known = standing()
    let differs = data?.[FENCE_KEY] !== fence
    fences[chunk] = data?.[FENCE_KEY]
    for (const key of keys) {
      const now = data?.[key]
      differs ||= now !== known.get(key)
      if (now === undefined) known.delete(key)
      else known.set(key, now)
    }
    return differs
  }

  /** Writes with fewer accounts where the API server refuses the write: the report must not keep a run open. */
  async function setAtLeast(
    [values, ...lesser]: readonly (() => Record<string, string>)[],
    chunk: number,
    assertOwned?: AssertOwned,
  ): Promise<void> {
    const wanted = values!()
    if (Object.keys(wanted).length === 0) return
    try {
      await (lesser.length > 0 ? set : setInAnyCase)(chunk, wanted, assertOwned)
    } catch (error) {
      const isRefused = error instanceof KubeError && error.kind === 'definite' && !isPassing(error)
      if (!isRefused || lesser.length === 0) throw error
      for (const uid of Object.keys(wanted)) if (ledger.entries.get(uid)?.accounts) withoutRoom.add(uid)
      await setAtLeast(lesser, chunk, assertOwned)
    }
  }

  /** Writes an entry in any case: where the ConfigMap is full, the accounts in it make room. */
  async function setInAnyCase(chunk: number, values: Record<string, string>, assertOwned?: AssertOwned): Promise<void> {
    const known = standing()
    const before = Object.keys(values).map((key) => known.get(key))
    const fence = fences[chunk]
    try {
      await set(chunk, values, assertOwned)
    } catch (error) {
      // A guard that failed is no full ConfigMap, so the accounts stay.
      const isOutdated = fences[chunk] !== fence || Object.keys(values).some((key, index) => known.get(key) !== before[index])
      const told = [...ledger.entries.values()].filter(({ uid, accounts }) => accounts && chunkOf.get(uid) === chunk)
      if (!(error instanceof KubeError) || error.status !== 422 || isOutdated || told.length === 0) throw error
      const bare = Object.fromEntries(told.map((entry) => [entry.uid, writeEntry(withoutAccounts(entry))]))
      // The write has one try, since another entry in it may have been written anew.
      await set(chunk, { ...bare, ...values }, assertOwned, MOST_REREADS)
      for (const { uid } of told) {
        ledger.entries.set(uid, withoutAccounts(ledger.entries.get(uid)!))
        withoutRoom.add(uid)
      }
    }
  }

  /** Marks the entries of pods with nothing open, so that no later run settles them. */
  function withClear(changed: readonly LedgerEntry[], { idle = new Set(), voidBelow = new Map() }: Told): LedgerEntry[] {
    const entries = new Map(changed.map((entry) => [entry.uid, entry]))
    for (const uid of new Set([...idle, ...voidBelow.keys()])) {
      const entry = entries.get(uid) ?? ledger.entries.get(uid)
      if (entry?.state !== 'open') continue
      const bound = voidBelow.get(uid)
      entries.set(uid, { ...entry, ...(idle.has(uid) && { idle: true }), ...(bound !== undefined && { voidBelow: bound }) })
    }
    return [...entries.values()]
  }

  function dataOf(chunk: number): Record<string, string> {
    const data: Record<string, string> = chunk === 0 ? { [HEADER_KEY]: writeHeader(ledger.header) } : {}
    for (const entry of ledger.entries.values()) if (chunkOf.get(entry.uid) === chunk) data[entry.uid] = writeEntry(entry)
    return data
  }

  /** Writes the header only over the known one. The run may have ended since it was read, and would be open again. */
  async function writeOver(header: LedgerHeader, assertOwned: AssertOwned, tries = 0): Promise<void> {
    const text = writeHeader(header)
    const before = standing().get(HEADER_KEY)
    const fence = fences[0]
    try {
      await patch(0, { [HEADER_KEY]: text }, assertOwned)
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      const isOther = error.status === 422 && (await isOtherwise(0, [HEADER_KEY], fence))
      if (!isOther && !isNotFound(error)) throw error
      const now = standing().get(HEADER_KEY)
      // Only the fence has changed.
      if (isOther && now === before && tries < MOST_REREADS) return writeOver(header, assertOwned, tries + 1)
      // An earlier write of the same header got no answer.
      if (!isOther || now !== text) throw changedMeanwhile(error)
    }
    ledger.header = header
  }

  function changedMeanwhile(cause: KubeError): RunError {
    return new RunError('conflict', { code: 'record-changed', run }, { cause })
  }

  /**
   * Writes present entries in place, and new entries together into the last ConfigMap, or into additional ones where that has no room.
   * Single writes would fill the last ConfigMap, and the run could not be continued.
   */
  async function write(entries: readonly LedgerEntry[], assertOwned: AssertOwned = () => {}): Promise<void> {
    const assertAsked = (): ReturnType<AssertOwned> => {
      // A later write of the same entry has been asked for, and must not be overwritten.
      const outdated = entries.find((entry) => asked.get(entry.uid) !== entry)
      if (outdated) throw new Error(`the entry of ${outdated.pod} is written anew by now`)
      return assertOwned()
    }
    const fresh = (): LedgerEntry[] => entries.filter(({ uid }) => !chunkOf.has(uid))
    const grown = hasRoom(fresh())
      ? []
      : await inTurn(async () => {
          const now = fresh()
          if (hasRoom(now)) return []
          await grow(now, assertAsked)
          return now
        })
    // The chunk is noted before the write. A repeated call may find another last chunk.
    for (const { uid } of fresh()) chunkOf.set(uid, ledger.header.chunks - 1)
    const isWritten = new Set(grown)
    const rest = entries.filter((entry) => !isWritten.has(entry))
    for (const [chunk, own] of Map.groupBy(rest, ({ uid }) => chunkOf.get(uid)!))
      await setInAnyCase(chunk, Object.fromEntries(textsOf(own)), assertAsked)
    for (const entry of entries) {
      if (asked.get(entry.uid) !== entry) continue
      asked.delete(entry.uid)
      ledger.entries.set(entry.uid, entry)
    }
  }

  function hasRoom(entries: readonly LedgerEntry[]): boolean {
    if (entries.length === 0) return true
    const last = ledger.header.chunks - 1
    const texts = Array.from(chunkOf).flatMap(([uid, chunk]) =>
      chunk === last ? [[uid, standing().get(uid) ?? ''] as const] : [],
    )
    return entryChunks([...texts, ...textsOf(entries)]).length === 1
  }

  /** Adds ConfigMaps. The header is written last, as for a new ledger. */
  async function grow(entries: readonly LedgerEntry[], assertOwned: AssertOwned): Promise<void> {
    const { chunks } = ledger.header
    const more = entryChunks(textsOf(entries))
    const fence = fences[0] ?? run
    for (let index = more.length - 1; index >= 0; index--)
      await createNextPart({ run, chunk: chunks + index, fence, data: more[index]! }, options, assertOwned)
    await writeOver({ ...ledger.header, chunks: chunks + more.length }, assertOwned)
    more.forEach((data, index) => {
      fences[chunks + index] = fence
      for (const [uid, text] of Object.entries(data)) {
        standing().set(uid, text)
        chunkOf.set(uid, chunks + index)
      }
    })
  }

  async function conclude(
    { finished, told }: Parameters<LedgerStore['conclude']>[0],
    assertOwned: AssertOwned | undefined,
  ): Promise<void> {
    // The stored text is noted before the ledger in memory changes.
    standing()
    const { accounts = [], ...bare } = ledger.header
    const ended = (kept: unknown[]): LedgerHeader => ({
      ...bare,
      ...(finished && { finishedAt: finished.at }),
      ...(finished?.aborted && { aborted: storedAborted(finished.aborted) }),
      ...(finished?.part && { part: true }),
      ...(kept.length > 0 && { accounts: kept }),
    })
    const withProcess = ({ process }: Told): unknown[] =>
      process ? keptProcesses(accounts, { ...process, ...(withoutRoom.size > 0 && { withoutRoom: withoutRoom.size }) }) : accounts
    const whole = (): LedgerHeader => ended(told ? withProcess(told) : accounts)
    let concluded = ledger.header
    const headerOf = (make: () => LedgerHeader): Record<string, string> => {
      concluded = make()
      return { [HEADER_KEY]: writeHeader(concluded) }
    }
    /** The headers by their accounts of processes: with the new account, without it, and with none. */
    const headers = [whole, () => ended(told?.process ? countedAsLost(accounts) : accounts), () => ended([])]
    // An entry whose write is under way must not be overwritten with its accounts: that would open it again.
    const changed = told ? withClear(withAccounts(ledger, told.pods), told).filter(({ uid }) => !asked.has(uid)) : []
    const before = new Map(changed.map(({ uid }) => [uid, ledger.entries.get(uid)!]))
    const lacking = new Set(withoutRoom)
    try {
      for (let chunk = ledger.header.chunks - 1; chunk >= 0; chunk--) {
        const isHeaderDue = chunk === 0 && (finished !== undefined || told?.process !== undefined)
        const [least, ...lesser] = isHeaderDue ? headers.map((make) => () => headerOf(make)) : [() => ({})]
        const own = changed.filter(({ uid }) => chunkOf.get(uid) === chunk)
        const kept = new Set(fitting(own, { ...dataOf(chunk), ...least!() }))
        for (const entry of own) {
          if (kept.has(entry)) ledger.entries.set(entry.uid, entry)
          else if (told?.pods.has(entry.uid)) withoutRoom.add(entry.uid)
        }
        const values = { ...least!(), ...Object.fromEntries(Array.from(kept, (entry) => [entry.uid, writeEntry(entry)])) }
        await setAtLeast([() => values, least!, ...lesser], chunk, assertOwned)
      }
    } catch (error) {
      // The call may be repeated, and must not add the accounts twice.
      for (const entry of changed) {
        const { uid } = entry
        if (ledger.entries.get(uid) === entry) ledger.entries.set(uid, before.get(uid)!)
        if (!lacking.has(uid)) withoutRoom.delete(uid)
      }
      throw error
    }
    // The header in memory ends only once it is written, since the order to end the run is looked up by it.
    ledger.header = concluded
  }

  return {
    ledger,
    async begin(assertOwned) {
      try {
        await writeOver(ledger.header, assertOwned)
      } catch (error) {
        // The write is repeated. Its guard tests that there is no header yet.
        if (!(error instanceof KubeError) || error.kind !== 'ambiguous') throw error
        await writeOver(ledger.header, assertOwned)
      }
    },
    async put(given, assertOwned) {
      const before = ledger.entries.get(given.uid)
      // The accounts and the bound of an entry stay in each new version of it.
      const { accounts, voidBelow } = before ?? {}
      const entry = { ...(voidBelow && { voidBelow }), ...given, ...(accounts && { accounts }) }
      const { uid } = entry
      if (before && !asked.has(uid) && writeEntry(before) === writeEntry(entry)) return
      asked.set(uid, entry)
      await write([entry], assertOwned)
    },
    async add(given, assertOwned) {
      const entries = given.filter(({ uid }) => !ledger.entries.has(uid))
      for (const entry of entries) asked.set(entry.uid, entry)
      await write(entries, assertOwned)
    },
    async amend({ workloads, retired = [] }, assertOwned) {
      const header = { ...ledger.header, workloads, ...(retired.length === 0 ? {} : { retired }) }
      if (writeHeader(header) !== writeHeader(ledger.header)) await writeOver(header, assertOwned)
    },
    conclude: (ending, assertOwned) => inTurn(() => conclude(ending, assertOwned)),
  }
}

/** Reports whether the header's text has an end. The text may have been edited. */
function isHeaderOver(text: string | undefined): boolean {
  try {
    return text !== undefined && (JSON.parse(text) as Partial<LedgerHeader>).finishedAt !== undefined
  } catch {
    return false
  }
}
