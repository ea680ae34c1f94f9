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

/** For one write: somebody may edit it meanwhile. */
const MOST_REREADS = 3

/** The ledger of one run, as it is written by its owner alone. */
export interface LedgerStore {
  readonly ledger: Ledger
  /**
   * Adds or replaces one entry; nothing is written where it is the same. Rejects with a KubeError, and with what
   * `assertOwned` throws: it is asked before each write, also where that is sent again.
   */
  put(entry: LedgerEntry, assertOwned?: AssertOwned): Promise<void>
  /** Adds those that it does not have, in as few writes as may be. Rejects as `put` and `amend` do. */
  add(entries: readonly LedgerEntry[], assertOwned: AssertOwned): Promise<void>
  /**
   * Writes down what the templates had, and what is retired; nothing where the header says so already. Rejects with a KubeError, with a
   * RunError where somebody else has written the header since it was read, and with what `assertOwned` throws.
   */
  amend(change: { workloads: LedgerWorkload[]; retired?: RetiredPlace[] }, assertOwned: AssertOwned): Promise<void>
  /**
   * The end of a process: in one write for each ConfigMap, the header's last. `finished` where nothing is open any more,
   * with `aborted` where an order has ended the run, and `part` where one before it stays open. Rejects as `put` does; it
   * can be asked for again then, and nothing else can.
   */
  conclude(
    ending: { finished?: { at: string } & Pick<LedgerHeader, 'aborted' | 'part'>; told?: Told },
    assertOwned?: AssertOwned,
  ): Promise<void>
}

/** What a process tells of its part, for the report. */
export interface Told {
  /** Absent in the ledger of another run, whose pods it has looked after. */
  process?: ProcessAccount
  /** By uid. */
  pods: ReadonlyMap<string, PodAccount>
  /** Uids of pods for which nothing is drained now. */
  idle?: ReadonlySet<string>
  /** By uid. */
  voidBelow?: ReadonlyMap<string, Term>
}

/**
 * Writes a new ledger: the header last, so that one without a header means that nothing began. And in a write of its own, that tests
 * the fence. Found by trial: who made one had no answer, and gave up; it was made when the next run had come to its end, and counted as
 * the newest, with all that its pods were before that.
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

/** Goes on with a ledger that an earlier owner has written: a run, once it has fenced it. */
export function resumeLedger({ ledger, places }: PlacedLedger, options: LedgerOptions): LedgerStore {
  const fences = places.parts.map(({ fence }) => fence)
  return ledgerStore(ledger, { chunkOf: places.chunkOf, fences, isBegun: true }, options)
}

function textsOf(entries: readonly LedgerEntry[]): (readonly [string, string])[] {
  return entries.map((entry) => [entry.uid, writeEntry(entry)])
}

interface KnownPlaces {
  chunkOf: Map<string, number>
  /** By chunk. */
  fences: (string | undefined)[]
  /** The header is there. */
  isBegun: boolean
}

interface NewLedgerStore extends LedgerStore {
  /** Writes the header, once all else is there. Rejects as `amend` does. */
  begin(assertOwned: AssertOwned): Promise<void>
}

function ledgerStore(
  ledger: Ledger,
  { chunkOf, fences, isBegun }: KnownPlaces,
  { client, namespace }: LedgerOptions,
): NewLedgerStore {
  const { run } = ledger.header
  const options = { client, namespace }

  /** As it stands there: by key, where it is known to. Made at the first write: most ledgers are only read. */
  let written: Map<string, string> | undefined

  /** Of those that write how many ConfigMaps there are: two that found the last one full would both make the next. */
  let turn: Promise<unknown> = Promise.resolve()

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work)
    turn = done.catch(() => {})
    return done
  }

  /** By uid, the entry that is to be written last, until it is known to stand there: under way, or without a good answer. */
  const asked = new Map<string, LedgerEntry>()

  /** Uids of pods of which not all is kept that was told: the account of the process says of how many. */
  const withoutRoom = new Set<string>()

  function standing(): Map<string, string> {
    written ??= new Map([
      ...(isBegun ? [[HEADER_KEY, writeHeader(ledger.header)] as const] : []),
      ...Array.from(ledger.entries.values(), (entry) => [entry.uid, writeEntry(entry)] as const),
    ])
    return written
  }

  /**
   * Only over what is known to stand there. Found by simulation: the last write of an owner arrived when the next one had
   * long come to its end, and opened the ledger anew. And only by its owner, however long the write or the look before took: what
   * was throttled left when the run was over (seed 34524898), and who was stopped while it looked at what is left wrote when it
   * went on (harsh seed 4342710). And only where nobody has begun with it since it was sent: see fence-ledger.ts.
   */
  async function patch(chunk: number, values: Record<string, string>, assertOwned: AssertOwned): Promise<void> {
    const known = standing()
    const operations = [
      // For a key that is not there the API server compares with null: measured.
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
        // Somebody has deleted it. For pods that are gone it is the only record, and all of it is known here.
        const own = fence ?? run
        await createPart({ run, chunk, fence: own, data: { ...dataOf(chunk), ...values } }, options, assertOwned)
        fences[chunk] = own
        for (const [key, value] of Object.entries(values)) standing().set(key, value)
      } else if (error.status === 422 && tries < MOST_REREADS && (await isOtherwise(chunk, Object.keys(values), fence))) {
        // Found by reading: who had read a run before it came to its end would open it anew.
        const { [HEADER_KEY]: header } = values
        if (header !== undefined && !isHeaderOver(header) && isHeaderOver(standing().get(HEADER_KEY)))
          throw changedMeanwhile(error)
        return set(chunk, values, assertOwned, tries + 1)
      } else throw error
    }
  }

  /**
   * Reads what stands there: an earlier write of our own whose answer was lost, or somebody's edit; or the fence of who has another of
   * its workloads, beside which this owner goes on. `fence`: what the write was sent with, since another of this owner's may have seen
   * the new one by now.
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

  /** The report is not worth a run that stays open: what the API server refuses is asked for with less and less of it. */
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

  /** The other way round: where a ConfigMap is full of what the report wants, that makes room for what runs need. */
  async function setInAnyCase(chunk: number, values: Record<string, string>, assertOwned?: AssertOwned): Promise<void> {
    const known = standing()
    const before = Object.keys(values).map((key) => known.get(key))
    const fence = fences[chunk]
    try {
      await set(chunk, values, assertOwned)
    } catch (error) {
      // Found by simulation: one that was long on its way was refused since another had been made in its place, and that was taken
      // for a full ConfigMap: the report of a run that was over was given up for it.
      const isOutdated = fences[chunk] !== fence || Object.keys(values).some((key, index) => known.get(key) !== before[index])
      const told = [...ledger.entries.values()].filter(({ uid, accounts }) => accounts && chunkOf.get(uid) === chunk)
      if (!(error instanceof KubeError) || error.status !== 422 || isOutdated || told.length === 0) throw error
      const bare = Object.fromEntries(told.map((entry) => [entry.uid, writeEntry(withoutAccounts(entry))]))
      // Once: of these others one may have been written anew meanwhile, which is not to be written over.
      await set(chunk, { ...bare, ...values }, assertOwned, MOST_REREADS)
      for (const { uid } of told) {
        ledger.entries.set(uid, withoutAccounts(ledger.entries.get(uid)!))
        withoutRoom.add(uid)
      }
    }
  }

  /** For pods with nothing open. Found by trial: who had drained nothing, and was killed later, had a pod settled. */
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

  /** Only over the header that is known: the run may have come to its end since it was read, and would be open anew. */
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
      // Another fence alone.
      if (isOther && now === before && tries < MOST_REREADS) return writeOver(header, assertOwned, tries + 1)
      // An earlier write of the same whose answer was lost.
      if (!isOther || now !== text) throw changedMeanwhile(error)
    }
    ledger.header = header
  }

  function changedMeanwhile(cause: KubeError): RunError {
    return new RunError('conflict', { code: 'record-changed', run }, { cause })
  }

  /**
   * Those that stand in it where they stand; new ones all together, in the last ConfigMap, or in more of them where that has no
   * room. Found by reading: a run that had begun with few pods was gone on with for many, and each was put singly into the one that
   * it had, until that was full: then the run could not be gone on with any more.
   */
  async function write(entries: readonly LedgerEntry[], assertOwned: AssertOwned = () => {}): Promise<void> {
    const assertAsked = (): ReturnType<AssertOwned> => {
      // Found by reading: a pod that had lost its place was looked at anew, and the first look's entry was written over the second's.
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
    // Before it is written: the same may be asked for once more, when there is another that is the last.
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

  /** The header last, as of a new ledger. */
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
    // Before the ledger in memory is ahead of it.
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
    /** Of the accounts of processes: with the new one, without it, and none at all. */
    const headers = [whole, () => ended(told?.process ? countedAsLost(accounts) : accounts), () => ended([])]
    // Found by reading: a pod was being settled as the run was cut short, and what it told of it opened the entry anew.
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
      // It may be asked for again, and nothing is to be told twice then.
      for (const entry of changed) {
        const { uid } = entry
        if (ledger.entries.get(uid) === entry) ledger.entries.set(uid, before.get(uid)!)
        if (!lacking.has(uid)) withoutRoom.delete(uid)
      }
      throw error
    }
    // Only what is written has come to its end: whoever gave the order to end it is asked for by this.
    ledger.header = concluded
  }

  return {
    ledger,
    async begin(assertOwned) {
      try {
        await writeOver(ledger.header, assertOwned)
      } catch (error) {
        // Once more: it tests that there is none yet.
        if (!(error instanceof KubeError) || error.kind !== 'ambiguous') throw error
        await writeOver(ledger.header, assertOwned)
      }
    },
    async put(given, assertOwned) {
      const before = ledger.entries.get(given.uid)
      // What was told, and found, stays with it, whoever writes it anew.
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

/** By its text, which somebody may have edited. */
function isHeaderOver(text: string | undefined): boolean {
  try {
    return text !== undefined && (JSON.parse(text) as Partial<LedgerHeader>).finishedAt !== undefined
  } catch {
    return false
  }
}
